// SPDX-License-Identifier: Apache-2.0
// Steps of the hosts' times.
#include "mapping/anneal/host_times.hpp"

namespace fairlead::optimizing {

void HostTimes::touch(std::int32_t host) {
  const auto index = static_cast<std::size_t>(host);
  if (is_touched_[index] != 0) return;
  is_touched_[index] = 1;
  touched_.push_back(host);
  then_[index] = now_[index];
}

void HostTimes::add_load(std::int32_t host, double power) {
  touch(host);
  then_[static_cast<std::size_t>(host)].load += power;
}

void HostTimes::apply() {
  for (const std::int32_t host : touched_) {
    now_[static_cast<std::size_t>(host)] = then_[static_cast<std::size_t>(host)];
  }
}

void HostTimes::clear() {
  for (const std::int32_t host : touched_) is_touched_[static_cast<std::size_t>(host)] = 0;
  touched_.clear();
}

void HostTimes::reset() {
  clear();
  now_.assign(now_.size(), Powers{});
}

}  // namespace fairlead::optimizing
