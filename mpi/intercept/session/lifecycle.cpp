// SPDX-License-Identifier: Apache-2.0
// MPI_Init, MPI_Init_thread and MPI_Finalize: where tracing and features begin and end. None has
// a handle among its parameters, so unlike the others they need no entry (entries.cpp).
#include <cstdio>
#include <optional>
#include <string>

#include "entries.hpp"
#include "fairlead/node_name.hpp"
#include "pmpi/argument_check.hpp"
#include "pmpi/cancellation.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/export.hpp"
#include "pmpi/simulated.hpp"
#include "session/agreement.hpp"
#include "session/ending_signals.hpp"
#include "session/feature.hpp"
#include "session/missing_trace.hpp"
#include "table/handlers.hpp"
#include "trace/call_time.hpp"
#include "trace/recorder.hpp"
#include "trace/report.hpp"
#include "trace/shares.hpp"

namespace fairlead::intercept {
namespace {

struct World {
  int rank = 0;
  int num_ranks = 0;
};

// What belongs to a traced program; without a file if its ranks do not gather the trace.
struct Tracing {
  std::string file;
  MPI_Comm comm{};
  World world;
  double start_s = 0.0;
};

Tracing& tracing() {
  static Tracing* const instance = new Tracing;
  return *instance;
}

World world() {
  World found;
  mpi().Comm_rank(comm_world(), &found.rank);
  mpi().Comm_size(comm_world(), &found.num_ranks);
  return found;
}

void complain(const char* feature, const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: %s is switched off: %s\n", feature, problem);
}

void say_another_mpi(Features lost) noexcept {
#if defined(OPEN_MPI)
  const char* const problem =
      "this program is not linked with Open MPI, whose launcher started it; to have it traced, use "
      "the launcher of its own MPI";
#elif FAIRLEAD_STANDARD_ABI
  const char* const problem =
      "this process is not linked with libmpi_abi, as the program that was started is";
#else
  const char* const problem =
      "this program is not linked with MPICH, whose launcher started it; to have it traced, use "
      "the launcher of its own MPI";
#endif
  say_switched_off(lost, problem);
}

// Processes started by MPI_Comm_spawn have a world of their own, which is not the traced one.
bool is_spawned() {
  if constexpr (kIsSimulated) return false;
  MPI_Comm parent{};
  mpi().Comm_get_parent(&parent);
  return parent != comm_null();
}

void prepare_gathering(const char* file) {
  tracing().file = file;
  mpi().Comm_dup(comm_world(), &tracing().comm);
  // Our messages in MPI_Finalize must not end a program that survives the loss of a rank.
  mpi().Comm_set_errhandler(tracing().comm, errors_return());
}

// Shares need no other rank, so each writes its own whatever the ranks have agreed on.
void begin_tracing(bool is_gathered) {
  tracing().world = world();
  const World& here = tracing().world;
  if (is_gathered) prepare_gathering(variable(kTraceVariable));
  prepare_records(static_cast<std::size_t>(here.num_ranks));
  tracing().start_s = now_s();
  begin_call_times();
  const bool has_shares = begin_shares({.rank = here.rank,
                                        .num_ranks = here.num_ranks,
                                        .start_s = tracing().start_s,
                                        .is_gathered = is_gathered});
  if (!has_shares && !is_gathered) return;
  recording.store(true, std::memory_order_release);
  note_begin(true);
  if (has_shares) catch_ending_signals();
}

// A feature is on if the plan has its file and it could begin.
void begin_features(const char* folder, const World& world) {
  const Plan plan = read_plan(folder, world.rank, world.num_ranks);
  const Session session{world.rank, world.num_ranks, plan};
  if (begin_argument_check() != MPI_SUCCESS) {
    if (world.rank == 0) complain("the plan", "the MPI has no communicator left for it");
    return;
  }
#define FEATURE(feature) \
  if (feature::begin(session)) install_handlers(Feature::feature);
#define HANDLER(feature, call)
#include "table/handlers.def"
}

void end_features() noexcept {
  remove_handlers();
#define FEATURE(feature) feature::end();
#define HANDLER(feature, call)
#include "table/handlers.def"
  end_argument_check();
}

void begin_what_is_asked_for(Features asked) {
  const Features agreed = agree(asked);
  if (agreed.plan) begin_features(variable(kPlanVariable), world());
  if (agreed.trace || variable(kSharesVariable) != nullptr) begin_tracing(agreed.trace);
  if (!agreed.are_none()) end_agreement();
}

void begin() noexcept try {
  const NoCancellation no_cancellation;
  note_begin(false);
  const Features asked{variable(kTraceVariable) != nullptr, variable(kPlanVariable) != nullptr};
  if (!bind_mpi()) {
    bypass_wrappers();
    say_another_mpi(asked);
    return;
  }
  remove_handlers();
  if (!is_spawned()) begin_what_is_asked_for(asked);
  enter_wrappers();
} catch (const std::exception& error) {
  complain("tracing", error.what());
  // A feature that has begun here has begun on all ranks.
  enter_wrappers();
}

// A rank that had trouble on the way takes part all the same, with an empty record: the file is
// then refused by its reader.
RankRecord own_record(bool was_recording, double run_time_s) noexcept try {
  if (!was_recording) return {};
  const auto num_ranks = static_cast<std::size_t>(tracing().world.num_ranks);
  const std::optional<Counters> counters = sum_of_records(num_ranks);
  if (!counters) return {};
  return record_of_rank(tracing().world.rank, run_time_s, *counters, seconds_per_tick(),
                        node_name());
} catch (const std::exception& error) {
  complain("tracing", error.what());
  return {};
}

// The trace is gathered, or each rank has left all of its share.
void end_tracing() noexcept try {
  const bool was_recording = recording.exchange(false);
  const double run_time_s = now_s() - tracing().start_s;
  if (tracing().file.empty()) {
    if (was_recording) write_last_share(Occasion::finalize);
  } else {
    write_trace(tracing().comm, tracing().file, own_record(was_recording, run_time_s));
    mpi().Comm_free(&tracing().comm);
    tracing().file.clear();
  }
  end_shares();
  release_ending_signals();
} catch (const std::exception& error) {
  std::fprintf(stderr, "fairlead: the trace is lost: %s\n", error.what());
}

void end() noexcept {
  const NoCancellation no_cancellation;
  note_end();
  end_features();
  end_tracing();
  bypass_wrappers();
}

}  // namespace

// MPI_Init and its like may be the first call of a program, before which no function is known.
#define ORIGINAL(name) \
  (bind_mpi(), require_bound(reinterpret_cast<const void*>(mpi().name), "PMPI_" #name), mpi().name)

FAIRLEAD_EXPORT(Init, (int* argc, char*** argv)) {
  const int code = ORIGINAL(Init)(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

FAIRLEAD_EXPORT(Init_thread, (int* argc, char*** argv, int required, int* provided)) {
  const int code = ORIGINAL(Init_thread)(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

FAIRLEAD_EXPORT(Finalize, ()) {
  const auto original = ORIGINAL(Finalize);
  end();
  return original();
}

}  // namespace fairlead::intercept
