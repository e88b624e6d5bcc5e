// SPDX-License-Identifier: Apache-2.0
// A first-come-first-served server: its next message, and its load so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "fairlead/sim/simulation.hpp"
#include "sim/arrivals.hpp"
#include "sim/event_queue.hpp"
#include "sim/queue_length.hpp"

namespace fairlead::sim {

/// A sum of waiting times. In a long overload it exceeds 64 bits in nanoseconds.
__extension__ using SumOfNs = __int128;

inline double to_seconds(SumOfNs sum_ns) {
  return static_cast<double>(sum_ns) / 1e9;
}

/// A message that has arrived over the network at a shared interface.
struct Incoming {
  std::int64_t arrival_ns;
  std::int64_t sent_ns;  ///< its last byte cannot arrive earlier
  std::size_t stream;
};

/// When a message is served.
struct Service {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

class Server {
 public:
  PendingStreams pending;         ///< messages sent here
  std::deque<Incoming> incoming;  ///< messages from other nodes; ascending arrivals
  bool has_queue = true;          ///< a cache serves all at once

  /// Whether the next message to serve came over the network.
  [[nodiscard]] bool serves_incoming() const {
    if (incoming.empty()) return false;
    return pending.is_empty() || incoming.front().arrival_ns < pending.first().arrival_ns;
  }
  [[nodiscard]] bool is_idle() const { return incoming.empty() && pending.is_empty(); }

  [[nodiscard]] std::int64_t next_arrival_ns() const {
    return serves_incoming() ? incoming.front().arrival_ns : pending.first().arrival_ns;
  }
  [[nodiscard]] std::int64_t start_ns(std::int64_t arrival_ns) const {
    return has_queue ? std::max(arrival_ns, free_ns_) : arrival_ns;
  }

  /// Serves the message that arrives at `arrival_ns`.
  /// @param earliest_end_ns  the server is busy at least until then
  Service serve(std::int64_t arrival_ns, std::int64_t service_ns, std::int64_t bytes,
                std::int64_t earliest_end_ns = 0) {
    const std::int64_t start = start_ns(arrival_ns);
    const std::int64_t end = std::max(start + service_ns, earliest_end_ns);
    free_ns_ = end;
    ++load_.num_messages;
    load_.bytes += bytes;
    load_.busy_ns += end - start;
    waiting_ns_ += start - arrival_ns;
    load_.longest_wait_ns = std::max(load_.longest_wait_ns, start - arrival_ns);
    if (has_queue) queue_.enter(arrival_ns, start);
    return {.start_ns = start, .end_ns = end};
  }

  void add_offered_ratio(double ratio) { load_.offered_ratio += ratio; }

  [[nodiscard]] ServerLoad load() const {
    ServerLoad load = load_;
    load.waiting_s = to_seconds(waiting_ns_);
    load.longest_queue = queue_.longest();
    return load;
  }

 private:
  std::int64_t free_ns_ = 0;
  SumOfNs waiting_ns_ = 0;
  ServerLoad load_;
  QueueLength queue_;
};

}  // namespace fairlead::sim
