# SPDX-License-Identifier: Apache-2.0
# Builds mpi/ for one MPI as a project of its own, with the libraries of core/ and relay/ that it links.
include(ExternalProject)
include(${CMAKE_CURRENT_LIST_DIR}/CoreParts.cmake)
list(
    TRANSFORM fairlead_core_parts
    REPLACE "^(.*/)?([^/]+)$" "fairlead_\\2"
    OUTPUT_VARIABLE fairlead_core_libraries
)

# add_mpi_project(NAME WRAPPER VERSION): by the compiler wrapper of the MPI; installed into the
# folder _mpi of the build.
function(add_mpi_project name wrapper version)
    # In a folder by version and wrapper: another MPI may come behind the same wrapper, and where a
    # wrapper gets another name, CMake forgets the folder's settings, the place to install to first.
    string(SHA256 digest ${wrapper})
    string(SUBSTRING ${digest} 0 8 digest)
    ExternalProject_Add(
        ${name}
        SOURCE_DIR ${PROJECT_SOURCE_DIR}/mpi
        BINARY_DIR ${PROJECT_BINARY_DIR}/mpi-${version}-${digest}
        INSTALL_DIR ${PROJECT_BINARY_DIR}/_mpi
        CMAKE_ARGS
            -DCMAKE_CXX_COMPILER=${wrapper}
            -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
            -DCMAKE_INSTALL_PREFIX=<INSTALL_DIR>
            -DFAIRLEAD_WERROR=${FAIRLEAD_WERROR}
            -DFAIRLEAD_JSON_INCLUDE_DIR=${FAIRLEAD_JSON_INCLUDE_DIR}
            -DFAIRLEAD_SODIUM_ARCHIVE=${FAIRLEAD_SODIUM_ARCHIVE}
            -DFAIRLEAD_CORE_BUILD=${PROJECT_BINARY_DIR}
            -DFAIRLEAD_CORE_COMPILER=${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}
        DEPENDS ${fairlead_core_libraries} ${fairlead_third_party}
        BUILD_ALWAYS TRUE
    )
endfunction()
