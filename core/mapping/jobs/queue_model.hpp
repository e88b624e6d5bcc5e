// SPDX-License-Identifier: Apache-2.0
// How long all messages wait at one server, from the demand of each class of streams; no event is
// simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapping/jobs/stream_classes.hpp"

namespace fairlead::sim {

/// What the streams of one class ask of one server.
struct Demand {
  double num_streams = 0.0;
  double work_ns = 0.0;       ///< service of one message of each stream, as fast as they can come
  double own_burst_ns = 0.0;  ///< of that, what a message may find of its own class, once it comes
  double burst_ns = 0.0;      ///< and of that, what one of another class may find
};

/// What a server's messages wait together, and when it is done with the last one.
struct ServerTimes {
  double waiting_ns = 0.0;
  double done_ns = 0.0;

  [[nodiscard]] bool operator==(const ServerTimes&) const = default;
};

/// Waiting is the sum of two parts. Backlog: where more is offered than can be done, it grows for
/// as long as messages come, and then falls; every message waits for what there is. Bursts: a
/// message waits for half of what was handed over at the same moment, and for what is left of
/// earlier bursts.
///
/// With arrivals that are not periodic there are no bursts; the mean wait of M/G/1 takes their
/// place (Pollaczek and Khinchine).
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

  /// Also notes the mean load until the end of each class.
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
