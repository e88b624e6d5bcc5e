# SPDX-License-Identifier: Apache-2.0
# Builds mpi/ once per MPI wrapper, and installs it into the package.
include(${CMAKE_CURRENT_LIST_DIR}/MpiProject.cmake)

foreach(
    wrapper
    mpi
    version
    IN
    ZIP_LISTS fairlead_mpicxx fairlead_mpis fairlead_mpi_versions
)
    add_mpi_project(mpi-${mpi} ${wrapper} ${version})
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
    relay/endpoint
    relay/routing
    relay/wire
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
# An archive that is linked in travels for the same reason.
if(FAIRLEAD_SODIUM_ARCHIVE)
    install(
        FILES ${FAIRLEAD_SODIUM_ARCHIVE}
        DESTINATION fairlead/_mpi_src/third_party
        RENAME libsodium.a
    )
endif()
