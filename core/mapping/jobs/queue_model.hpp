// SPDX-License-Identifier: Apache-2.0
// How long all messages wait at one server, from the demand of each class of streams; no event is
// simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapping/jobs/stream_classes.hpp"

namespace fairlead::sim {

/// The demand of one class of streams on one server.
struct Demand {
  double num_streams = 0.0;
  double work_ns = 0.0;  ///< service time of one message of each stream, as fast as they can arrive
  double own_burst_ns = 0.0;  ///< part that a message may find of its own class when it arrives
  double burst_ns = 0.0;      ///< part that a message of another class may find
};

/// Total waiting time of a server's messages, and the end of the last one.
struct ServerTimes {
  double waiting_ns = 0.0;
  double done_ns = 0.0;

  [[nodiscard]] bool operator==(const ServerTimes&) const = default;
};

/// Waiting is the sum of two parts. Backlog: with an offered load above 1 it grows while messages
/// come, and then falls; every message waits for the current backlog. Bursts: on average a message
/// waits for half of the messages sent at the same moment, and for the rest of earlier bursts.
/// If arrivals are not periodic, the mean wait of M/G/1 replaces the bursts (Pollaczek and
/// Khinchine).
class QueueModel {
 public:
  QueueModel(const StreamClasses& classes, bool has_bursts)
      : classes_(classes), has_bursts_(has_bursts), active_(classes.size()) {
    active_.clear();
    load_until_.resize(classes.size());
  }

  /// @param demand  called with each class
  template <typename DemandOf>
  ServerTimes times(DemandOf demand) {
    active_.clear();
    for (std::size_t stream_class = 0; stream_class < classes_.size(); ++stream_class) {
      const Demand of_class = demand(stream_class);
      if (of_class.num_streams > 0.0) active_.push_back({of_class, stream_class});
    }
    if (active_.empty()) return {};
    ServerTimes times = backlog();
    times.waiting_ns += has_bursts_ ? bursts_ns() : random_ns();
    return times;
  }

 private:
  struct Active {
    Demand demand;
    std::size_t stream_class;
  };

  /// Also records the mean load until the end of each class.
  ServerTimes backlog();
  double bursts_ns() const;
  double random_ns() const;
  [[nodiscard]] double load(const Active& active) const {
    return active.demand.work_ns / classes_.period_ns(active.stream_class);
  }

  const StreamClasses& classes_;
  bool has_bursts_;
  std::vector<Active> active_;  // in the order in which they end
  std::vector<double> load_until_;
};

}  // namespace fairlead::sim
