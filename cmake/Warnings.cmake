# SPDX-License-Identifier: Apache-2.0
# The warnings of all our targets; they are errors in the project's own builds.
option(FAIRLEAD_WERROR "Treat warnings as errors" OFF)

add_library(fairlead_warnings INTERFACE)
target_compile_features(fairlead_warnings INTERFACE cxx_std_20)
target_compile_options(
    fairlead_warnings
    INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wsign-conversion
)
if(FAIRLEAD_WERROR)
    target_compile_options(fairlead_warnings INTERFACE -Werror)
endif()
