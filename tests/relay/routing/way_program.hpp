// SPDX-License-Identifier: Apache-2.0
// A program whose messages take the ways that the rule `trials` chooses.
#pragma once

#include <map>

#include "routing/slowdown_detector.hpp"
#include "routing/trial_rule.hpp"

namespace fairlead::tests {

using namespace fairlead::relay;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

inline constexpr std::uint64_t kBytes = 1 << 20;
inline constexpr double kLatency_s = 1e-4;
inline const Time kStart = Time(std::chrono::seconds(1000));

// One relay alone carries what all paths do.
inline WayRates planned(double direct_Bps, double striped_Bps) {
  const WayRate direct(direct_Bps, kLatency_s);
  const WayRate striped(striped_Bps, kLatency_s);
  return {direct, striped, direct, striped};
}

// One message after the other; the MPI is as fast as the direct path.
class Program {
 public:
  Program(double planned_direct_Bps, double planned_striped_Bps)
      : rule_(planned(planned_direct_Bps, planned_striped_Bps), kStart) {}

  /// @return seconds that each way took
  std::map<Way, double> run(double direct_Bps, double striped_Bps, milliseconds time,
                            double parallel_ratio = 1.0, double relayed_ratio = 1.0) {
    const std::map<Way, double> rates_Bps{{Way::mpi, direct_Bps},
                                          {Way::direct, direct_Bps},
                                          {Way::parallel, parallel_ratio * direct_Bps},
                                          {Way::relayed, relayed_ratio * striped_Bps},
                                          {Way::striped, striped_Bps}};
    std::map<Way, double> taken_s;
    const Time end = now_ + time;
    while (now_ < end) {
      if (detector_.add_message(now_)) rule_.note_slowdown(now_);
      const Way way = rule_.next(kBytes, now_);
      const double seconds = kLatency_s + static_cast<double>(kBytes) / rates_Bps.at(way);
      now_ += duration_cast<Clock::duration>(duration<double>(seconds));
      rule_.learn(way, kBytes, seconds, now_);
      taken_s[way] += seconds;
    }
    return taken_s;
  }

 private:
  TrialRule rule_;
  SlowdownDetector detector_;
  Time now_ = kStart;
};

inline double share(const std::map<Way, double>& taken_s, Way way) {
  double sum = 0.0;
  for (const auto& [each, seconds] : taken_s) sum += seconds;
  return taken_s.contains(way) ? taken_s.at(way) / sum : 0.0;
}

inline bool has_relay(Way way) {
  return way == Way::striped || way == Way::relayed;
}

}  // namespace fairlead::tests
