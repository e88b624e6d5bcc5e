# SPDX-License-Identifier: Apache-2.0
# Scotch from the sources in third_party/, which a source archive has (packaging/build-sdist).
find_package(Threads REQUIRED)

set(scotch_sources ${PROJECT_SOURCE_DIR}/third_party/scotch)
set(SCOTCH_INCLUDE_DIR ${PROJECT_BINARY_DIR}/third_party/scotch)
file(STRINGS ${scotch_sources}/VERSION scotch_version)
string(REPLACE "." ";" scotch_version ${scotch_version})
list(GET scotch_version 0 scotch_major)
list(GET scotch_version 1 scotch_minor)
list(GET scotch_version 2 scotch_patch)
set(scotch_definitions
    SCOTCH_VERSION_NUM=${scotch_major}
    SCOTCH_RELEASE_NUM=${scotch_minor}
    SCOTCH_PATCHLEVEL_NUM=${scotch_patch}
    COMMON_PTHREAD
    SCOTCH_PTHREAD
)

# Its public header has the sizes of its types, which this program writes.
add_executable(scotch_sizes ${scotch_sources}/dummysizes.c)
target_compile_definitions(scotch_sizes PRIVATE ${scotch_definitions})
target_link_libraries(scotch_sizes PRIVATE Threads::Threads)
file(MAKE_DIRECTORY ${SCOTCH_INCLUDE_DIR})
add_custom_command(
    OUTPUT ${SCOTCH_INCLUDE_DIR}/scotch.h
    COMMAND
        scotch_sizes ${scotch_sources}/library.h ${SCOTCH_INCLUDE_DIR}/scotch.h
    DEPENDS ${scotch_sources}/library.h
)

file(STRINGS ${scotch_sources}/SOURCES scotch_files)
list(TRANSFORM scotch_files PREPEND ${scotch_sources}/)
add_library(
    scotch_from_sources
    STATIC
    ${scotch_files}
    ${SCOTCH_INCLUDE_DIR}/scotch.h
)
set_target_properties(
    scotch_from_sources
    PROPERTIES
        UNITY_BUILD OFF # Its files have static functions of the same names.
        C_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON
)
target_compile_definitions(scotch_from_sources PRIVATE ${scotch_definitions})
target_compile_options(scotch_from_sources PRIVATE -w)
target_include_directories(scotch_from_sources PRIVATE ${SCOTCH_INCLUDE_DIR})
target_link_libraries(scotch_from_sources PRIVATE Threads::Threads m)

set(SCOTCH_LIBRARY scotch_from_sources)
set(SCOTCHERR_LIBRARY "")
