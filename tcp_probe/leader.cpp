// SPDX-License-Identifier: Apache-2.0
// Round trips, then trains both ways in turns, until the intervals of the medians are narrow.
#include "leader.hpp"

#include <algorithm>
#include <vector>

#include "messages.hpp"
#include "socket.hpp"

namespace fairlead::tcp_probe {
namespace {

// The fewest samples whose median has a 95 % interval, see median_interval_ranks.
constexpr int kMinSamples = 6;
constexpr std::uint64_t kRoundTripBytes = 1;
constexpr std::uint64_t kNumWarmUpRoundTrips = 2;
// A train is so long that it takes about this time: a tenth of a millisecond of noise is then 2 %.
constexpr double kTrain_s = 0.005;
// Below, the rate would be that of buffers.
constexpr std::uint64_t kMinTrainBytes = std::uint64_t{1} << 16;
constexpr std::uint64_t kMaxTrainBytes = std::uint64_t{1} << 23;

/// The samples of one metric.
class Sampling {
 public:
  Sampling(const Precision& precision, double end_s) : precision_(precision), end_s_(end_s) {}

  [[nodiscard]] bool is_done() const {
    return estimate_.num_samples >= precision_.max_samples ||
           estimate_.is_within(precision_.target_ratio) || now_s() + longest_s_ >= end_s_;
  }

  template <typename Take>
  void add(Take take) {
    const double begin_s = now_s();
    const std::vector<double> durations_s = take(num_missing());
    longest_s_ = std::max(longest_s_, now_s() - begin_s);
    samples_.insert(samples_.end(), durations_s.begin(), durations_s.end());
    estimate_ = estimate_median(samples_);
  }

  [[nodiscard]] const MedianEstimate& estimate() const { return estimate_; }

 private:
  [[nodiscard]] std::uint64_t num_missing() const {
    return static_cast<std::uint64_t>(
        std::min(kMinSamples, precision_.max_samples - estimate_.num_samples));
  }

  Precision precision_;
  double end_s_;
  double longest_s_ = 0;
  std::vector<double> samples_;
  MedianEstimate estimate_;
};

std::vector<double> round_trips(const Socket& peer, std::uint64_t count) {
  send_request(peer, {Exercise::echo, count, kRoundTripBytes});
  std::vector<double> durations_s;
  for (std::uint64_t trip = 0; trip < count; ++trip) {
    const double begin_s = now_s();
    send_bytes(peer, kRoundTripBytes);
    receive_bytes(peer, kRoundTripBytes);
    durations_s.push_back((now_s() - begin_s) / 2);
  }
  return durations_s;
}

std::vector<double> push(const Socket& peer, std::uint64_t count, std::uint64_t bytes) {
  send_request(peer, {Exercise::push, count, bytes});
  send_trains(peer, count, bytes);
  return receive_times(peer, count);
}

std::vector<double> pull(const Socket& peer, std::uint64_t count, std::uint64_t bytes) {
  send_request(peer, {Exercise::pull, count, bytes});
  return receive_trains(peer, count, bytes);
}

/// Subtracts the time of the call and the first byte. At least half remains, on a link so fast that
/// only noise would be left.
std::vector<double> without_call(std::vector<double> durations_s, double round_trip_s) {
  for (double& duration_s : durations_s) {
    duration_s = std::max(duration_s - round_trip_s, duration_s / 2);
  }
  return durations_s;
}

/// One short train in each direction opens the window of TCP and gives a first rate, by which the
/// length of the others is chosen.
std::uint64_t choose_train_bytes(const Socket& peer, double round_trip_s) {
  const auto pushed_s = without_call(push(peer, 1, kMinTrainBytes), round_trip_s);
  const auto pulled_s = without_call(pull(peer, 1, kMinTrainBytes), round_trip_s);
  const double duration_s = std::max(1e-9, std::min(pushed_s.front(), pulled_s.front()));
  const double wanted_bytes = static_cast<double>(kMinTrainBytes) * kTrain_s / duration_s;
  return static_cast<std::uint64_t>(std::clamp(wanted_bytes, static_cast<double>(kMinTrainBytes),
                                               static_cast<double>(kMaxTrainBytes)));
}

MedianEstimate to_rate(const MedianEstimate& duration_s, std::uint64_t train_bytes) {
  const auto bytes = static_cast<double>(train_bytes);
  return {bytes / duration_s.median, bytes / duration_s.high, bytes / duration_s.low,
          duration_s.num_samples};
}

}  // namespace

PairResult measure_pair(const Peer& peer, const std::string& key, const Precision& precision) {
  const double end_s = now_s() + precision.limit_s;
  const Socket follower = Socket::connect(peer.address, peer.port, precision.silence_timeout_s);
  send_key(follower, key);
  (void)round_trips(follower, kNumWarmUpRoundTrips);
  Sampling latency(precision, end_s);
  while (!latency.is_done()) {
    latency.add([&](std::uint64_t count) { return round_trips(follower, count); });
  }
  const double round_trip_s = 2 * latency.estimate().median;
  const std::uint64_t bytes = choose_train_bytes(follower, round_trip_s);
  Sampling there(precision, end_s);
  Sampling back(precision, end_s);
  // The directions take turns, so that a temporary disturbance does not affect only one of them.
  while (!(there.is_done() && back.is_done())) {
    if (!there.is_done()) {
      there.add([&](std::uint64_t count) {
        return without_call(push(follower, count, bytes), round_trip_s);
      });
    }
    if (!back.is_done()) {
      back.add([&](std::uint64_t count) {
        return without_call(pull(follower, count, bytes), round_trip_s);
      });
    }
  }
  return {latency.estimate(), to_rate(there.estimate(), bytes), to_rate(back.estimate(), bytes),
          bytes};
}

}  // namespace fairlead::tcp_probe
