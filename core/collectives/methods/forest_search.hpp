// SPDX-License-Identifier: Apache-2.0
// The search that the methods pipeline and forest share: segments along one tree or several, how
// many trees, how wide, and how finely the message is cut.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "collectives/methods/methods.hpp"
#include "collectives/trees/tree_links.hpp"

namespace fairlead::collectives {

/// What is searched.
struct Shape {
  /// No limit on messages under way: as many as windows allow.
  static constexpr std::int32_t kNoLimit = -1;

  std::int32_t num_trees = 1;
  std::int32_t segments_per_tree = 1;
  double width = 1.0;  ///< fan-out over what the NIC carries at the full rate of the message
  double headroom_ratio = 1.3;
  double latency_sharing = 1.0;
  double unevenness = 0.0;     ///< segments are 1 - this to 1 + this of their mean
  std::int32_t num_short = 0;  ///< segments at either end of a tree's part that grow and shrink
  std::int32_t window = 1;
  /// Messages that a host has under way with its children beyond one with each.
  std::int32_t spare_sends = kNoLimit;

  friend bool operator==(const Shape&, const Shape&) = default;
};

class ForestSearch {
 public:
  /// @param max_messages  that may be simulated: bounds the time of planning, whatever the machine
  ForestSearch(const Problem& problem, double max_messages);

  /// Begins with the best of some shapes, and changes one thing of it after the other as long as
  /// that helps.
  [[nodiscard]] Schedule searched(std::initializer_list<Shape> starts, bool has_many_trees);

  /// Segments per tree that balance the time to fill a pipeline against latencies.
  [[nodiscard]] std::int32_t likely_segments() const;

 private:
  template <typename Value>
  void try_values(Shape shape, Value Shape::* member, std::initializer_list<Value> values) {
    for (const Value value : values) {
      shape.*member = value;
      try_shape(shape);
    }
  }

  void try_shape(Shape shape);
  /// Begins with these, and changes one thing after the other.
  void search(std::initializer_list<Shape> starts, bool has_many_trees);
  [[nodiscard]] bool has_fixed_segments() const { return segment_bytes_ > 0; }
  /// How many segments each tree has of so many bytes, none of them shorter than the fixed size.
  [[nodiscard]] std::int32_t fixed_segments(double message_bytes, std::int32_t num_trees) const;
  void try_segments(const Shape& shape);
  [[nodiscard]] double messages_of_segment() const;
  [[nodiscard]] Schedule made(const Shape& shape, std::uint64_t message_bytes) const;
  [[nodiscard]] std::vector<std::int32_t> roots(std::int32_t num_trees) const;

  const Problem& problem_;
  TreeLinks tree_links_;
  double largest_Bps_;
  double max_messages_;
  std::uint64_t segment_bytes_;   ///< at least; segments are less than twice as long; 0: searched
  std::uint64_t searched_bytes_;  ///< of the message, from its start
  double num_messages_ = 0.0;
  std::vector<Shape> tried_;
  bool is_better_ = false;
  Shape best_shape_;
  Schedule best_;
};

}  // namespace fairlead::collectives
