// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of one line of values.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace fft {

using Complex = std::complex<double>;

enum class Direction { forward, backward };

/// Transforms lines of one length, which must be a power of two; neither direction is scaled.
///
/// Source: Cooley and Tukey 1965, radix 2, in place after a reordering by reversed bits.
class Transform {
 public:
  explicit Transform(std::size_t length) : roots_(length / 2), swaps_() {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const double angle =
          -2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
      roots_[i] = std::polar(1.0, angle);
    }
    const auto num_bits = static_cast<int>(std::bit_width(length)) - 1;
    for (std::size_t i = 0; i < length; ++i) {
      std::size_t reversed = 0;
      for (int bit = 0; bit < num_bits; ++bit)
        reversed |= ((i >> bit) & 1U) << (num_bits - 1 - bit);
      if (i < reversed) swaps_.emplace_back(i, reversed);
    }
  }

  void apply(std::span<Complex> line, Direction direction) const {
    for (const auto& [i, j] : swaps_) std::swap(line[i], line[j]);
    for (std::size_t half = 1; half < line.size(); half *= 2) {
      const std::size_t stride = line.size() / (2 * half);
      for (std::size_t begin = 0; begin < line.size(); begin += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          const Complex root =
              direction == Direction::forward ? roots_[i * stride] : std::conj(roots_[i * stride]);
          const Complex odd = root * line[begin + half + i];
          line[begin + half + i] = line[begin + i] - odd;
          line[begin + i] += odd;
        }
      }
    }
  }

 private:
  std::vector<Complex> roots_;  ///< exp(-2 pi i k / length) for the first half of the circle.
  std::vector<std::pair<std::size_t, std::size_t>> swaps_;
};

}  // namespace fft
