# SPDX-License-Identifier: Apache-2.0
# Asks a compiler wrapper which MPI it belongs to.

# Sets FAIRLEAD_MPI_FAMILY (openmpi, mpich, intel, smpi; standard: the interface of MPI 5 itself),
# FAIRLEAD_MPI_VERSION and FAIRLEAD_MPI_ABI, its binary interface: FAMILY-MAJOR, mpich-LIBRARY or
# standard-LIBRARY. FAIRLEAD_MPI_PROBLEM says why the wrapper cannot be used, and is empty where it
# can.
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
#elif defined(MPI_ABI_VERSION)
fairlead_mpi standard MPI_ABI_VERSION MPI_ABI_SUBVERSION
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
        fairlead_mpi_library(${wrapper} ${work_dir} libmpi.so.12 library)
        set(abi mpich-${library})
    elseif(family STREQUAL standard)
        fairlead_mpi_library(${wrapper} ${work_dir} libmpi_abi.so.1 library)
        set(abi standard-${library})
    endif()
    set(FAIRLEAD_MPI_PROBLEM "" PARENT_SCOPE)
    set(FAIRLEAD_MPI_FAMILY ${family} PARENT_SCOPE)
    set(FAIRLEAD_MPI_VERSION ${version} PARENT_SCOPE)
    set(FAIRLEAD_MPI_ABI ${abi} PARENT_SCOPE)
endfunction()

# Sets `result` to the name of the MPI library that programs built by the wrapper load: the same for
# MPICH, Intel MPI, MVAPICH and Cray MPICH of many versions, and another one for Debian's MPICH.
# `usual` is for a wrapper that links no program.
function(fairlead_mpi_library wrapper work_dir usual result)
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
            REGEX "^lib(mpi|mpich|mpi_abi)\\.so\\.[0-9]+$"
            LIMIT_COUNT 1
        )
    endif()
    if(NOT found)
        set(found ${usual})
    endif()
    set(${result} ${found} PARENT_SCOPE)
endfunction()
