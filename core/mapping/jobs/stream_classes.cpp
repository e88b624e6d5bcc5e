// SPDX-License-Identifier: Apache-2.0
// Which streams send at the same moments, and how often those of two classes coincide.
#include "mapping/jobs/stream_classes.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fairlead::sim {
namespace {

// Two periods have a ratio of whole numbers if one of these nearly fits; with larger numbers,
// moments coincide too rarely to matter.
constexpr int kLargestDenominator = 32;
constexpr double kNearlyWhole = 1e-6;

/// The smallest number of periods of `one_ns` that is a whole number of the other's; 0 where none
/// is small.
int periods_until_meeting(double one_ns, double other_ns) {
  for (int count = 1; count <= kLargestDenominator; ++count) {
    const double others = count * one_ns / other_ns;
    if (others > 0.5 && std::abs(others - std::round(others)) < kNearlyWhole) return count;
  }
  return 0;
}

}  // namespace

StreamClasses::StreamClasses(const std::vector<RankStream>& streams) {
  for (const RankStream& stream : streams)
    classes_.push_back({stream.period_ns, stream.num_messages});
  const std::vector<StreamClass> of_stream = classes_;
  const auto is_before = [](const StreamClass& one, const StreamClass& other) {
    return std::tuple(one.duration_ns(), one.period_ns) <
           std::tuple(other.duration_ns(), other.period_ns);
  };
  std::ranges::sort(classes_, is_before);
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  for (const StreamClass& stream_class : of_stream) {
    const auto found = std::ranges::lower_bound(classes_, stream_class, is_before);
    class_of_stream_.push_back(static_cast<std::size_t>(found - classes_.begin()));
  }
  for (std::size_t one = 0; one < size(); ++one) {
    for (std::size_t other = 0; other < size(); ++other) {
      const int count = periods_until_meeting(period_ns(one), period_ns(other));
      // All begin at the same moment, so they coincide at least once.
      const double once = 1.0 / std::max(1.0, num_messages(one) * overlap_ratio(one, other));
      coincidence_ratio_.push_back(count == 0 ? once : std::max(once, 1.0 / count));
    }
  }
}

double StreamClasses::overlap_ratio(std::size_t one, std::size_t other) const {
  return std::min(1.0, duration_ns(other) / duration_ns(one));
}

}  // namespace fairlead::sim
