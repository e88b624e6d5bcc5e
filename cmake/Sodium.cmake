# SPDX-License-Identifier: Apache-2.0
# libsodium from the sources in third_party/, which a source archive has (packaging/build-sdist).
set(sodium_sources ${PROJECT_SOURCE_DIR}/third_party/libsodium)
file(GLOB_RECURSE sodium_files ${sodium_sources}/*.c)
add_library(sodium_from_sources STATIC ${sodium_files})
set_target_properties(
    sodium_from_sources
    PROPERTIES
        UNITY_BUILD OFF # Its files have static functions of the same names.
        C_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/third_party
        OUTPUT_NAME sodium
)
# SODIUM_STATIC hides its functions from the programs that load ours.
target_compile_definitions(
    sodium_from_sources
    PUBLIC SODIUM_STATIC
    PRIVATE
        CONFIGURED=1
        HAVE_ATOMIC_OPS=1
        HAVE_GETPID=1
        HAVE_INLINE_ASM=1
        HAVE_PTHREAD=1
)
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
    target_compile_definitions(sodium_from_sources PRIVATE HAVE_TI_MODE=1)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    # Chosen at run time by what the processor has.
    target_compile_definitions(
        sodium_from_sources
        PRIVATE
            HAVE_CPUID=1
            HAVE_MMINTRIN_H=1
            HAVE_EMMINTRIN_H=1
            HAVE_PMMINTRIN_H=1
            HAVE_TMMINTRIN_H=1
            HAVE_SMMINTRIN_H=1
            HAVE_AVXINTRIN_H=1
            HAVE_AVX2INTRIN_H=1
    )
endif()
target_compile_options(sodium_from_sources PRIVATE -w)
target_include_directories(
    sodium_from_sources
    PRIVATE ${sodium_sources}/include/sodium
    PUBLIC ${sodium_sources}/include
)
# A path, as the MPI side is built as projects of its own.
set(FAIRLEAD_SODIUM_ARCHIVE ${PROJECT_BINARY_DIR}/third_party/libsodium.a)
