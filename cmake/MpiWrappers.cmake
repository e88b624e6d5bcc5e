# SPDX-License-Identifier: Apache-2.0
# Finds the MPIs to build for: their C++ wrappers in fairlead_mpicxx, interfaces in fairlead_mpis,
# family-version in fairlead_mpi_versions.
include(${CMAKE_CURRENT_LIST_DIR}/../mpi/MpiIdentity.cmake)

set(FAIRLEAD_MPICXX
    ""
    CACHE STRING
    "MPI C++ compiler wrappers to build for; empty: all that are found"
)

# The user's own MPI, first on PATH, comes before the distribution's of the same binary interface.
set(fairlead_candidates ${FAIRLEAD_MPICXX})
if(NOT fairlead_candidates)
    foreach(name mpicxx mpicxx.openmpi mpicxx.mpich)
        # Not cached: an MPI may be added or removed between two builds.
        find_program(found ${name} NO_CACHE)
        if(found)
            list(APPEND fairlead_candidates ${found})
        endif()
        unset(found)
    endforeach()
endif()

set(fairlead_mpicxx "")
set(fairlead_mpis "")
set(fairlead_mpi_versions "")
foreach(wrapper IN LISTS fairlead_candidates)
    fairlead_identify_mpi(${wrapper} ${CMAKE_CURRENT_BINARY_DIR})
    if(FAIRLEAD_MPI_PROBLEM AND FAIRLEAD_MPICXX)
        message(FATAL_ERROR "${FAIRLEAD_MPI_PROBLEM}")
    elseif(FAIRLEAD_MPI_PROBLEM)
        message(STATUS "Left out: ${FAIRLEAD_MPI_PROBLEM}")
    elseif(NOT FAIRLEAD_MPI_ABI IN_LIST fairlead_mpis)
        message(STATUS "MPI: ${wrapper} (${FAIRLEAD_MPI_ABI})")
        list(APPEND fairlead_mpicxx ${wrapper})
        list(APPEND fairlead_mpis ${FAIRLEAD_MPI_ABI})
        list(
            APPEND fairlead_mpi_versions
            ${FAIRLEAD_MPI_FAMILY}-${FAIRLEAD_MPI_VERSION}
        )
    endif()
endforeach()
