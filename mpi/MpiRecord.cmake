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

# What is built with the package belongs to it; only `fairlead mpi add` builds what a later package may find.
set(FAIRLEAD_SOURCES_DIGEST
    ""
    CACHE STRING
    "Digest of the sources, kept in the record"
)
file(
    WRITE ${CMAKE_CURRENT_BINARY_DIR}/mpi.json
    "{\"abi\": \"${FAIRLEAD_MPI_ABI}\", \"family\": \"${FAIRLEAD_MPI_FAMILY}\", \"version\": \"${FAIRLEAD_MPI_VERSION}\", \"wrapper\": \"${CMAKE_CXX_COMPILER}\", \"sources_digest\": \"${FAIRLEAD_SOURCES_DIGEST}\"}\n"
)
install(
    FILES ${CMAKE_CURRENT_BINARY_DIR}/mpi.json
    DESTINATION ${FAIRLEAD_MPI_ABI}
)
