# SPDX-License-Identifier: Apache-2.0
# Builds mpi/ once per MPI wrapper, each as a project of its own, and installs it into the package.
include(ExternalProject)

foreach(
    wrapper
    mpi
    version
    IN
    ZIP_LISTS fairlead_mpicxx fairlead_mpis fairlead_mpi_versions
)
    ExternalProject_Add(
        mpi-${mpi}
        SOURCE_DIR ${PROJECT_SOURCE_DIR}/mpi
        # By its version, since a set-up for another MPI behind the same wrapper does not fit.
        BINARY_DIR ${PROJECT_BINARY_DIR}/mpi-${version}
        INSTALL_DIR ${PROJECT_BINARY_DIR}/_mpi
        CMAKE_ARGS
            -DCMAKE_CXX_COMPILER=${wrapper}
            -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
            -DCMAKE_INSTALL_PREFIX=<INSTALL_DIR>
            -DFAIRLEAD_WERROR=${FAIRLEAD_WERROR}
            -DFAIRLEAD_JSON_INCLUDE_DIR=${FAIRLEAD_JSON_INCLUDE_DIR}
            -DFAIRLEAD_CORE_BUILD=${PROJECT_BINARY_DIR}/core
            -DFAIRLEAD_CORE_COMPILER=${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}
        DEPENDS
            fairlead_network
            fairlead_relay
            fairlead_cost
            fairlead_anneal
            fairlead_roles
            fairlead_collectives
        BUILD_ALWAYS TRUE
    )
    # One by one: builds for removed MPIs stay in the folder.
    install(
        DIRECTORY ${PROJECT_BINARY_DIR}/_mpi/${mpi}
        DESTINATION fairlead/_mpi
        USE_SOURCE_PERMISSIONS
    )
endforeach()

# The sources are installed too, so that `fairlead mpi add` can build them for another MPI later.
foreach(
    folder
    mpi
    core/base
    core/collectives
    core/include
    core/mapping
    core/network
    core/relay
    cmake
    examples
)
    install(
        DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
        DESTINATION fairlead/_mpi_src/${folder}
    )
endforeach()
# Headers only, so they travel too: that machine may not have them.
install(
    DIRECTORY ${FAIRLEAD_JSON_INCLUDE_DIR}/nlohmann
    DESTINATION fairlead/_mpi_src/third_party
    FILES_MATCHING
    PATTERN "*.hpp"
)
