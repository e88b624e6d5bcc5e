// SPDX-License-Identifier: Apache-2.0
// Turns pencils from one axis to another: a transpose among the ranks of a row or a column.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "pencils.hpp"

namespace fft {

/// A part of a field as an MPI datatype, so that nothing is copied by hand.
class Part {
 public:
  Part(const Box& whole, const Box& other) {
    std::array<int, kNumDimensions> sizes{};
    std::array<int, kNumDimensions> part_sizes{};
    std::array<int, kNumDimensions> starts{};
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      const Range common = {std::max(whole[d].begin, other[d].begin),
                            std::min(whole[d].end, other[d].end)};
      sizes[d] = static_cast<int>(whole[d].length());
      part_sizes[d] = static_cast<int>(common.length());
      starts[d] = static_cast<int>(whole[d].local(common.begin));
    }
    MPI_Type_create_subarray(static_cast<int>(kNumDimensions), sizes.data(), part_sizes.data(),
                             starts.data(), MPI_ORDER_C, MPI_C_DOUBLE_COMPLEX, &type_);
    MPI_Type_commit(&type_);
  }
  Part(Part&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Moves values between the pencils along two axes, one of which follows the other.
///
/// Source: Dalcin, Mortensen and Keyes 2019, "Fast parallel multidimensional FFT using advanced
/// MPI": parts of arrays as datatypes. Here the partners meet pair by pair, step by step.
class Turn {
 public:
  /// @param side The side of the process grid along which the partners lie.
  Turn(const Pencils& pencils, Axis from, Axis to, std::size_t side) : pencils_(pencils) {
    own_ = pencils.own()[side];
    for (int index = 0; index < pencils.dims()[side]; ++index) {
      ProcessGrid place = pencils.own();
      place[side] = index;
      ranks_.push_back(pencils.rank_at(place));
      const Box mine_from = pencils.box(from, pencils.own());
      const Box mine_to = pencils.box(to, pencils.own());
      from_parts_.emplace_back(mine_from, pencils.box(to, place));
      to_parts_.emplace_back(mine_to, pencils.box(from, place));
    }
  }

  /// Collective among the partners.
  void there(const Field& from, Field& to) const { move(from, from_parts_, to, to_parts_); }
  void back(const Field& to, Field& from) const { move(to, to_parts_, from, from_parts_); }

 private:
  /// In step s every rank sends to the partner s places on, and receives from the one s before.
  void move(const Field& source, const std::vector<Part>& sent, Field& target,
            const std::vector<Part>& received) const {
    constexpr int kTag = 0;
    const int num_partners = static_cast<int>(ranks_.size());
    for (int step = 0; step < num_partners; ++step) {
      const auto dst = static_cast<std::size_t>((own_ + step) % num_partners);
      const auto src = static_cast<std::size_t>((own_ + num_partners - step) % num_partners);
      MPI_Sendrecv(source.values.data(), 1, sent[dst].type(), ranks_[dst], kTag,
                   target.values.data(), 1, received[src].type(), ranks_[src], kTag,
                   pencils_.comm(), MPI_STATUS_IGNORE);
    }
  }

  const Pencils& pencils_;
  int own_ = 0;
  std::vector<int> ranks_;
  std::vector<Part> from_parts_;
  std::vector<Part> to_parts_;
};

}  // namespace fft
