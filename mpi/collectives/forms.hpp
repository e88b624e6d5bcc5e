// SPDX-License-Identifier: Apache-2.0
// The executors: what each form of a schedule does, message by message, between one process on
// each host. docs/design/collective-forms.md describes them in the same words.
//
// All of them are collective over the team.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/collectives/schedule.hpp"
#include "team.hpp"

namespace fairlead::collectives {

/// Where a block lies, counted in bytes or, where blocks are combined, in elements.
struct Block {
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t length() const { return end - first; }
};

/// The block of each host; they need not lie in the order of the hosts.
using Blocks = std::span<const Block>;

/// A vector as one block for each host, where no call says how long they are.
[[nodiscard]] inline std::vector<Block> equal_blocks(int num_blocks, std::uint64_t num_elements) {
  const std::vector<std::uint64_t> starts = block_starts(num_blocks, num_elements);
  std::vector<Block> blocks;
  for (std::size_t block = 0; block + 1 < starts.size(); ++block) {
    blocks.push_back({.first = starts[block], .end = starts[block + 1]});
  }
  return blocks;
}

/// One host's place in one tree.
struct TreePart {
  std::int32_t parent = kNoHost;
  std::vector<std::int32_t> children;
  std::vector<std::int32_t> segments;  ///< numbers of those that travel along the tree
};

/// One host's place in a forest; computed once for a schedule, as it looks at all hosts.
struct ForestPart {
  std::vector<TreePart> trees;
};

[[nodiscard]] ForestPart forest_part(const Schedule& schedule, int host);

int forest_bcast(const Schedule& schedule, const ForestPart& part, const Team& team,
                 std::byte* message, std::uint64_t num_bytes);
/// @param own, result  the same address for MPI_IN_PLACE; `result` counts at the root only
int forest_reduce(const Schedule& schedule, const ForestPart& part, const Team& team,
                  const Reduction& reduction, const void* own, void* result, Buffers& buffers);
int forest_allreduce(const Schedule& schedule, const ForestPart& part, const Team& team,
                     const Reduction& reduction, const void* own, void* result, Buffers& buffers);

/// `blocks` holds this process's block at first, and all in the end.
int ring_allgather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout);
/// `vector` holds this process's values at first; in the end its block is the combined one, and the
/// others are partial results.
int ring_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                        void* vector, Blocks layout, Buffers& buffers);
/// `vector` holds this process's values at first, and the combined ones in the end.
int ring_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                   void* vector, Buffers& buffers);

/// `blocks` counts at the root only, whose own block stays where it is; `own` at the others.
int linear_scatter(const Schedule& schedule, const Team& team, const std::byte* blocks,
                   Blocks layout, std::byte* own);
int linear_gather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout,
                  const std::byte* own);
/// `blocks` holds this process's block at first, and all in the end.
int linear_allgather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout);
/// `vector` holds this process's values at first; in the end its block is the combined one, and the
/// others are as they were.
int linear_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                          void* vector, Blocks layout, Buffers& buffers);
/// `vector` holds this process's values at first, and the combined ones in the end.
int linear_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                     void* vector, Buffers& buffers);
/// Between all processes: `order` holds ranks here, and block r of `blocks` goes to rank r.
int linear_alltoall(MPI_Comm comm, std::span<const int> order, int max_sends,
                    const std::byte* blocks, std::byte* received, std::uint64_t block_bytes);

int doubling_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                       void* vector, Buffers& buffers);

int split_tree_scatter(const Schedule& schedule, const Team& team, const std::byte* blocks,
                       Blocks layout, std::byte* own, Buffers& buffers);
int split_tree_gather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout,
                      const std::byte* own, Buffers& buffers);

int dissemination_barrier(const Schedule& schedule, const Team& team);
/// `blocks` holds this process's block at first, and all in the end.
int dissemination_allgather(const Schedule& schedule, const Team& team, std::byte* blocks,
                            Blocks layout, Buffers& buffers);
/// `vector` holds this process's values at first; in the end its block is the combined one, and the
/// others are as they were.
int dissemination_reduce_scatter(const Schedule& schedule, const Team& team,
                                 const Reduction& reduction, void* vector, Blocks layout,
                                 Buffers& buffers);

/// `blocks` holds this process's block at first, and all in the end.
int two_level_allgather(const Schedule& schedule, const Team& team, std::byte* blocks,
                        Blocks layout);
/// `vector` holds this process's values at first; in the end its block is the combined one, and the
/// others are partial results.
int two_level_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                             void* vector, Blocks layout, Buffers& buffers);
/// `vector` holds this process's values at first, and the combined ones in the end.
int two_level_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                        void* vector, Buffers& buffers);

}  // namespace fairlead::collectives
