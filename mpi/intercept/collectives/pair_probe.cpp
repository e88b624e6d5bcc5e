// SPDX-License-Identifier: Apache-2.0
// A ping-pong as CMPI's (section 3.1), in both directions, on the communicator of the schedules, on
// which nothing else is under way.
#include "collectives/pair_probe.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "fairlead/network/tournament.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

using fairlead::collectives::kNoHost;
using fairlead::collectives::Members;

constexpr int kProbeTag = 0;
constexpr int kNumPings = 8;
/// Each takes at most four times what the one before it took: a slow pair ends with a short one.
constexpr std::array kMessageBytes{1024, 4 * 1024, 16 * 1024, 64 * 1024, 256 * 1024, 1024 * 1024};
/// A message that takes so long shows the rate well enough.
constexpr double kLongEnough_s = 5e-3;

struct Direction {
  double latency_s = 0.0;
  double bandwidth_Bps = 0.0;
};

struct Message {
  int bytes = 0;
  double time_s = 0.0;
};

/// 1 TB/s: a time that is lost in noise is no rate.
constexpr double kShortest_sPerByte = 1e-12;

/// What limits a rate lets the first bytes after a pause pass faster (a token bucket). The shorter
/// message before had them too, so where the difference of both is not lost in noise it counts.
double rate_Bps(const Message& shorter, const Message& longer) {
  const double more_s = longer.time_s - shorter.time_s;
  if (more_s > longer.time_s / 2) return (longer.bytes - shorter.bytes) / more_s;
  return longer.bytes / std::max(longer.time_s, longer.bytes * kShortest_sPerByte);
}

/// One process's side of the messages between two hosts.
class Pair {
 public:
  Pair(MPI_Comm comm, int rank) : comm_(comm), rank_(rank), message_(kMessageBytes.back()) {}

  /// @param begins  of the two, the one that decides when it is enough
  Direction measure(bool begins) {
    Direction found{.latency_s = round_trip_s(begins) / 2, .bandwidth_Bps = 0};
    Message last;
    for (const int num_bytes : kMessageBytes) {
      const double begin_s = now_s();
      for (const bool sends : {begins, !begins}) {
        if (sends) {
          // What the answer takes is no part of the message's time.
          const Message now{.bytes = num_bytes, .time_s = timed_s(num_bytes) - 2 * found.latency_s};
          found.bandwidth_Bps = rate_Bps(last, now);
          last = now;
        } else {
          answer(num_bytes);
        }
      }
      std::byte is_enough{now_s() - begin_s > 2 * kLongEnough_s};
      if (begins) {
        send(&is_enough, 1);
      } else {
        receive(&is_enough, 1);
      }
      if (is_enough != std::byte{0}) break;
    }
    return found;
  }

 private:
  double round_trip_s(bool begins) {
    double shortest_s = std::numeric_limits<double>::infinity();
    for (const bool sends : {begins, !begins}) {
      for (int ping = 0; ping < kNumPings; ++ping) {
        if (sends) {
          shortest_s = std::min(shortest_s, timed_s(1));
        } else {
          answer(1);
        }
      }
    }
    return shortest_s;
  }

  double timed_s(int num_bytes) {
    const double begin_s = now_s();
    send(message_.data(), num_bytes);
    receive(message_.data(), 1);
    return now_s() - begin_s;
  }

  void answer(int num_bytes) {
    receive(message_.data(), num_bytes);
    send(message_.data(), 1);
  }

  void send(const std::byte* data, int num_bytes) const {
    require_success(mpi().Send(data, num_bytes, byte_type(), rank_, kProbeTag, comm_));
  }
  void receive(std::byte* data, int num_bytes) const {
    require_success(
        mpi().Recv(data, num_bytes, byte_type(), rank_, kProbeTag, comm_, MPI_STATUS_IGNORE));
  }

  MPI_Comm comm_;
  int rank_;
  std::vector<std::byte> message_;
};

void take_largest(std::vector<double>& values, MPI_Comm comm) {
  require_success(mpi().Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                                  double_type(), op_max(), comm));
}

}  // namespace

ProbedPairs probe_pairs(Members& members, int first_round) {
  const auto team = members.team(kNoHost);
  const int num_hosts = team.num_hosts();
  const auto num_pairs = static_cast<std::size_t>(num_hosts) * static_cast<std::size_t>(num_hosts);
  ProbedPairs found{.latency_s = std::vector<double>(num_pairs),
                    .bandwidth_Bps = std::vector<double>(num_pairs)};
  const double begin_s = now_s();
  std::vector<double> elapsed_s{0.0};
  double longest_s = 0.0;
  const Tournament tournament(num_hosts);
  const int num_rounds = tournament.num_rounds();
  for (int round = 0; round < num_rounds && elapsed_s[0] + longest_s < kLongestProbe_s; ++round) {
    const auto partner = tournament.opponent(team.host, (first_round + round) % num_rounds);
    if (members.is_leader(kNoHost) && partner) {
      const Direction out = Pair(team.comm, team.rank_of(*partner)).measure(team.host < *partner);
      const auto pair = static_cast<std::size_t>(team.host) * static_cast<std::size_t>(num_hosts) +
                        static_cast<std::size_t>(*partner);
      found.latency_s[pair] = out.latency_s;
      found.bandwidth_Bps[pair] = out.bandwidth_Bps;
    }
    ++found.num_rounds;
    const double before_s = elapsed_s[0];
    elapsed_s[0] = now_s() - begin_s;
    take_largest(elapsed_s, team.comm);
    longest_s = std::max(longest_s, elapsed_s[0] - before_s);
  }
  take_largest(found.latency_s, team.comm);
  take_largest(found.bandwidth_Bps, team.comm);
  found.pause_s = elapsed_s[0];
  return found;
}

}  // namespace fairlead::intercept
