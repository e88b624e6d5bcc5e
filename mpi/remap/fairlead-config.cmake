# SPDX-License-Identifier: Apache-2.0
# The target fairlead::fairlead: libfairlead with fairlead.h, for the MPI whose folder this is in.
# The program finds its MPI itself, by find_package(MPI) or by a compiler wrapper.
get_filename_component(
    fairlead_folder
    "${CMAKE_CURRENT_LIST_DIR}/../../.."
    ABSOLUTE
)
if(NOT TARGET fairlead::fairlead)
    add_library(fairlead::fairlead SHARED IMPORTED)
    set_target_properties(
        fairlead::fairlead
        PROPERTIES
            IMPORTED_LOCATION "${fairlead_folder}/lib/libfairlead.so"
            INTERFACE_INCLUDE_DIRECTORIES "${fairlead_folder}/include"
    )
endif()
unset(fairlead_folder)
