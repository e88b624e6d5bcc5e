// SPDX-License-Identifier: Apache-2.0
#include "routing/mode_rate.hpp"

#include <algorithm>

namespace fairlead::relay {

ModeRate ModeRate::preferred() const {
  ModeRate same = *this;
  same.is_preferred_ = true;
  return same;
}

void ModeRate::learn(std::uint64_t bytes, double seconds) {
  // The time of a small message is mostly latency, which does not show the rate.
  const double busy_s = std::max({seconds - latency_s_, 0.25 * seconds, 1e-6});
  last_Bps_[num_learned_ % last_Bps_.size()] = static_cast<double>(bytes) / busy_s;
  ++num_learned_;
}

double ModeRate::expected_s(std::uint64_t bytes) const {
  return latency_s_ + static_cast<double>(bytes) / rate_Bps();
}

double ModeRate::planned_s(std::uint64_t bytes) const {
  return latency_s_ + static_cast<double>(bytes) / planned_Bps_;
}

double ModeRate::rate_Bps() const {
  if (num_learned_ == 0) return planned_Bps_;
  auto known = last_Bps_;
  const std::size_t count = std::min(num_learned_, known.size());
  std::sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count));
  return is_preferred_ || count < known.size() ? known[count - 1] : known[count / 2];
}

}  // namespace fairlead::relay
