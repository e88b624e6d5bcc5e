// SPDX-License-Identifier: Apache-2.0
// One thread writes; others ask it by a semaphore, which a signal handler may post, too.
#include "trace/shares.hpp"

#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>

#include "fairlead/node_name.hpp"
#include "fairlead/without_signals.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/simulated.hpp"
#include "session/features.hpp"
#include "session/new_file.hpp"
#include "trace/call_time.hpp"
#include "trace/header.hpp"
#include "trace/recorder.hpp"

namespace fairlead::intercept {
namespace {

constexpr int kShareVersion = 2;
constexpr double kInterval_s = 30.0;
constexpr double kShortestInterval_s = 0.01;
/// What all ranks together do to a file system: a hundred files are made and renamed in a second.
constexpr double kRanksPerSecond = 100.0;
constexpr long kMillisecond_ns = 1'000'000;
constexpr int kLongestWait_ms = 2000;
/// In MPI_Finalize nobody waits to end the program by force.
constexpr int kLongestWaitInFinalize_ms = 30'000;
/// When one rank has ended by a signal, Hydra and Open MPI 5 kill the others at once. So a rank
/// that has written its last share leaves the others this time for theirs. Open MPI kills all ranks
/// a second after the signal.
constexpr int kTimeForOthers_ms = 500;

constexpr const char* name_of(Occasion occasion) {
  constexpr std::array kOccasionNames{"interval", "signal", "abort", "exit", "finalize"};
  return kOccasionNames[static_cast<std::size_t>(occasion)];
}

/// Set up before the thread starts, then read alone; but the atomics, and what its comment says.
struct Shares {
  ShareOf owner;
  std::string path;
  std::string library;
  double interval_s = kInterval_s;
  pid_t process = 0;
  sem_t asked{};  // posted by whoever sets `last` or `is_to_end`
  std::atomic<int> last{static_cast<int>(Occasion::interval)};
  std::atomic<bool> is_asked_for_last{false};
  std::atomic<bool> is_last_written{false};
  std::atomic<bool> is_to_end{false};
  std::atomic<bool> has_ended{false};
  int num_written = 0;      // of the thread alone
  bool has_failed = false;  // of the thread alone
};

// Never destroyed: the last share is written while static objects are torn down.
constinit std::atomic<Shares*> shares = nullptr;

/// A child that the program forked has neither the thread nor a share.
Shares* own_shares() noexcept {
  Shares* const found = shares.load();
  return found != nullptr && found->process == getpid() ? found : nullptr;
}

double interval_s(int num_ranks) {
  if (const char* const text = variable(kIntervalVariable)) {
    const double asked_s = std::strtod(text, nullptr);
    if (asked_s >= kShortestInterval_s) return asked_s;
  }
  return std::max(kInterval_s, num_ranks / kRanksPerSecond);
}

/// By the variables of Open MPI, of Hydra and of Slurm.
bool is_first_of_host() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* const rank = variable(name)) return std::string_view(rank) == "0";
  }
  return true;
}

void say_not_writable(const ShareOf& owner, const char* folder, int error) {
  if (!is_first_of_host()) return;
  std::fprintf(stderr,
               "fairlead: the ranks on %s cannot write their shares of the trace into %s: %s; %s\n",
               node_name().c_str(), folder, std::strerror(error),
               owner.is_gathered ? "they hand them in at MPI_Finalize, and not if the program ends "
                                   "before"
                                 : "the trace will lack them");
}

int write_file(Shares& own, const RankRecord& record, Occasion occasion) {
  const std::string first_line = header_line({{"format", "fairlead-share"},
                                              {"version", kShareVersion},
                                              {"mpi", own.library},
                                              {"rank", own.owner.rank},
                                              {"num_ranks", own.owner.num_ranks},
                                              {"number", own.num_written},
                                              {"occasion", name_of(occasion)}},
                                             1, sizes_of_tables(record));
  NewFile file(own.path);
  file.write(std::as_bytes(std::span(first_line)));
  file.write(std::as_bytes(std::span(&record.rank, 1)));
  for (const auto table : record.tables()) file.write(table);
  return file.finish();
}

void say_failed(Shares& own, const char* problem) {
  if (own.has_failed) return;
  own.has_failed = true;
  std::fprintf(stderr, "fairlead: %s: this share of the trace cannot be written: %s\n",
               own.path.c_str(), problem);
}

void write_share(Shares& own, Occasion occasion) noexcept try {
  const double run_time_s = now_s() - own.owner.start_s;
  const auto num_ranks = static_cast<std::size_t>(own.owner.num_ranks);
  const std::optional<Counters> counters = sum_of_records(num_ranks);
  if (!counters) return;
  ++own.num_written;
  const RankRecord record =
      record_of_rank(own.owner.rank, run_time_s, *counters, seconds_per_tick(), node_name());
  if (const int error = write_file(own, record, occasion); error != 0) {
    say_failed(own, std::strerror(error));
  }
} catch (const std::exception& error) {
  say_failed(own, error.what());
}

/// Until it is asked for something, or the time is over.
void wait_asked(Shares& own, double duration_s) {
  timespec end{};
  clock_gettime(CLOCK_REALTIME, &end);
  const auto whole_s = static_cast<time_t>(duration_s);
  end.tv_sec += whole_s;
  end.tv_nsec += static_cast<long>((duration_s - static_cast<double>(whole_s)) * 1e9);
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  while (sem_timedwait(&own.asked, &end) != 0 && errno == EINTR) {
  }
}

// The ranks write one after the other: each has its own moment in the second half of the interval.
double first_wait_s(const Shares& own) {
  return own.interval_s * 0.5 * (1 + (own.owner.rank + 1.0) / own.owner.num_ranks);
}

void write_until_end(Shares& own) noexcept {
  double wait_s = first_wait_s(own);
  while (true) {
    wait_asked(own, wait_s);
    wait_s = own.interval_s;
    if (own.is_to_end.load()) break;
    const auto occasion = static_cast<Occasion>(own.last.load());
    write_share(own, occasion);
    if (occasion == Occasion::interval) continue;
    own.is_last_written.store(true);
    break;
  }
  own.has_ended.store(true);
}

// Calls only what a signal handler may call (signal-safety(7)).
void wait_for(const std::atomic<bool>& is_done, int longest_ms) noexcept {
  const timespec pause{.tv_sec = 0, .tv_nsec = kMillisecond_ns};
  for (int waited_ms = 0; waited_ms < longest_ms && !is_done.load(); ++waited_ms) {
    nanosleep(&pause, nullptr);
  }
}

void leave_time_for_others() noexcept {
  const timespec time{.tv_sec = 0, .tv_nsec = kTimeForOthers_ms * kMillisecond_ns};
  nanosleep(&time, nullptr);
}

bool start_thread(Shares& own) noexcept try {
  const WithoutSignals without_signals;
  std::thread([&own] { write_until_end(own); }).detach();
  return true;
} catch (const std::exception& error) {
  say_failed(own, error.what());
  return false;
}

void write_at_abort() noexcept {
  write_last_share(Occasion::abort);
}

}  // namespace

bool begin_shares(const ShareOf& owner) {
  const char* const folder = variable(kSharesVariable);
  if (kIsSimulated || folder == nullptr) return false;
  if (access(folder, W_OK | X_OK) != 0) {
    say_not_writable(owner, folder, errno);
    return false;
  }
  auto* const own = new Shares;
  own->owner = owner;
  own->path = std::string(folder) + "/rank-" + std::to_string(owner.rank) + ".share";
  own->library = library_name();
  own->interval_s = interval_s(owner.num_ranks);
  own->process = getpid();
  sem_init(&own->asked, 0, 0);
  // One that an earlier program has left is not of this one.
  std::remove(own->path.c_str());
  if (!start_thread(*own)) return false;
  shares.store(own);
  at_abort(&write_at_abort);
  return true;
}

bool are_shares_written() noexcept {
  return own_shares() != nullptr;
}

void write_last_share(Occasion occasion) noexcept {
  Shares* const own = own_shares();
  if (own == nullptr || own->is_asked_for_last.exchange(true)) return;
  own->last.store(static_cast<int>(occasion));
  sem_post(&own->asked);
  const bool is_finalize = occasion == Occasion::finalize;
  wait_for(own->is_last_written, is_finalize ? kLongestWaitInFinalize_ms : kLongestWait_ms);
  if (occasion == Occasion::signal && own->owner.num_ranks > 1) leave_time_for_others();
}

void end_shares() noexcept {
  Shares* const own = own_shares();
  if (own == nullptr) return;
  at_abort(nullptr);
  own->is_to_end.store(true);
  sem_post(&own->asked);
  wait_for(own->has_ended, kLongestWait_ms);
  shares.store(nullptr);
}

}  // namespace fairlead::intercept
