// SPDX-License-Identifier: Apache-2.0
// Buffers of each operation, and what must be in them.
#include "trial.hpp"

#include <algorithm>

namespace fairlead::tune {
namespace {

using collectives::Operation;
using Value = Trial::Value;

/// What rank `src` holds at `index`; sums of it depend on both.
Value pattern(int src, std::size_t index) {
  return static_cast<Value>(index) * 2654435761U + static_cast<Value>(src) * 40503U;
}

Value sum_of_patterns(int num_ranks, std::size_t index) {
  const auto count = static_cast<Value>(num_ranks);
  return count * pattern(0, index) + count * (count - 1) / 2 * 40503U;
}

bool has_blocks(Operation operation) {
  return operation != Operation::bcast && operation != Operation::reduce &&
         operation != Operation::allreduce && operation != Operation::barrier;
}

}  // namespace

Trial::Trial(const Call& call, int rank, int num_ranks)
    : call_(call),
      rank_(rank),
      num_ranks_(num_ranks),
      count_(call.operation == Operation::barrier
                 ? 0
                 : std::max<std::size_t>(1, call.message_bytes / sizeof(Value))) {
  const auto all = count_ * static_cast<std::size_t>(num_ranks);
  const bool is_root = rank == call.root;
  std::size_t num_out = count_, num_in = count_;
  switch (call.operation) {
    case Operation::bcast:
      num_in = 0;
      break;
    case Operation::reduce:
      num_in = is_root ? count_ : 0;
      break;
    case Operation::gather:
      num_in = is_root ? all : 0;
      break;
    case Operation::scatter:
      num_out = is_root ? all : 0;
      break;
    case Operation::allgather:
      num_in = all;
      break;
    case Operation::reduce_scatter:
      num_out = all;
      break;
    case Operation::alltoall:
      num_out = num_in = all;
      break;
    case Operation::allreduce:
    case Operation::barrier:
      break;
  }
  out_.resize(num_out);
  in_.resize(num_in);
  for (std::size_t index = 0; index < num_out; ++index) out_[index] = pattern(rank, index);
  if (has_blocks(call.operation)) {
    counts_.assign(static_cast<std::size_t>(num_ranks), static_cast<int>(count_));
  }
}

int Trial::run(const Calls& calls) {
  const int count = static_cast<int>(count_), root = call_.root;
  const MPI_Datatype type = MPI_UINT32_T;
  switch (call_.operation) {
    case Operation::bcast:
      return calls.bcast(out_.data(), count, type, root);
    case Operation::reduce:
      return calls.reduce(out_.data(), in_.data(), count, type, MPI_SUM, root);
    case Operation::gather:
      return calls.gather(out_.data(), in_.data(), count, type, root);
    case Operation::scatter:
      return calls.scatter(out_.data(), in_.data(), count, type, root);
    case Operation::allgather:
      return calls.allgather(out_.data(), in_.data(), count, type);
    case Operation::allreduce:
      return calls.allreduce(out_.data(), in_.data(), count, type, MPI_SUM);
    case Operation::reduce_scatter:
      return calls.reduce_scatter(out_.data(), in_.data(), counts_.data(), type, MPI_SUM);
    case Operation::alltoall:
      return calls.alltoall(out_.data(), in_.data(), count, type);
    case Operation::barrier:
      return calls.barrier();
  }
  return MPI_ERR_OTHER;
}

void Trial::spoil() {
  if (call_.operation == Operation::bcast && rank_ != call_.root) {
    std::fill(out_.begin(), out_.end(), 0U);
  }
  std::fill(in_.begin(), in_.end(), 0U);
}

Trial::Value Trial::expected(std::size_t index) const {
  const auto block = count_ == 0 ? 0 : static_cast<int>(index / count_);
  const auto within = count_ == 0 ? 0 : index % count_;
  const auto mine = count_ * static_cast<std::size_t>(rank_);
  switch (call_.operation) {
    case Operation::reduce:
    case Operation::allreduce:
      return sum_of_patterns(num_ranks_, index);
    case Operation::reduce_scatter:
      return sum_of_patterns(num_ranks_, mine + index);
    case Operation::gather:
    case Operation::allgather:
      return pattern(block, within);
    case Operation::alltoall:
      return pattern(block, mine + within);
    case Operation::scatter:
      return pattern(call_.root, mine + index);
    case Operation::bcast:
    case Operation::barrier:
      break;
  }
  return pattern(call_.root, index);
}

bool Trial::is_right() const {
  const std::vector<Value>& result = call_.operation == Operation::bcast ? out_ : in_;
  for (std::size_t index = 0; index < result.size(); ++index) {
    if (result[index] != expected(index)) return false;
  }
  return true;
}

}  // namespace fairlead::tune
