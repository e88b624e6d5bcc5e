// SPDX-License-Identifier: Apache-2.0
// Classes of streams, as in a queue with several classes of customers: streams with the same period
// and number of messages send at the same moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/mapping/optimize_jobs.hpp"

namespace fairlead::sim {

/// The distinct pairs of period and number of messages, in the order in which they end.
class StreamClasses {
 public:
  explicit StreamClasses(const std::vector<RankStream>& streams);

  [[nodiscard]] std::size_t size() const { return classes_.size(); }
  [[nodiscard]] std::size_t of_stream(std::size_t stream) const { return class_of_stream_[stream]; }
  [[nodiscard]] double period_ns(std::size_t stream_class) const {
    return classes_[stream_class].period_ns;
  }
  [[nodiscard]] double num_messages(std::size_t stream_class) const {
    return static_cast<double>(classes_[stream_class].num_messages);
  }
  /// From the first message to one period after the last.
  [[nodiscard]] double duration_ns(std::size_t stream_class) const {
    return classes_[stream_class].duration_ns();
  }
  /// Part of the messages of `one` that are sent while `other` lasts.
  [[nodiscard]] double overlap_ratio(std::size_t one, std::size_t other) const;
  /// Part of those that are sent at the same moment as one of `other`.
  [[nodiscard]] double coincidence_ratio(std::size_t one, std::size_t other) const {
    return coincidence_ratio_[one * size() + other];
  }

 private:
  struct StreamClass {
    double period_ns;
    std::int64_t num_messages;

    [[nodiscard]] double duration_ns() const {
      return period_ns * static_cast<double>(num_messages);
    }
    [[nodiscard]] bool operator==(const StreamClass&) const = default;
  };

  std::vector<StreamClass> classes_;
  std::vector<std::size_t> class_of_stream_;
  std::vector<double> coincidence_ratio_;  // (C, C)
};

}  // namespace fairlead::sim
