// SPDX-License-Identifier: Apache-2.0
// Checks of a simulation's input.
#include "sim/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "fairlead/error.hpp"

namespace fairlead::sim {
namespace {

/// Half of the range of 64 bits, 146 years, so that a sum of two times does not overflow.
constexpr double kLongestClock_ns = 4.6e18;

std::string text(double value) {
  return std::to_string(value);
}

double slowest_Bps(const Machine& machine) {
  const double remote_Bps = machine.memory_Bps / (1.0 + machine.remote_memory_ratio);
  return std::min({machine.nic_Bps, remote_Bps, machine.cache_Bps});
}

}  // namespace

void require(bool holds, const std::string& what) {
  if (!holds) throw InputError(what);
}

void check(const Machine& machine) {
  require(machine.num_nodes >= 1 && machine.sockets_per_node >= 1 && machine.cores_per_socket >= 1,
          "machine: nodes, sockets and cores must be >= 1");
  for (const double rate_Bps : {machine.nic_Bps, machine.memory_Bps, machine.cache_Bps}) {
    require(std::isfinite(rate_Bps) && rate_Bps > 0,
            "machine: a rate must be > 0 and finite, got " + text(rate_Bps));
  }
  require(std::isfinite(machine.remote_memory_ratio) && machine.remote_memory_ratio >= 0,
          "machine: remote_memory_ratio must be >= 0, got " + text(machine.remote_memory_ratio));
  require(machine.switch_ns >= 0 && machine.largest_cache_bytes >= 0,
          "machine: the switch's time and the cache's size must be >= 0");
}

void check(const Machine& machine, const std::vector<MessageStream>& streams,
           std::int64_t num_jobs) {
  const std::int64_t num_cores = machine.num_sockets() * machine.cores_per_socket;
  double last_arrival_ns = 0.0;
  double service_ns = 0.0;
  for (std::size_t index = 0; index < streams.size(); ++index) {
    const MessageStream& stream = streams[index];
    const std::string where = "stream " + std::to_string(index) + ": ";
    require(stream.job >= 0 && stream.job < num_jobs, where + "its job is not there");
    for (const std::int64_t core : {stream.src_core, stream.dst_core}) {
      require(core >= 0 && core < num_cores, where + "core " + std::to_string(core) +
                                                 " is not one of " + std::to_string(num_cores));
    }
    require(stream.message_bytes >= 0, where + "a message has a negative size");
    require(stream.num_messages >= 1, where + "at least one message is needed");
    require(std::isfinite(stream.period_ns) && stream.period_ns > 0,
            where + "the period must be > 0, got " + text(stream.period_ns));
    require(std::isfinite(stream.first_ns) && stream.first_ns >= 0,
            where + "the first time must be >= 0, got " + text(stream.first_ns));
    const auto num_messages = static_cast<double>(stream.num_messages);
    last_arrival_ns =
        std::max(last_arrival_ns, stream.first_ns + (num_messages + 1) * stream.period_ns);
    // In at most two servers, one after the other.
    service_ns += 2 * num_messages *
                  (static_cast<double>(stream.message_bytes) / slowest_Bps(machine) * 1e9 +
                   static_cast<double>(machine.switch_ns));
  }
  // Exponential gaps may add up to several times their mean.
  require(8 * last_arrival_ns + service_ns < kLongestClock_ns,
          "the simulation would pass the end of its clock, 146 years; send fewer messages");
}

}  // namespace fairlead::sim
