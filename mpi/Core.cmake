# SPDX-License-Identifier: Apache-2.0
# The parts of core/ and relay/ that the MPI side links. They need no MPI, so the outer build's libraries
# are used if the wrapper calls the same compiler.
set(FAIRLEAD_CORE_BUILD "" CACHE PATH "Folder where they were built")
set(FAIRLEAD_CORE_COMPILER
    ""
    CACHE STRING
    "Identity and version of the compiler that built it"
)
set(FAIRLEAD_SODIUM_ARCHIVE "" CACHE FILEPATH "libsodium.a that is linked in")
if(NOT FAIRLEAD_SODIUM_ARCHIVE)
    # An installed package has it next to the sources, where it was linked in.
    set(installed_archive ${CMAKE_CURRENT_LIST_DIR}/../third_party/libsodium.a)
    if(EXISTS ${installed_archive})
        set(FAIRLEAD_SODIUM_ARCHIVE ${installed_archive})
    endif()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/CoreParts.cmake)

set(this_compiler ${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION})
if(FAIRLEAD_CORE_COMPILER STREQUAL this_compiler)
    foreach(part IN LISTS fairlead_core_parts)
        get_filename_component(name ${part} NAME)
        add_library(fairlead_${name} STATIC IMPORTED GLOBAL)
        set_target_properties(
            fairlead_${name}
            PROPERTIES
                IMPORTED_LOCATION
                    ${FAIRLEAD_CORE_BUILD}/${part}/libfairlead_${name}.a
                INTERFACE_INCLUDE_DIRECTORIES
                    ${CMAKE_CURRENT_LIST_DIR}/../core/include
        )
    endforeach()
    target_include_directories(
        fairlead_wire
        INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../relay
    )
    target_link_libraries(
        fairlead_wire
        INTERFACE ${CMAKE_DL_LIBS} ${FAIRLEAD_SODIUM_ARCHIVE}
    )
    target_link_libraries(fairlead_routing INTERFACE fairlead_wire)
    target_link_libraries(fairlead_endpoint INTERFACE fairlead_routing)
    target_link_libraries(fairlead_roles INTERFACE fairlead_anneal)
    target_link_libraries(fairlead_anneal INTERFACE fairlead_cost)
    target_link_libraries(fairlead_collectives INTERFACE fairlead_cost)
else()
    foreach(part IN LISTS fairlead_core_parts)
        get_filename_component(name ${part} NAME)
        add_subdirectory(../${part} core_${name} EXCLUDE_FROM_ALL)
    endforeach()
endif()
