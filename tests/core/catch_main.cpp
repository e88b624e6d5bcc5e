// SPDX-License-Identifier: Apache-2.0
// The main function of Catch2 2; generation 3 brings its own.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
