// SPDX-License-Identifier: Apache-2.0
// Flows of one period and as many messages send at the same moments: they have a rhythm in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/mapping/optimize_jobs.hpp"

namespace fairlead::sim {

/// The distinct pairs of period and number of messages, those that are over first come first.
class Rhythms {
 public:
  explicit Rhythms(const std::vector<RankFlow>& flows);

  [[nodiscard]] std::size_t size() const { return rhythms_.size(); }
  [[nodiscard]] std::size_t of_flow(std::size_t flow) const { return rhythm_of_flow_[flow]; }
  [[nodiscard]] double period_ns(std::size_t rhythm) const { return rhythms_[rhythm].period_ns; }
  [[nodiscard]] double num_messages(std::size_t rhythm) const {
    return static_cast<double>(rhythms_[rhythm].num_messages);
  }
  /// From the first message to one period after the last.
  [[nodiscard]] double duration_ns(std::size_t rhythm) const {
    return rhythms_[rhythm].duration_ns();
  }
  /// Part of the one's messages that are sent while the other lasts.
  [[nodiscard]] double overlap_ratio(std::size_t one, std::size_t other) const;
  /// Part of those that are sent at the same moment as one of the other's.
  [[nodiscard]] double coincidence_ratio(std::size_t one, std::size_t other) const {
    return coincidence_ratio_[one * size() + other];
  }

 private:
  struct Rhythm {
    double period_ns;
    std::int64_t num_messages;

    [[nodiscard]] double duration_ns() const {
      return period_ns * static_cast<double>(num_messages);
    }
    [[nodiscard]] bool operator==(const Rhythm&) const = default;
  };

  std::vector<Rhythm> rhythms_;
  std::vector<std::size_t> rhythm_of_flow_;
  std::vector<double> coincidence_ratio_;  // (R, R)
};

}  // namespace fairlead::sim
