// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine, unlike the standard library's distributions.
#pragma once

#include <cstdint>

namespace fairlead {

/// SplitMix64. Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators
/// (OOPSLA 2014).
class Random {
 public:
  /// Streams of one seed are independent of each other.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mix(seed + kGolden) ^ mix(stream * kGolden + 1)) {}

  /// The generator as it was published, which starts from a state.
  static Random from_state(std::uint64_t state) {
    Random random(0);
    random.state_ = state;
    return random;
  }

  std::uint64_t next() { return mix(state_ += kGolden); }

  /// A number in [0, bound), bound >= 1. The bias of this multiplication is below bound / 2^32.
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }

  /// In (0, 1].
  double fraction() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }

  std::uint64_t state_;
};

}  // namespace fairlead
