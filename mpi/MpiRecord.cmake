# SPDX-License-Identifier: Apache-2.0
# Installs a record of the MPI that this build is for.
fairlead_identify_mpi(${CMAKE_CXX_COMPILER} ${CMAKE_CURRENT_BINARY_DIR})
if(FAIRLEAD_MPI_PROBLEM)
    message(FATAL_ERROR "${FAIRLEAD_MPI_PROBLEM}")
endif()
message(
    STATUS
    "Fairlead's MPI side for ${FAIRLEAD_MPI_FAMILY} ${FAIRLEAD_MPI_VERSION}"
)

file(
    WRITE ${CMAKE_CURRENT_BINARY_DIR}/mpi.json
    "{\"family\": \"${FAIRLEAD_MPI_FAMILY}\", \"version\": \"${FAIRLEAD_MPI_VERSION}\", \"wrapper\": \"${CMAKE_CXX_COMPILER}\"}\n"
)
install(
    FILES ${CMAKE_CURRENT_BINARY_DIR}/mpi.json
    DESTINATION ${FAIRLEAD_MPI_ID}
)
