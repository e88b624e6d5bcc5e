// SPDX-License-Identifier: Apache-2.0
// At the end of the process the last share of the trace is written, if MPI_Finalize has not come.
// Where there are no shares, one line names the reason, if the calls of the program show it. A
// process that has nothing to do with MPI, as a shell, is none that could leave a trace.
#include "session/missing_trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "pmpi/mpi_symbols.hpp"
#include "pmpi/symbol_lookup.hpp"
#include "session/features.hpp"
#include "trace/shares.hpp"

namespace fairlead::intercept {
namespace {

constinit bool has_begun = false;
constinit bool has_ended = false;
// A child that the program forked ends without MPI_Finalize, and that is right.
constinit pid_t traced_process = 0;

// One line is enough for all ranks. These variables are those of the launchers of Open MPI, of PMIx
// and of MPICH.
bool is_first_rank() noexcept {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* const rank = variable(name)) return std::string_view(rank) == "0";
  }
  return true;
}

// May be asked at any time (MPI 4.0, section 11.4.1), and of either MPI.
bool is_mpi_initialised() noexcept {
  int is_initialised = 0;
  using Question = int (*)(int*);
  const auto ask = reinterpret_cast<Question>(find_symbol("PMPI_Initialized"));
  return ask != nullptr && ask(&is_initialised) == MPI_SUCCESS && is_initialised != 0;
}

// Null where nothing is known.
const char* reason() noexcept {
  if (has_begun) {
    return traced_process == getpid() && !has_ended ? "the program ended without MPI_Finalize"
                                                    : nullptr;
  }
  if (is_mpi_initialised()) {
    return "the program calls functions of an MPI library that it has loaded by dlopen(), which is "
           "not seen";
  }
  if (is_mpi_bound()) {
    return "the program uses MPI sessions without MPI_Init, which are not traced";
  }
  return nullptr;
}

bool is_trace_asked_for() noexcept {
  return variable(kTraceVariable) != nullptr || variable(kSharesVariable) != nullptr;
}

[[gnu::destructor]] void end_trace() noexcept {
  if (are_shares_written()) {
    write_last_share(Occasion::exit);
    return;
  }
  if (!is_trace_asked_for() || !is_first_rank()) return;
  if (const char* const found = reason()) {
    std::fprintf(stderr, "fairlead: no trace was written: %s\n", found);
  }
}

}  // namespace

void note_begin(bool is_traced) noexcept {
  has_begun = true;
  if (is_traced) traced_process = getpid();
}

void note_end() noexcept {
  has_ended = true;
}

}  // namespace fairlead::intercept
