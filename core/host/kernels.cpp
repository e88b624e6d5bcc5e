// SPDX-License-Identifier: Apache-2.0
// The two loops that are timed.
#include <array>
#include <cassert>

#include "fairlead/host/host_rates.hpp"

namespace fairlead {

double multiply_add(std::span<double> values, double factor, double summand, int num_repeats) {
  // So many independent chains hide the latency of a multiplication and an addition.
  constexpr std::size_t kChains = 16;
  assert(values.size() % kChains == 0);
  for (std::size_t first = 0; first < values.size(); first += kChains) {
    std::array<double, kChains> chains{};
    for (std::size_t chain = 0; chain < kChains; ++chain) chains[chain] = values[first + chain];
    for (int repeat = 0; repeat < num_repeats; ++repeat) {
      for (double& value : chains) value = value * factor + summand;
    }
    for (std::size_t chain = 0; chain < kChains; ++chain) values[first + chain] = chains[chain];
  }
  return static_cast<double>(values.size()) * num_repeats;
}

double triad(std::span<double> a, std::span<const double> b, std::span<const double> c,
             double scalar) {
  assert(a.size() == b.size() && a.size() == c.size());
  for (std::size_t index = 0; index < a.size(); ++index) a[index] = b[index] + scalar * c[index];
  return 3.0 * static_cast<double>(sizeof(double)) * static_cast<double>(a.size());
}

}  // namespace fairlead
