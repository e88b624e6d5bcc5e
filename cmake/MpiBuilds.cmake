# SPDX-License-Identifier: Apache-2.0
# Builds mpi/ once per MPI wrapper, each as a project of its own, and installs it into the package.
include(ExternalProject)

foreach(wrapper IN LISTS fairlead_mpicxx)
    get_filename_component(wrapper_name ${wrapper} NAME)
    ExternalProject_Add(
        mpi-${wrapper_name}
        SOURCE_DIR ${PROJECT_SOURCE_DIR}/mpi
        BINARY_DIR ${PROJECT_BINARY_DIR}/mpi-${wrapper_name}
        INSTALL_DIR ${PROJECT_BINARY_DIR}/_mpi
        CMAKE_ARGS
            -DCMAKE_CXX_COMPILER=${wrapper}
            -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
            -DCMAKE_INSTALL_PREFIX=<INSTALL_DIR>
            -DFAIRLEAD_WERROR=${FAIRLEAD_WERROR}
            -DFAIRLEAD_CORE_BUILD=${PROJECT_BINARY_DIR}/core
            -DFAIRLEAD_CORE_COMPILER=${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}
        DEPENDS fairlead_network fairlead_optimize fairlead_roles
        BUILD_ALWAYS TRUE
    )
endforeach()

install(
    DIRECTORY ${PROJECT_BINARY_DIR}/_mpi
    DESTINATION fairlead
    USE_SOURCE_PERMISSIONS
)
# The sources travel along, so that `fairlead mpi add` can build them for another MPI later.
foreach(
    folder
    mpi
    core/include
    core/mapping
    core/network
    core/roles
    cmake
    examples
)
    install(
        DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
        DESTINATION fairlead/_mpi_src/${folder}
    )
endforeach()
