// SPDX-License-Identifier: Apache-2.0
// The measured cost between hosts, stored for reading whole rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead::optimizing {

/// Dense costs in single precision, scaled so that the mean between different hosts is 1.
class HostCosts {
 public:
  /// @param cost  (H, H), finite, >= 0
  explicit HostCosts(const HostMatrix& cost);

  [[nodiscard]] std::int32_t num_hosts() const { return num_hosts_; }
  [[nodiscard]] bool is_symmetric() const { return is_symmetric_; }
  /// Whether no two hosts are nearer to one another than to themselves, as is usual.
  [[nodiscard]] bool keeps_apart() const { return keeps_apart_; }
  [[nodiscard]] float operator()(std::int32_t src, std::int32_t dst) const {
    return from(src)[dst];
  }
  /// Cost from `src` to each host.
  [[nodiscard]] const float* from(std::int32_t src) const { return row(from_, src); }
  /// Cost from each host to `dst`.
  [[nodiscard]] const float* to(std::int32_t dst) const { return row(to_, dst); }
  /// The hosts nearest to `host`, nearest first; at most kNumNear, without itself.
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return std::span(near_).subspan(static_cast<std::size_t>(host * num_near_),
                                    static_cast<std::size_t>(num_near_));
  }

 private:
  static constexpr std::int32_t kNumNear = 12;

  [[nodiscard]] const float* row(const std::vector<float>& rows, std::int32_t host) const {
    return rows.data() + static_cast<std::ptrdiff_t>(host) * num_hosts_;
  }
  void find_near();

  std::int32_t num_hosts_;
  std::int32_t num_near_;
  bool is_symmetric_ = true;
  bool keeps_apart_ = true;
  std::vector<float> from_;  // (H, H), [src, dst]
  std::vector<float> to_;    // (H, H), [dst, src]
  std::vector<std::int32_t> near_;
};

}  // namespace fairlead::optimizing
