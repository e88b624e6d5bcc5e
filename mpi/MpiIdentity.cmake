# SPDX-License-Identifier: Apache-2.0
# Asks the compiler wrapper which MPI it belongs to, and installs the answer beside what is built.
# Sets FAIRLEAD_MPI_FAMILY (openmpi, mpich), FAIRLEAD_MPI_VERSION and FAIRLEAD_MPI_ID (family-major).
set(identity_source ${CMAKE_CURRENT_BINARY_DIR}/identity.cpp)
file(
    WRITE ${identity_source}
    "#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
fairlead_mpi openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
fairlead_mpi mpich MPICH_VERSION
#else
fairlead_mpi unknown 0
#endif
"
)
execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -E -P ${identity_source}
    OUTPUT_VARIABLE preprocessed
    ERROR_VARIABLE problem
    RESULT_VARIABLE failed
)
if(
    failed
    OR NOT preprocessed
        MATCHES
        "fairlead_mpi ([a-z]+) \"?([0-9]+)[. ]*([0-9]*)[. ]*([0-9]*)"
)
    message(
        FATAL_ERROR
        "${CMAKE_CXX_COMPILER} is not an MPI C++ compiler wrapper: ${problem}"
    )
endif()
set(FAIRLEAD_MPI_FAMILY ${CMAKE_MATCH_1})
set(FAIRLEAD_MPI_VERSION "${CMAKE_MATCH_2}.${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
set(FAIRLEAD_MPI_ID "${FAIRLEAD_MPI_FAMILY}-${CMAKE_MATCH_2}")
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
