// SPDX-License-Identifier: Apache-2.0
// MPI_Init, MPI_Init_thread and MPI_Finalize: where tracing and reordering begin and end.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "export.hpp"
#include "recorder.hpp"
#include "reorder.hpp"
#include "report.hpp"

namespace fairlead::intercept {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kTraceVariable = "FAIRLEAD_TRACE";
constexpr const char* kPlanVariable = "FAIRLEAD_PLAN";
// Ranks start within seconds of one another; one that was not given the library never answers.
constexpr std::chrono::seconds kAgreementLimit{60};

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

// The handles of another MPI have other sizes: no wrapper could pass them on.
void require_same_mpi() {
  if (bind_mpi()) return;
#if defined(OPEN_MPI)
  const char* const expected = "Open MPI";
#else
  const char* const expected = "MPICH";
#endif
  std::fprintf(stderr,
               "fairlead: this program is not linked with %s, whose launcher started it; "
               "use the launcher of the program's own MPI\n",
               expected);
  std::_Exit(EXIT_FAILURE);
}

// Processes started by MPI_Comm_spawn have a world of their own, which is not the traced one.
bool is_spawned() {
  MPI_Comm parent{};
  mpi().Comm_get_parent(&parent);
  return parent != comm_null();
}

// A rank without this library would leave the others waiting in every collective of ours, so the
// first one has a time limit.
bool all_ranks_are_here() {
  MPI_Request request{};
  mpi().Ibarrier(comm_world(), &request);
  const Clock::time_point limit = Clock::now() + kAgreementLimit;
  int is_complete = 0;
  while (is_complete == 0 && Clock::now() < limit) {
    mpi().Test(&request, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete == 0) sched_yield();
  }
  return is_complete != 0;
}

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// What to begin: the variables say so, and on every rank.
struct Wishes {
  const char* trace_file = variable(kTraceVariable);
  const char* plan_folder = variable(kPlanVariable);

  bool are_none() const { return trace_file == nullptr && plan_folder == nullptr; }
};

// A feature begins by collectives, so it begins on all ranks or on none.
Wishes shared_by_all(Wishes own) {
  int num_ranks = 0;
  mpi().Comm_size(comm_world(), &num_ranks);
  struct Flags {
    bool trace;
    bool plan;
  };
  const Flags flags{own.trace_file != nullptr, own.plan_folder != nullptr};
  std::vector<Flags> all(static_cast<std::size_t>(num_ranks));
  mpi().Allgather(&flags, sizeof flags, byte_type(), all.data(), sizeof flags, byte_type(),
                  comm_world());
  if (!std::all_of(all.begin(), all.end(), [](Flags rank) { return rank.trace; })) {
    if (flags.trace) complain("tracing", "some ranks run without FAIRLEAD_TRACE");
    own.trace_file = nullptr;
  }
  if (!std::all_of(all.begin(), all.end(), [](Flags rank) { return rank.plan; })) {
    if (flags.plan) complain("reordering", "some ranks run without FAIRLEAD_PLAN");
    own.plan_folder = nullptr;
  }
  return own;
}

void begin_tracing(const char* path) {
  session().path = path;
  mpi().Comm_dup(comm_world(), &session().comm);
  mpi().Comm_rank(comm_world(), &session().rank);
  mpi().Comm_size(comm_world(), &session().num_ranks);
  prepare_records(static_cast<std::size_t>(session().num_ranks));
  session().start = Clock::now();
  recording.store(true, std::memory_order_release);
}

void begin() noexcept try {
  const Scope scope;
  require_same_mpi();
  Wishes wishes;
  if (wishes.are_none() || is_recording() || is_reordering() || is_spawned()) return;
  if (!all_ranks_are_here()) {
    complain(wishes.trace_file != nullptr ? "tracing" : "reordering",
             "some ranks run without Fairlead's library");
    return;
  }
  wishes = shared_by_all(wishes);
  if (wishes.plan_folder != nullptr) begin_reordering(wishes.plan_folder);
  if (wishes.trace_file != nullptr) begin_tracing(wishes.trace_file);
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
  const Scope scope;
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
