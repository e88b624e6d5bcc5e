// SPDX-License-Identifier: Apache-2.0
// MPICH2's two algorithms for a reduce.
#include <utility>

#include "mpich2_algorithms.hpp"

namespace bench::mpich2 {
namespace {

/// Room for values that come from another process, and combining them with the own ones.
class Combining {
 public:
  Combining(const Vector& vector, MPI_Op op) : vector_(vector), op_(op), room_(vector.num_bytes()) {
    int size = 0;
    MPI_Type_size(vector.type, &size);
    value_bytes_ = static_cast<std::size_t>(size);
  }

  [[nodiscard]] std::byte* own(int first) const {
    return static_cast<std::byte*>(vector_.data) + offset(first);
  }
  [[nodiscard]] std::byte* room(int first) { return room_.data() + offset(first); }

  void combine(int first, int last) {
    if (last > first) MPI_Reduce_local(room(first), own(first), last - first, vector_.type, op_);
  }

 private:
  [[nodiscard]] std::size_t offset(int first) const {
    return static_cast<std::size_t>(first) * value_bytes_;
  }
  const Vector& vector_;
  MPI_Op op_;
  std::vector<std::byte> room_;
  std::size_t value_bytes_ = 1;
};

/// The ranks of a power of two that take part in the halving: of the first ones each second.
class Halving {
 public:
  Halving(int num_ranks, int root)
      : num_left_(power_of_two_below(num_ranks)), num_folded_(num_ranks - num_left_), root_(root) {}

  [[nodiscard]] int num_left() const { return num_left_; }
  [[nodiscard]] bool is_folded_in(int rank) const { return rank < 2 * num_folded_; }
  [[nodiscard]] bool is_out(int rank) const { return is_folded_in(rank) && rank % 2 == 1; }
  [[nodiscard]] int number_of(int rank) const {
    return is_folded_in(rank) ? rank / 2 : rank - num_folded_;
  }
  [[nodiscard]] int rank_of(int number) const {
    return number < num_folded_ ? 2 * number : number + num_folded_;
  }
  /// Rank in the gather: where the root is out, it takes the place of number 0.
  [[nodiscard]] int root_number() const { return is_out(root_) ? 0 : number_of(root_); }
  [[nodiscard]] int rank_in_gather(int number) const {
    return is_out(root_) && number == 0 ? root_ : rank_of(number);
  }
  /// First of the values that are those of a block; the last block ends with the vector.
  [[nodiscard]] int first_of(int block, int num_values) const {
    const int each = num_values / num_left_, longer = num_values % num_left_;
    return block * each + (block < longer ? block : longer);
  }

 private:
  int num_left_, num_folded_, root_;
};

/// Blocks from `low` up to `high`, which does not count.
struct Range {
  int low, high;
};

/// One process's part of Rabenseifner's algorithm.
class HalvingGather {
 public:
  HalvingGather(const Vector& vector, MPI_Op op, int root, MPI_Comm comm)
      : vector_(vector),
        comm_(comm),
        root_(root),
        rank_(rank_in(comm)),
        halving_(size_of(comm), root),
        values_(vector, op),
        number_(halving_.number_of(rank_)),
        range_{0, halving_.num_left()} {}

  void run() {
    fold_in();
    if (!halving_.is_out(rank_)) halve();
    if (halving_.is_out(root_)) give_place_to_root();
    const bool has_left = halving_.is_out(rank_) || (rank_ == 0 && halving_.is_out(root_));
    if (rank_ == root_ || !has_left) gather();
  }

 private:
  [[nodiscard]] int first(int block) const { return halving_.first_of(block, vector_.count); }
  [[nodiscard]] int length(Range range) const { return first(range.high) - first(range.low); }

  /// Each second one of the first ranks combines the values of the next one with its own.
  void fold_in() {
    if (halving_.is_out(rank_)) {
      MPI_Send(vector_.data, vector_.count, vector_.type, rank_ - 1, kTag, comm_);
    } else if (halving_.is_folded_in(rank_)) {
      MPI_Recv(values_.room(0), vector_.count, vector_.type, rank_ + 1, kTag, comm_,
               MPI_STATUS_IGNORE);
      values_.combine(0, vector_.count);
    }
  }

  /// Partners at distance 1, 2, 4.. exchange the halves that they do not keep.
  void halve() {
    for (int mask = 1; mask < halving_.num_left(); mask *= 2) {
      const int partner = halving_.rank_of(number_ ^ mask);
      const int middle = (range_.low + range_.high) / 2;
      Range kept{range_.low, middle}, given{middle, range_.high};
      if ((number_ & mask) != 0) std::swap(kept, given);
      MPI_Sendrecv(values_.own(first(given.low)), length(given), vector_.type, partner, kTag,
                   values_.room(first(kept.low)), length(kept), vector_.type, partner, kTag, comm_,
                   MPI_STATUS_IGNORE);
      values_.combine(first(kept.low), first(kept.high));
      halves_.push_back(range_);
      range_ = kept;
    }
  }

  /// Where the root is out, rank 0 gives it its block, and the root goes on in its place.
  void give_place_to_root() {
    const int count = length({0, 1});
    if (rank_ == 0) MPI_Send(values_.own(0), count, vector_.type, root_, kTag, comm_);
    if (rank_ != root_) return;
    MPI_Recv(values_.own(0), count, vector_.type, 0, kTag, comm_, MPI_STATUS_IGNORE);
    number_ = 0;
    for (int mask = 1; mask < halving_.num_left(); mask *= 2) {
      halves_.push_back(range_);
      range_.high = (range_.low + range_.high) / 2;
    }
  }

  /// Up a binomial tree to the root, the most distant partners first.
  void gather() {
    for (int mask = halving_.num_left() / 2; mask > 0; mask /= 2) {
      const int partner = halving_.rank_in_gather(number_ ^ mask);
      if (((number_ ^ halving_.root_number()) & mask) != 0) {
        MPI_Send(values_.own(first(range_.low)), length(range_), vector_.type, partner, kTag,
                 comm_);
        return;
      }
      const Range whole = halves_.back();
      halves_.pop_back();
      const Range theirs =
          range_.low == whole.low ? Range{range_.high, whole.high} : Range{whole.low, range_.low};
      MPI_Recv(values_.own(first(theirs.low)), length(theirs), vector_.type, partner, kTag, comm_,
               MPI_STATUS_IGNORE);
      range_ = whole;
    }
  }

  const Vector& vector_;
  MPI_Comm comm_;
  int root_, rank_;
  Halving halving_;
  Combining values_;
  int number_;  ///< among the ranks that take part
  Range range_;
  std::vector<Range> halves_{};  ///< what this process had before each step
};

}  // namespace

void reduce_binomial(const Vector& vector, MPI_Op op, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const int to_parent = place.mask_to_parent();
  Combining values(vector, op);
  for (int mask = 1; mask < to_parent; mask *= 2) {
    const int child = place.relative + mask;
    if (child >= place.num_ranks) continue;
    MPI_Recv(values.room(0), vector.count, vector.type, place.rank_at(child), kTag, comm,
             MPI_STATUS_IGNORE);
    values.combine(0, vector.count);
  }
  if (place.relative == 0) return;
  MPI_Send(vector.data, vector.count, vector.type, place.rank_at(place.relative - to_parent), kTag,
           comm);
}

void reduce_halving_gather(const Vector& vector, MPI_Op op, int root, MPI_Comm comm) {
  HalvingGather(vector, op, root, comm).run();
}

}  // namespace bench::mpich2
