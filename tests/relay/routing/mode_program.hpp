// SPDX-License-Identifier: Apache-2.0
// A program whose messages take the modes that the rule `trials` chooses.
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
inline ModeRates planned(double direct_Bps, double striped_Bps) {
  const ModeRate direct(direct_Bps, kLatency_s);
  const ModeRate striped(striped_Bps, kLatency_s);
  return {direct, striped, direct, striped};
}

// One message after the other; the MPI is as fast as the direct path.
class Program {
 public:
  Program(double planned_direct_Bps, double planned_striped_Bps)
      : rule_(planned(planned_direct_Bps, planned_striped_Bps), kStart) {}

  /// @return seconds that each mode took
  std::map<TransferMode, double> run(double direct_Bps, double striped_Bps, milliseconds time,
                                     double parallel_ratio = 1.0, double relayed_ratio = 1.0) {
    const std::map<TransferMode, double> rates_Bps{
        {TransferMode::mpi, direct_Bps},
        {TransferMode::direct, direct_Bps},
        {TransferMode::parallel, parallel_ratio * direct_Bps},
        {TransferMode::relayed, relayed_ratio * striped_Bps},
        {TransferMode::striped, striped_Bps}};
    std::map<TransferMode, double> taken_s;
    const Time end = now_ + time;
    while (now_ < end) {
      if (detector_.add_message(now_)) rule_.note_slowdown(now_);
      const TransferMode mode = rule_.next(kBytes, now_);
      const double seconds = kLatency_s + static_cast<double>(kBytes) / rates_Bps.at(mode);
      now_ += duration_cast<Clock::duration>(duration<double>(seconds));
      rule_.learn(mode, kBytes, seconds, now_);
      taken_s[mode] += seconds;
    }
    return taken_s;
  }

 private:
  TrialRule rule_;
  SlowdownDetector detector_;
  Time now_ = kStart;
};

inline double share(const std::map<TransferMode, double>& taken_s, TransferMode mode) {
  double sum = 0.0;
  for (const auto& [each, seconds] : taken_s) sum += seconds;
  return taken_s.contains(mode) ? taken_s.at(mode) / sum : 0.0;
}

inline bool has_relay(TransferMode mode) {
  return mode == TransferMode::striped || mode == TransferMode::relayed;
}

}  // namespace fairlead::tests
