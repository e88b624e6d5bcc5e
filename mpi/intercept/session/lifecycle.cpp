// SPDX-License-Identifier: Apache-2.0
// MPI_Init, MPI_Init_thread and MPI_Finalize: where tracing and reordering begin and end. None has
// a handle among its parameters, so unlike the others they need no entry (entries.cpp).
#include <chrono>
#include <cstdio>
#include <string>

#include "entries.hpp"
#include "pmpi/cancellation.hpp"
#include "pmpi/export.hpp"
#include "reorder/reorder.hpp"
#include "session/agreement.hpp"
#include "trace/recorder.hpp"
#include "trace/report.hpp"

namespace fairlead::intercept {
namespace {

using Clock = std::chrono::steady_clock;

struct Session {
  std::string path;
  MPI_Comm comm{};
  int rank = 0;
  int num_ranks = 0;
  Clock::time_point start;
};

Session& session() {
  static Session* const instance = new Session;
  return *instance;
}

void complain(const char* feature, const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: %s is switched off: %s\n", feature, problem);
}

void say_another_mpi(Features lost) noexcept {
#if defined(OPEN_MPI)
  const char* const problem =
      "this program is not linked with Open MPI, whose launcher started it; to have it traced, use "
      "the launcher of its own MPI";
#else
  const char* const problem =
      "this program is not linked with MPICH, whose launcher started it; to have it traced, use "
      "the launcher of its own MPI";
#endif
  say_switched_off(lost, problem);
}

// Processes started by MPI_Comm_spawn have a world of their own, which is not the traced one.
bool is_spawned() {
  MPI_Comm parent{};
  mpi().Comm_get_parent(&parent);
  return parent != comm_null();
}

void begin_tracing(const char* path) {
  session().path = path;
  mpi().Comm_dup(comm_world(), &session().comm);
  // A program that survives the loss of a rank is not ended by what we send in MPI_Finalize.
  mpi().Comm_set_errhandler(session().comm, errors_return());
  mpi().Comm_rank(comm_world(), &session().rank);
  mpi().Comm_size(comm_world(), &session().num_ranks);
  prepare_records(static_cast<std::size_t>(session().num_ranks));
  session().start = Clock::now();
  recording.store(true, std::memory_order_release);
}

void begin() noexcept try {
  const NoCancellation no_cancellation;
  const char* const trace_file = variable(kTraceVariable);
  const char* const plan_folder = variable(kPlanVariable);
  const Features asked{trace_file != nullptr, plan_folder != nullptr};
  if (!bind_mpi()) {
    bypass_wrappers();
    say_another_mpi(asked);
    return;
  }
  if (is_recording() || is_reordering() || is_spawned()) return;
  const Features agreed = agree(asked);
  if (agreed.plan) begin_reordering(plan_folder);
  if (agreed.trace) begin_tracing(trace_file);
  if (!agreed.are_none()) end_agreement();
} catch (const std::exception& error) {
  complain("tracing", error.what());
}

// A rank that had trouble on the way takes part all the same, without lines of its own: the file
// is then refused by its reader.
std::string own_lines(bool was_recording, double run_time_s) noexcept try {
  if (!was_recording) return {};
  const auto num_ranks = static_cast<std::size_t>(session().num_ranks);
  return lines_of_rank(session().rank, run_time_s, sum_of_records(num_ranks));
} catch (const std::exception& error) {
  complain("tracing", error.what());
  return {};
}

void end() noexcept try {
  if (session().num_ranks == 0) return;
  const NoCancellation no_cancellation;
  const bool was_recording = recording.exchange(false);
  const std::chrono::duration<double> run_time = Clock::now() - session().start;
  write_trace(session().comm, session().path, own_lines(was_recording, run_time.count()));
  mpi().Comm_free(&session().comm);
  session().num_ranks = 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fairlead: the trace is lost: %s\n", error.what());
}

}  // namespace

FAIRLEAD_EXPORT(Init, (int* argc, char*** argv)) {
  static const auto original = reinterpret_cast<decltype(&PMPI_Init)>(require_symbol("PMPI_Init"));
  const int code = original(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

FAIRLEAD_EXPORT(Init_thread, (int* argc, char*** argv, int required, int* provided)) {
  static const auto original =
      reinterpret_cast<decltype(&PMPI_Init_thread)>(require_symbol("PMPI_Init_thread"));
  const int code = original(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

FAIRLEAD_EXPORT(Finalize, ()) {
  static const auto original =
      reinterpret_cast<decltype(&PMPI_Finalize)>(require_symbol("PMPI_Finalize"));
  end_reordering();
  end();
  return original();
}

}  // namespace fairlead::intercept
