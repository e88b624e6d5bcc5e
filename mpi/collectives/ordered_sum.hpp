// SPDX-License-Identifier: Apache-2.0
// A block that is combined with those of others in a fixed order, however they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi_calls.hpp"
#include "team.hpp"

namespace fairlead::collectives {

/// The sum of a block and of the same block of others, so that every run gives the same bits.
class OrderedSum {
 public:
  /// @param own  the block, which becomes the sum
  /// @param slots  room for `num_others` blocks
  OrderedSum(const Reduction& reduction, void* own, std::uint64_t length, std::size_t num_others,
             std::byte* slots)
      : reduction_(&reduction),
        own_(own),
        length_(length),
        slots_(slots),
        has_arrived_(num_others, false) {}

  /// Where the block of one of the others is to arrive.
  [[nodiscard]] std::byte* slot(std::size_t other) const {
    return reduction_->elements.at(static_cast<void*>(slots_), other * length_);
  }
  [[nodiscard]] bool is_complete() const { return num_combined_ == has_arrived_.size(); }

  /// Combines what may be, now that this block has arrived.
  int take(std::size_t other) {
    has_arrived_[other] = true;
    for (; !is_complete() && has_arrived_[num_combined_]; ++num_combined_) {
      if (length_ == 0) continue;  // An operation of the program is not called for nothing.
      const int code = mpi().Reduce_local(slot(num_combined_), own_, static_cast<int>(length_),
                                          reduction_->elements.type, reduction_->op);
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

 private:
  const Reduction* reduction_;
  void* own_;
  std::uint64_t length_;
  std::byte* slots_;
  std::vector<bool> has_arrived_;
  std::size_t num_combined_ = 0;
};

}  // namespace fairlead::collectives
