// SPDX-License-Identifier: Apache-2.0
// Who exchanges which blocks with whom in Bine trees and butterflies: partners at negabinary
// distances.
//
// Source: De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing
// Communication Locality", SC25, arXiv 2508.17311, sections 3 and 4. Blocks that are sent together
// are packed into one message, as their "permute" variant does.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace bench::bine {

inline constexpr int kTag = 25;

struct Group {
  explicit Group(MPI_Comm communicator) : comm(communicator) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &num_ranks);
    while ((1 << num_steps) < num_ranks) ++num_steps;
  }
  MPI_Comm comm;
  int rank = 0;
  int num_ranks = 1;
  int num_steps = 0;

  /// Partner at distance 1, 1, 3, 5, 11 for `step` 0, 1, 2..; both ranks find each other.
  int partner(int of, int step) const {
    int distance = 0;
    for (int k = 0, term = 1; k <= step; ++k, term *= -2) distance += term;
    const int there = of % 2 == 0 ? of + distance : of - distance;
    return (there % num_ranks + num_ranks) % num_ranks;
  }

  /// Rank counted from the root as 0, which trees go by.
  int from_root(int of, int root) const {
    return ((of - root) % num_ranks + num_ranks) % num_ranks;
  }
  int to_rank(int relative, int root) const { return (relative + root) % num_ranks; }
};

/// For each rank and step of the butterfly, far partners first: whose blocks it holds before it.
class Holdings {
 public:
  explicit Holdings(const Group& group) : after_(1) {
    for (int rank = 0; rank < group.num_ranks; ++rank) after_[0].push_back({rank});
    for (int step = group.num_steps - 1; step >= 0; --step) {
      auto next = after_.back();
      for (int rank = 0; rank < group.num_ranks; ++rank) {
        const auto& theirs = after_.back()[index(group.partner(rank, step))];
        auto& mine = next[index(rank)];
        mine.insert(mine.end(), theirs.begin(), theirs.end());
        std::sort(mine.begin(), mine.end());
      }
      after_.push_back(std::move(next));
    }
  }
  /// Blocks that `rank` holds after `num_done` steps of gathering.
  const std::vector<int>& after(int num_done, int rank) const {
    return after_[index(num_done)][index(rank)];
  }

 private:
  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  std::vector<std::vector<std::vector<int>>> after_;
};

/// Blocks of equal size, packed and unpacked by their numbers.
struct Blocks {
  std::size_t bytes = 0;
  char* at(std::vector<char>& data, int block) const {
    return data.data() + bytes * static_cast<std::size_t>(block);
  }
  std::vector<char> packed(std::vector<char>& data, const std::vector<int>& numbers) const {
    std::vector<char> result(bytes * numbers.size());
    for (std::size_t index = 0; index < numbers.size(); ++index)
      std::memcpy(result.data() + bytes * index, at(data, numbers[index]), bytes);
    return result;
  }
  void unpack(const std::vector<char>& message, std::vector<char>& data,
              const std::vector<int>& numbers) const {
    for (std::size_t index = 0; index < numbers.size(); ++index)
      std::memcpy(at(data, numbers[index]), message.data() + bytes * index, bytes);
  }
};

inline int size_of(MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return bytes;
}

inline std::size_t bytes_of(int count, MPI_Datatype type) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size_of(type));
}

inline int exchange(const Group& group, int peer, const std::vector<char>& out,
                    std::vector<char>& in) {
  return MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, peer, kTag, in.data(),
                      static_cast<int>(in.size()), MPI_BYTE, peer, kTag, group.comm,
                      MPI_STATUS_IGNORE);
}

/// Every rank's block to every rank: `data` holds all blocks in the end, by ranks from the root.
inline int gather_blocks(const Group& group, int root, const Holdings& holdings, Blocks blocks,
                         std::vector<char>& data) {
  const int relative = group.from_root(group.rank, root);
  for (int done = 0, step = group.num_steps - 1; step >= 0; --step, ++done) {
    const int peer = group.partner(relative, step);
    const auto& theirs = holdings.after(done, peer);
    std::vector<char> in(blocks.bytes * theirs.size());
    exchange(group, group.to_rank(peer, root), blocks.packed(data, holdings.after(done, relative)),
             in);
    blocks.unpack(in, data, theirs);
  }
  return MPI_SUCCESS;
}

/// The same backwards, adding up: block `rank` of `data` is the sum over all ranks in the end.
inline int reduce_blocks(const Group& group, const Holdings& holdings, Blocks blocks,
                         MPI_Datatype type, MPI_Op op, std::vector<char>& data) {
  const int count = static_cast<int>(blocks.bytes) / size_of(type);
  for (int step = 0, done = group.num_steps - 1; step < group.num_steps; ++step, --done) {
    const int peer = group.partner(group.rank, step);
    const auto& mine = holdings.after(done, group.rank);
    std::vector<char> in(blocks.bytes * mine.size());
    exchange(group, peer, blocks.packed(data, holdings.after(done, peer)), in);
    for (std::size_t index = 0; index < mine.size(); ++index)
      MPI_Reduce_local(in.data() + blocks.bytes * index, blocks.at(data, mine[index]), count, type,
                       op);
  }
  return MPI_SUCCESS;
}

/// Bytes that are dealt out in equal blocks, one for each rank, with padding at the end.
struct Dealt {
  Dealt(const Group& group, const void* buffer, std::size_t bytes, std::size_t unit)
      : blocks{(bytes / unit + static_cast<std::size_t>(group.num_ranks) - 1) /
               static_cast<std::size_t>(group.num_ranks) * unit},
        data(blocks.bytes * static_cast<std::size_t>(group.num_ranks)) {
    if (buffer != nullptr) std::memcpy(data.data(), buffer, bytes);
  }
  Blocks blocks;
  std::vector<char> data;
};

}  // namespace bench::bine
