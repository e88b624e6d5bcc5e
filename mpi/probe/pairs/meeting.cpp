// SPDX-License-Identifier: Apache-2.0
// Adaptive sampling of one pair.
#include "pairs/meeting.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead::probe {
namespace {

// The fewest samples whose median has a 95 % interval, see median_interval_ranks.
constexpr int kMinSamples = 6;
// Share of a pair's time for its latency when time is short.
constexpr double kLatencyShare_ratio = 0.25;

/// The samples of one metric, and whether there are enough.
class Sampling {
 public:
  Sampling(const Options& options, double end_s)
      : target_ratio_(options.target_ratio), max_samples_(options.max_samples), end_s_(end_s) {}

  [[nodiscard]] bool is_done() const {
    const int num_samples = static_cast<int>(samples_.size());
    return num_samples >= max_samples_ || estimate_.is_within(target_ratio_) ||
           now_s() + longest_s_ >= end_s_;
  }

  [[nodiscard]] int num_missing() const {
    return std::min(kMinSamples, max_samples_ - static_cast<int>(samples_.size()));
  }

  /// Adds the samples of `take`, and records how long it took.
  template <typename Take>
  [[nodiscard]] bool add(Take take) {
    const double begin_s = now_s();
    const Durations durations_s = take();
    if (!durations_s) return false;
    longest_s_ = std::max(longest_s_, now_s() - begin_s);
    samples_.insert(samples_.end(), durations_s->begin(), durations_s->end());
    estimate_ = estimate_median(samples_);
    return true;
  }

  /// Expected time of a sample before the first one.
  void expect(double duration_s) { longest_s_ = duration_s; }

  [[nodiscard]] const MedianEstimate& estimate() const { return estimate_; }

 private:
  double target_ratio_;
  int max_samples_;
  double end_s_;
  double longest_s_ = 0;
  std::vector<double> samples_;
  MedianEstimate estimate_;
};

/// Subtracts the round trip of the request and the first byte from the trains' times.
Durations trains_alone(Durations durations_s, const Recipe& recipe, double round_trip_s) {
  if (!durations_s || recipe.window > 1 || !std::isfinite(round_trip_s)) return durations_s;
  for (double& duration_s : *durations_s) {
    // At least half the time remains, on a link so fast that only noise would be left.
    duration_s = std::max(duration_s - round_trip_s, duration_s / 2);
  }
  return durations_s;
}

MedianEstimate to_rate(const MedianEstimate& duration_s, double bytes) {
  return {bytes / duration_s.median, bytes / duration_s.high, bytes / duration_s.low,
          duration_s.num_samples};
}

bool measure_latency(Exchange& exchange, const Options& options, double end_s, PairResult& result) {
  if (!exchange.round_trips(result.high, options.recipe.num_warm_up_round_trips)) return false;
  Sampling latency(options, end_s);
  bool is_answered = true;
  while (is_answered && !latency.is_done()) {
    is_answered =
        latency.add([&] { return exchange.round_trips(result.high, latency.num_missing()); });
  }
  result.latency_s = latency.estimate();
  return is_answered;
}

/// Sends one smaller train both ways, which opens the transport's window, and predicts from it
/// how long the real ones will take.
bool warm_up(Exchange& exchange, const Recipe& recipe, int partner, Sampling& there,
             Sampling& back) {
  const std::int64_t bytes = recipe.warm_up_message_bytes;
  if (bytes == 0) return true;
  const double scale = static_cast<double>(recipe.message_bytes) / static_cast<double>(bytes);
  const Durations pushed_s = exchange.push(partner, 1, bytes);
  if (!pushed_s) return false;
  const Durations pulled_s = exchange.pull(partner, 1, bytes);
  if (!pulled_s) return false;
  there.expect(pushed_s->back() * scale);
  back.expect(pulled_s->back() * scale);
  return true;
}

bool measure_bandwidth(Exchange& exchange, const Options& options, double end_s,
                       PairResult& result) {
  const Recipe& recipe = options.recipe;
  Sampling there(options, end_s);
  Sampling back(options, end_s);
  const double round_trip_s = 2 * result.latency_s.median;
  const auto num_trains = [&recipe](const Sampling& sampling) {
    return std::min(recipe.trains_per_command, sampling.num_missing());
  };
  const auto push = [&] {
    return trains_alone(exchange.push(result.high, num_trains(there), recipe.message_bytes), recipe,
                        round_trip_s);
  };
  const auto pull = [&] {
    return trains_alone(exchange.pull(result.high, num_trains(back), recipe.message_bytes), recipe,
                        round_trip_s);
  };
  bool is_answered = warm_up(exchange, recipe, result.high, there, back);
  // The directions take turns, so that a temporary disturbance does not affect only one of them.
  while (is_answered && !(there.is_done() && back.is_done())) {
    if (!there.is_done()) is_answered = there.add(push);
    if (is_answered && !back.is_done()) is_answered = back.add(pull);
  }
  result.low_to_high_Bps = to_rate(there.estimate(), recipe.train_bytes());
  result.high_to_low_Bps = to_rate(back.estimate(), recipe.train_bytes());
  return is_answered;
}

}  // namespace

bool measure(Exchange& exchange, const Options& options, double end_s, PairResult& result) {
  const double begin_s = now_s();
  if (begin_s >= end_s) return true;
  const double latency_end_s = begin_s + (end_s - begin_s) * kLatencyShare_ratio;
  return measure_latency(exchange, options, latency_end_s, result) &&
         measure_bandwidth(exchange, options, end_s, result);
}

}  // namespace fairlead::probe
