# SPDX-License-Identifier: Apache-2.0
# Finds the libraries of the build on this system, or else their sources in a source archive, and
# names all missing ones at once.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(fairlead_missing "")
# Targets that the projects of MPIs wait for.
set(fairlead_third_party "")
set(third_party ${CMAKE_CURRENT_LIST_DIR}/../third_party)

find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch scotch-int32)
find_library(SCOTCH_LIBRARY NAMES scotch scotch-int32)
find_library(SCOTCHERR_LIBRARY NAMES scotcherr scotcherr-int32)
if(NOT SCOTCH_INCLUDE_DIR OR NOT SCOTCH_LIBRARY OR NOT SCOTCHERR_LIBRARY)
    if(EXISTS ${third_party}/scotch)
        include(cmake/Scotch.cmake)
    else()
        list(APPEND fairlead_missing "Scotch (Debian, Ubuntu: libscotch-dev)")
    endif()
endif()

find_path(
    FAIRLEAD_JSON_INCLUDE_DIR
    nlohmann/json.hpp
    PATHS ${third_party}/include
)
if(NOT FAIRLEAD_JSON_INCLUDE_DIR)
    list(
        APPEND fairlead_missing
        "nlohmann_json (Debian, Ubuntu: nlohmann-json3-dev)"
    )
endif()

find_path(ASIO_INCLUDE_DIR asio/awaitable.hpp PATHS ${third_party}/include)
if(NOT ASIO_INCLUDE_DIR)
    list(APPEND fairlead_missing "Asio (Debian, Ubuntu: libasio-dev)")
endif()

# Loaded when it is used; looked for here, so that its absence is reported before that.
find_library(SODIUM_LIBRARY NAMES sodium)
set(FAIRLEAD_SODIUM_ARCHIVE
    ""
    CACHE FILEPATH
    "libsodium.a of position-independent code that is linked in; empty: libsodium is loaded"
)
if(NOT SODIUM_LIBRARY AND NOT FAIRLEAD_SODIUM_ARCHIVE)
    if(EXISTS ${third_party}/libsodium)
        include(cmake/Sodium.cmake)
        list(APPEND fairlead_third_party sodium_from_sources)
    else()
        list(
            APPEND fairlead_missing
            "libsodium (Debian, Ubuntu: libsodium-dev)"
        )
    endif()
endif()

if(FAIRLEAD_MPI OR NOT DEFINED FAIRLEAD_MPI)
    include(cmake/MpiWrappers.cmake)
    if(NOT fairlead_mpicxx)
        list(
            APPEND fairlead_missing
            "an MPI with its C++ compiler wrapper mpicxx (Debian, Ubuntu: libopenmpi-dev or libmpich-dev)"
        )
    endif()
endif()

if(fairlead_missing)
    list(JOIN fairlead_missing "\n  - " fairlead_missing)
    message(
        FATAL_ERROR
        "Fairlead cannot be built, this is missing:\n  - ${fairlead_missing}"
    )
endif()
