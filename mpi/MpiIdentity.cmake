# SPDX-License-Identifier: Apache-2.0
# Asks a compiler wrapper which MPI it belongs to.

# Sets FAIRLEAD_MPI_FAMILY (openmpi, mpich, intel, smpi), FAIRLEAD_MPI_VERSION and FAIRLEAD_MPI_ABI,
# its binary interface: FAMILY-MAJOR, or mpich-LIBRARY. FAIRLEAD_MPI_PROBLEM says why the wrapper
# cannot be used, and is empty where it can.
function(fairlead_identify_mpi wrapper work_dir)
    set(source ${work_dir}/identity.cpp)
    file(
        WRITE ${source}
        "#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
fairlead_mpi openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
#elif defined(I_MPI_VERSION)
fairlead_mpi intel I_MPI_VERSION
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
    set(family ${CMAKE_MATCH_1})
    set(major ${CMAKE_MATCH_2})
    set(version "${CMAKE_MATCH_2}.${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
    set(abi ${family}-${major})
    if(family STREQUAL mpich OR family STREQUAL intel)
        fairlead_mpich_library(${wrapper} ${work_dir} library)
        set(abi mpich-${library})
    endif()
    set(FAIRLEAD_MPI_PROBLEM "" PARENT_SCOPE)
    set(FAIRLEAD_MPI_FAMILY ${family} PARENT_SCOPE)
    set(FAIRLEAD_MPI_VERSION ${version} PARENT_SCOPE)
    set(FAIRLEAD_MPI_ABI ${abi} PARENT_SCOPE)
endfunction()

# Sets `result` to the name of the MPI library that programs built by the wrapper load: the same for
# MPICH, Intel MPI, MVAPICH and Cray MPICH of many versions, and another one for Debian's MPICH.
function(fairlead_mpich_library wrapper work_dir result)
    set(source ${work_dir}/library.cpp)
    set(program ${work_dir}/library)
    file(
        WRITE ${source}
        "#include <mpi.h>\nint main() { return MPI_Finalize(); }\n"
    )
    file(REMOVE ${program})
    execute_process(
        COMMAND ${wrapper} -o ${program} ${source}
        OUTPUT_QUIET
        ERROR_QUIET
    )
    set(found "")
    if(EXISTS ${program})
        file(
            STRINGS ${program}
            found
            REGEX "^lib(mpi|mpich)\\.so\\.[0-9]+$"
            LIMIT_COUNT 1
        )
    endif()
    if(NOT found)
        set(found libmpi.so.12)
    endif()
    set(${result} ${found} PARENT_SCOPE)
endfunction()
