// SPDX-License-Identifier: Apache-2.0
// The measured cost between hosts, stored for reading whole rows.
#include "mapping/cost/host_costs.hpp"

#include <algorithm>
#include <numeric>

namespace fairlead::optimizing {
namespace {

double mean_between(const HostMatrix& cost) {
  double sum = 0.0;
  for (std::size_t src = 0; src < cost.num_hosts; ++src) {
    for (std::size_t dst = 0; dst < cost.num_hosts; ++dst) {
      if (src != dst) sum += cost(src, dst);
    }
  }
  const auto num_pairs = static_cast<double>(cost.num_hosts * (cost.num_hosts - 1));
  return num_pairs > 0.0 ? sum / num_pairs : 0.0;
}

}  // namespace

HostCosts::HostCosts(const HostMatrix& cost)
    : num_hosts_(static_cast<std::int32_t>(cost.num_hosts)),
      num_near_(std::min(kNumNear, num_hosts_ - 1)),
      from_(cost.values.size()),
      to_(cost.values.size()) {
  const double mean = mean_between(cost);
  const double scale = mean > 0.0 ? 1.0 / mean : 1.0;
  for (std::size_t src = 0; src < cost.num_hosts; ++src) {
    for (std::size_t dst = 0; dst < cost.num_hosts; ++dst) {
      const auto scaled = static_cast<float>(cost(src, dst) * scale);
      from_[src * cost.num_hosts + dst] = scaled;
      to_[dst * cost.num_hosts + src] = scaled;
      is_symmetric_ = is_symmetric_ && cost(src, dst) == cost(dst, src);
      keeps_apart_ =
          keeps_apart_ && cost(src, dst) + cost(dst, src) >= cost(src, src) + cost(dst, dst);
    }
  }
  find_near();
}

void HostCosts::find_near() {
  std::vector<std::int32_t> others(static_cast<std::size_t>(num_hosts_));
  for (std::int32_t host = 0; host < num_hosts_; ++host) {
    std::iota(others.begin(), others.end(), 0);
    std::swap(others[static_cast<std::size_t>(host)], others.back());
    const auto end = others.end() - 1;
    const auto distance = [this, host](std::int32_t other) {
      return from(host)[other] + to(host)[other];
    };
    std::partial_sort(others.begin(), others.begin() + num_near_, end,
                      [&distance](std::int32_t left, std::int32_t right) {
                        return std::pair(distance(left), left) < std::pair(distance(right), right);
                      });
    near_.insert(near_.end(), others.begin(), others.begin() + num_near_);
  }
}

}  // namespace fairlead::optimizing
