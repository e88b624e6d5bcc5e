// SPDX-License-Identifier: Apache-2.0
// The time of each host in a step of the program: what its slowest rank takes by itself, and the
// busiest part of the network that it uses, both smoothed by norms of order 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapping/anneal/powers.hpp"

namespace fairlead::optimizing {

/// The sums behind the hosts' times, with the changes of a step under way.
class HostTimes {
 public:
  explicit HostTimes(std::int32_t num_hosts)
      : now_(static_cast<std::size_t>(num_hosts)),
        then_(now_.size()),
        is_touched_(now_.size(), 0) {}

  /// Marks a host whose ranks change, or what they take.
  void touch(std::int32_t host);
  /// Adds to the sum of eighth powers of the loads of a host's part of the network.
  void add_load(std::int32_t host, double power);

  /// The change of the sum over hosts of the eighth powers of their times.
  /// @param own_power  of a host: the sum over its ranks of the eighth powers of their own times,
  ///   after the step
  template <typename OwnPower>
  [[nodiscard]] double change(OwnPower own_power) {
    double sum = 0.0;
    for (const std::int32_t host : touched_) {
      Powers& then = then_[static_cast<std::size_t>(host)];
      then.own = own_power(host);
      then.time = eighth_power(eighth_root(then.own) + eighth_root(then.load));
      sum += then.time - now_[static_cast<std::size_t>(host)].time;
    }
    return sum;
  }

  /// Takes over the changes of the step.
  void apply();
  /// Forgets the step.
  void clear();
  /// All hosts without ranks and loads.
  void reset();

 private:
  struct Powers {
    double own = 0.0, load = 0.0, time = 0.0;
  };

  std::vector<Powers> now_;   // of each host
  std::vector<Powers> then_;  // of the touched ones, after the step
  std::vector<char> is_touched_;
  std::vector<std::int32_t> touched_;
};

}  // namespace fairlead::optimizing
