// SPDX-License-Identifier: Apache-2.0
// A placement with the load of every server, and the change by any swap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/mapping/optimize_jobs.hpp"
#include "mapping/anneal/occupancy.hpp"
#include "mapping/jobs/queue_model.hpp"
#include "mapping/jobs/stream_classes.hpp"

namespace fairlead::sim {

/// The jobs in the walks' form: each rank's streams, and the service time of a message on each
///   route.
class JobStreams {
 public:
  struct Ways {
    std::int64_t src, dst;
    std::size_t stream_class;
    std::int64_t between_nodes_ns;
    std::int64_t between_sockets_ns;
    std::int64_t in_socket_ns;  ///< 0 where it goes through the cache
  };

  explicit JobStreams(const JobsProblem& problem);

  [[nodiscard]] const StreamClasses& classes() const { return classes_; }
  [[nodiscard]] std::span<const Ways> all() const { return ways_; }
  [[nodiscard]] const Ways& way(std::size_t stream) const { return ways_[stream]; }
  /// Numbers of the streams that a rank sends or receives.
  [[nodiscard]] std::span<const std::size_t> of_rank(std::int32_t rank) const {
    return streams_of_rank_[static_cast<std::size_t>(rank)];
  }

 private:
  StreamClasses classes_;
  std::vector<Ways> ways_;
  std::vector<std::vector<std::size_t>> streams_of_rank_;
};

/// Ranks occupy sockets, since cores of a socket are equal. Loads are whole nanoseconds, so that
/// undoing a swap restores them exactly.
class LoadState {
 public:
  LoadState(const JobsProblem& problem, const JobStreams& streams, optimizing::Occupancy occupancy);

  [[nodiscard]] const optimizing::Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] double waiting_ns() const { return waiting_ns_; }
  /// When the last server is done.
  [[nodiscard]] double done_ns() const;

  /// Swaps the slots of two occupants. @return the change of the waiting time, ns
  double swap(std::int32_t one, std::int32_t other);
  /// Swaps all occupants of two sockets with equal numbers of slots. @return as above
  double swap_sockets(std::int32_t one, std::int32_t other);
  /// Undoes the last swap; only once.
  void undo();

 private:
  struct Load {
    std::int64_t num_streams = 0;
    std::int64_t work_ns = 0;
  };

  double apply();
  void exchange();
  void count_moving(std::int64_t sign);
  void add(const JobStreams::Ways& way, std::int64_t sign);
  void refresh(std::size_t server, const ServerTimes& times);
  void refresh_memories(std::size_t node);
  [[nodiscard]] double slowdown(std::size_t node) const;
  ServerTimes sending(std::size_t node);
  ServerTimes receiving(std::size_t node);
  ServerTimes queue(std::span<const Load> loads);
  [[nodiscard]] std::size_t node_of(std::int32_t socket) const {
    return static_cast<std::size_t>(socket) / sockets_per_node_;
  }
  [[nodiscard]] std::span<Load> row(std::vector<Load>& loads, std::size_t index) const {
    return std::span(loads).subspan(index * num_classes_, num_classes_);
  }

  const JobStreams& streams_;
  optimizing::Occupancy occupancy_;
  QueueModel model_;
  Nic nic_;
  std::size_t num_nodes_, sockets_per_node_, num_classes_;
  std::vector<Load> sent_;                // (nodes, C); of a shared interface also what is received
  std::vector<Load> received_;            // (nodes, C)
  std::vector<Load> memory_;              // (sockets, C)
  std::vector<std::int64_t> sent_to_ns_;  // (receiving node, C, sending node)
  std::vector<double> slowed_;  // of each node: its offered load over its capacity to send
  std::vector<ServerTimes> times_of_server_;  // sending, receiving, memory
  double waiting_ns_ = 0.0;
  // The last swap: pairs of occupants, the ranks that move, the servers' waiting before.
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;
  std::vector<char> is_moving_;
  std::vector<std::pair<std::size_t, ServerTimes>> before_;
  double waiting_before_ns_ = 0.0;
};

}  // namespace fairlead::sim
