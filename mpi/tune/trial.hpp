// SPDX-License-Identifier: Apache-2.0
// One collective call with its buffers, which may be made again and again by any algorithm.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calls.hpp"

namespace fairlead::tune {

/// What is called. `message_bytes` is the whole vector of bcast, reduce and allreduce, and one
/// rank's block of the others.
struct Call {
  collectives::Operation operation = collectives::Operation::bcast;
  std::uint64_t message_bytes = 0;
  int root = 0;
};

class Trial {
 public:
  using Value = std::uint32_t;

  Trial(const Call& call, int rank, int num_ranks);

  /// Collective. Returns an MPI error code.
  int run(const Calls& calls);

  /// Spoils what is to be received, so that `is_right` looks at what the next call delivers.
  void spoil();
  /// Whether the last call delivered what it has to, on this rank.
  [[nodiscard]] bool is_right() const;

 private:
  [[nodiscard]] Value expected(std::size_t index) const;

  Call call_;
  int rank_;
  int num_ranks_;
  std::size_t count_;  ///< values of a message
  std::vector<Value> out_, in_;
  std::vector<int> counts_;
};

}  // namespace fairlead::tune
