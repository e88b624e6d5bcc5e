// SPDX-License-Identifier: Apache-2.0
#include "collectives/methods/forest_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

#include "collectives/lower_bound.hpp"
#include "collectives/trees/tree_growth.hpp"

namespace fairlead::collectives {
namespace {

/// Growing an edge of a tree takes as long as simulating so many messages.
constexpr double kMessagesOfEdge = 8.0;
constexpr double kSmallestSegmentBytes = 512.0;
constexpr std::int32_t kMaxSegmentsPerTree = 96;
/// Segments of a fixed size that the search simulates, fewer among many hosts: the others of the
/// message behave alike.
constexpr double kMaxSearchedSegments = 160.0;
constexpr double kMinSearchedSegments = 32.0;
/// For so many shapes the messages that may be simulated have to do.
constexpr double kLeastShapes = 12.0;
/// A segment's number is a tag, of which an MPI has 32768 at least, and an allreduce takes two.
constexpr double kMaxFixedSegments = 8192.0;

std::int32_t max_sends_of(const Shape& shape) {
  if (shape.spare_sends == Shape::kNoLimit) return 0;
  const auto fan_out = static_cast<std::int32_t>(std::lround(shape.width * shape.num_trees));
  return std::max(1, fan_out + shape.spare_sends);
}

}  // namespace

ForestSearch::ForestSearch(const Problem& problem, double max_messages)
    : problem_(problem),
      tree_links_(problem.links, problem.request.operation),
      largest_Bps_(
          largest_message_Bps(problem.links, problem.request.operation, problem.request.root)),
      max_messages_(max_messages),
      segment_bytes_(problem.segment_bytes),
      searched_bytes_(problem.request.message_bytes) {
  if (!has_fixed_segments()) return;
  const double max_segments = max_messages_ / messages_of_segment();
  // The whole message is simulated once more, so long ones have longer segments.
  const double most = std::min(kMaxFixedSegments, max_segments / 2.0);
  segment_bytes_ =
      std::max(segment_bytes_,
               static_cast<std::uint64_t>(std::ceil(static_cast<double>(searched_bytes_) / most)));
  const auto searched = static_cast<std::uint64_t>(
      std::clamp(max_segments / kLeastShapes, kMinSearchedSegments, kMaxSearchedSegments));
  searched_bytes_ = std::min(searched_bytes_, searched * segment_bytes_);
}

double ForestSearch::messages_of_segment() const {
  const double num_ways = tree_links_.is_both_ways() ? 2.0 : 1.0;
  return num_ways * static_cast<double>(problem_.links.num_hosts());
}

Schedule ForestSearch::searched(std::initializer_list<Shape> starts, bool has_many_trees) {
  search(starts, has_many_trees);
  if (searched_bytes_ < problem_.request.message_bytes) {
    Shape whole = best_shape_;
    whole.segments_per_tree =
        fixed_segments(static_cast<double>(problem_.request.message_bytes), whole.num_trees);
    best_ = {};
    keep_faster(problem_, made(whole, problem_.request.message_bytes), best_);
  }
  return best_;
}

void ForestSearch::search(std::initializer_list<Shape> starts, bool has_many_trees) {
  for (const Shape& start : starts) try_shape(start);
  // A message that is too short for so many segments.
  if (best_.num_hosts == 0) try_shape({});
  while (is_better_) {
    is_better_ = false;
    const Shape shape = best_shape_;
    if (has_many_trees) {
      try_values(shape, &Shape::num_trees, {shape.num_trees + 1, shape.num_trees - 1});
    }
    // Both directions of an allreduce would need a limit each.
    if (!tree_links_.is_both_ways()) {
      try_values(shape, &Shape::spare_sends, {0, 1, 2});
    }
    if (!has_fixed_segments()) try_segments(shape);
    try_values(shape, &Shape::width, {0.5 * shape.width, 2.0 * shape.width});
    try_values(shape, &Shape::headroom_ratio, {1.0, 1.3, 1.8});
    try_values(shape, &Shape::latency_sharing, {0.0, 0.5, 1.0, 2.0});
    try_values(shape, &Shape::window, {1, 2, 4, 8});
  }
}

void ForestSearch::try_segments(const Shape& shape) {
  for (const double ratio : {0.5, 0.75, 1.4, 2.0}) {
    const auto segments = std::lround(ratio * shape.segments_per_tree);
    try_values(shape, &Shape::segments_per_tree, {static_cast<std::int32_t>(segments)});
  }
  try_values(shape, &Shape::num_short, {0, 3, 6});
  try_values(shape, &Shape::unevenness, {0.0, 0.6});
}

std::int32_t ForestSearch::fixed_segments(double message_bytes, std::int32_t num_trees) const {
  const double tree_bytes = message_bytes / num_trees;
  return std::max(1, static_cast<std::int32_t>(tree_bytes / static_cast<double>(segment_bytes_)));
}

std::int32_t ForestSearch::likely_segments() const {
  if (has_fixed_segments()) return fixed_segments(static_cast<double>(searched_bytes_), 1);
  const auto hosts = static_cast<double>(problem_.links.num_hosts());
  double sum_s = 0.0;
  for (std::size_t host = 1; host < problem_.links.num_hosts(); ++host) {
    sum_s += problem_.links.latency_s(host - 1, host);
  }
  const double latency_s = std::max(1e-7, sum_s / hosts);
  const double stream_s = static_cast<double>(problem_.request.message_bytes) / largest_Bps_;
  return static_cast<std::int32_t>(
      std::lround(std::clamp(std::sqrt(std::log2(hosts + 1.0) * stream_s / latency_s), 1.0, 64.0)));
}

void ForestSearch::try_shape(Shape shape) {
  if (has_fixed_segments() && shape.num_trees >= 1) {
    const auto num_trees = static_cast<std::uint64_t>(shape.num_trees);
    if (num_trees > 1 && num_trees * segment_bytes_ > searched_bytes_) return;
    shape.segments_per_tree = fixed_segments(static_cast<double>(searched_bytes_), shape.num_trees);
  }
  if (shape.num_trees < 1 || shape.num_trees > 8 || shape.segments_per_tree < 1 ||
      (shape.segments_per_tree > kMaxSegmentsPerTree && !has_fixed_segments()) ||
      shape.width < 1.0 || 2 * shape.num_short > shape.segments_per_tree) {
    return;
  }
  if (std::find(tried_.begin(), tried_.end(), shape) != tried_.end()) return;
  tried_.push_back(shape);
  const double num_segments = shape.num_trees * shape.segments_per_tree;
  const double segment_bytes = static_cast<double>(searched_bytes_) / num_segments;
  if (num_segments > 1.0 && segment_bytes < kSmallestSegmentBytes) return;
  num_messages_ += (num_segments + kMessagesOfEdge * shape.num_trees) * messages_of_segment();
  if (num_messages_ > max_messages_ && best_.num_hosts > 0) return;
  const double before_s = best_.predicted_s;
  const bool is_first = best_.num_hosts == 0;
  keep_faster(problem_, made(shape, searched_bytes_), best_);
  if (is_first || best_.predicted_s < before_s) {
    best_shape_ = shape;
    is_better_ = true;
  }
}

Schedule ForestSearch::made(const Shape& shape, std::uint64_t message_bytes) const {
  Schedule schedule = begun(problem_, Form::forest);
  schedule.message_bytes = message_bytes;
  schedule.window = shape.window;
  schedule.max_sends = max_sends_of(shape);
  schedule.trees = grow_trees(tree_links_, problem_.island_of_host, roots(shape.num_trees),
                              {.num_trees = shape.num_trees,
                               .message_Bps = largest_Bps_ / shape.width,
                               .segment_bytes = static_cast<double>(message_bytes) /
                                                (shape.num_trees * shape.segments_per_tree),
                               .headroom_ratio = shape.headroom_ratio,
                               .latency_sharing = shape.latency_sharing});
  // Equal segments run in lockstep where several trees meet; the same seed for the same plan.
  std::mt19937 random(1);
  double sum = 0.0;
  for (std::int32_t place = 0; place < shape.segments_per_tree; ++place) {
    // Short ones fill the pipeline faster, and leave less to pass on at its end.
    const std::int32_t from_end = std::min(place, shape.segments_per_tree - 1 - place) + 1;
    const double length = from_end <= shape.num_short ? from_end / (shape.num_short + 1.0) : 1.0;
    for (std::int32_t tree = 0; tree < shape.num_trees; ++tree) {
      const double between_ratio =
          static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
      const double share = length * (1.0 + shape.unevenness * (2.0 * between_ratio - 1.0));
      schedule.segments.push_back({.tree = tree, .share_ratio = share});
      sum += share;
    }
  }
  for (Segment& segment : schedule.segments) segment.share_ratio /= sum;
  return schedule;
}

// The operation's root, or for allreduce those hosts from which all others are near.
std::vector<std::int32_t> ForestSearch::roots(std::int32_t num_trees) const {
  const auto count = static_cast<std::size_t>(num_trees);
  if (problem_.request.root != kNoHost) {
    return std::vector<std::int32_t>(count, problem_.request.root);
  }
  const std::size_t num_hosts = problem_.links.num_hosts();
  std::vector<double> sum_s(num_hosts, 0.0);
  for (std::size_t host = 0; host < num_hosts; ++host) {
    for (std::size_t peer = 0; peer < num_hosts; ++peer) {
      if (peer != host) sum_s[host] += tree_links_.latency_s(host, peer);
    }
  }
  std::vector<std::int32_t> hosts(num_hosts);
  std::iota(hosts.begin(), hosts.end(), 0);
  std::stable_sort(hosts.begin(), hosts.end(), [&sum_s](std::int32_t left, std::int32_t right) {
    return sum_s[static_cast<std::size_t>(left)] < sum_s[static_cast<std::size_t>(right)];
  });
  std::vector<std::int32_t> chosen;
  for (std::size_t tree = 0; tree < count; ++tree) chosen.push_back(hosts[tree % num_hosts]);
  return chosen;
}

}  // namespace fairlead::collectives
