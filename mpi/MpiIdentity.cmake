# SPDX-License-Identifier: Apache-2.0
# Asks a compiler wrapper which MPI it belongs to.

# Sets FAIRLEAD_MPI_FAMILY (openmpi, mpich, smpi), FAIRLEAD_MPI_VERSION and FAIRLEAD_MPI_ID
# (family-major); FAIRLEAD_MPI_PROBLEM says why the wrapper cannot be used, and is empty where it can.
function(fairlead_identify_mpi wrapper work_dir)
    set(source ${work_dir}/identity.cpp)
    file(
        WRITE ${source}
        "#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
fairlead_mpi openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
fairlead_mpi mpich MPICH_VERSION
#elif defined(SMPI_H)
#include <simgrid/version.h>
fairlead_mpi smpi SIMGRID_VERSION_MAJOR SIMGRID_VERSION_MINOR SIMGRID_VERSION_PATCH
#else
fairlead_mpi unknown 0
#endif
"
    )
    execute_process(
        COMMAND ${wrapper} -E -P ${source}
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
        set(FAIRLEAD_MPI_PROBLEM
            "${wrapper} is not an MPI C++ compiler wrapper: ${problem}"
            PARENT_SCOPE
        )
        return()
    endif()
    if(CMAKE_MATCH_1 STREQUAL unknown)
        set(FAIRLEAD_MPI_PROBLEM
            "${wrapper} belongs to neither Open MPI nor MPICH nor SMPI"
            PARENT_SCOPE
        )
        return()
    endif()
    set(FAIRLEAD_MPI_PROBLEM "" PARENT_SCOPE)
    set(FAIRLEAD_MPI_FAMILY ${CMAKE_MATCH_1} PARENT_SCOPE)
    set(FAIRLEAD_MPI_VERSION
        "${CMAKE_MATCH_2}.${CMAKE_MATCH_3}.${CMAKE_MATCH_4}"
        PARENT_SCOPE
    )
    set(FAIRLEAD_MPI_ID "${CMAKE_MATCH_1}-${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()
