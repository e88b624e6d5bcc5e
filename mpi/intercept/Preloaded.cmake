# SPDX-License-Identifier: Apache-2.0
# The preload library. It is loaded into every process the launcher starts, shells included, so it
# needs no MPI library and no C++ library, and shows nothing but the calls of its table. It shares
# the program's unwinder: with one of its own, an exception or the end of a thread that passes its
# frames would end the program.
add_library(
    fairlead_intercept
    SHARED
    ${fairlead_intercept_sources}
    pmpi/symbol_lookup.cpp
    relay/completion.cpp
    relay/exchanges.cpp
    relay/receive_buffer.cpp
    relay/match_question.cpp
    relay/peers.cpp
    relay/probes.cpp
    relay/receives.cpp
    relay/relay.cpp
    relay/relay_plan.cpp
    relay/relay_traffic.cpp
    relay/sends.cpp
    relay/waits.cpp
    session/agreement.cpp
    session/ending_signals.cpp
    session/missing_trace.cpp
)
target_include_directories(
    fairlead_intercept
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
)
target_link_libraries(
    fairlead_intercept
    PRIVATE
        fairlead_collectives
        fairlead_executors
        fairlead_json
        fairlead_endpoint
        fairlead_roles
        fairlead_warnings
        Threads::Threads
        ${CMAKE_DL_LIBS}
)
# A preloaded library has a place in the static block of each thread; no lookup is needed.
target_compile_options(fairlead_intercept PRIVATE -ftls-model=initial-exec)
# The compiler wrapper adds its MPI; --as-needed drops it, as nothing refers to it.
target_link_options(
    fairlead_intercept
    PRIVATE
        LINKER:--as-needed
        LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map
        LINKER:--no-undefined
        -static-libstdc++
        -shared-libgcc
)
set_target_properties(
    fairlead_intercept
    PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map
)
install(TARGETS fairlead_intercept LIBRARY DESTINATION ${FAIRLEAD_MPI_ABI}/lib)
