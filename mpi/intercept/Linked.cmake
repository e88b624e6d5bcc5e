# SPDX-License-Identifier: Apache-2.0
# The object for programs that are linked with it, as SMPI needs: it loads a copy of the program for
# each rank, whose calls do not find a library that is loaded next to it. One file, so that it is
# taken whole: fairlead_intercept.o.
add_library(
    fairlead_intercept_linked
    STATIC
    ${fairlead_intercept_sources}
    session/linked_agreement.cpp
)
target_include_directories(
    fairlead_intercept_linked
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
)
target_link_libraries(
    fairlead_intercept_linked
    PRIVATE
        fairlead_collectives
        fairlead_executors
        fairlead_json
        fairlead_roles
        fairlead_warnings
        Threads::Threads
)
target_compile_definitions(fairlead_intercept_linked PRIVATE FAIRLEAD_LINKED=1)
set(object ${CMAKE_CURRENT_BINARY_DIR}/fairlead_intercept.o)
add_custom_command(
    OUTPUT ${object}
    COMMAND
        ${CMAKE_LINKER} -r -o ${object} --whole-archive
        $<TARGET_FILE:fairlead_intercept_linked> --no-whole-archive
        $<TARGET_FILE:fairlead_executors> $<TARGET_FILE:fairlead_collectives>
        $<TARGET_FILE:fairlead_json> $<TARGET_FILE:fairlead_roles>
        $<TARGET_FILE:fairlead_anneal> $<TARGET_FILE:fairlead_cost>
    DEPENDS fairlead_intercept_linked
    VERBATIM
)
add_custom_target(fairlead_intercept_object ALL DEPENDS ${object})
install(FILES ${object} DESTINATION ${FAIRLEAD_MPI_ABI}/lib)
