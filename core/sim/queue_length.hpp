// SPDX-License-Identifier: Apache-2.0
// How many messages wait at a server, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead::sim {

/// Counts waiting messages of a first-come-first-served server whose starts are known on arrival.
/// It stores the times at which service starts, in blocks. A block is removed when its last message
/// has started. Blocks are in a ring that doubles its size when it is full, so that a server only
/// needs memory for its longest queue. When 4096 blocks are used, pairs of them are merged: from
/// then on the count is at most one block too high, which is the longest queue so far / 2048.
class QueueLength {
 public:
  /// Enters the next message. @pre arrivals and starts ascend, and `start_ns` >= `arrival_ns`
  void enter(std::int64_t arrival_ns, std::int64_t start_ns) {
    while (num_blocks_ > 0 && block(0).last_start_ns <= arrival_ns) {
      waiting_ -= block(0).count;
      first_ = position(1);
      --num_blocks_;
    }
    if (start_ns == arrival_ns) return;
    append(start_ns);
    if (++waiting_ > longest_) longest_ = waiting_;
  }

  [[nodiscard]] std::int64_t longest() const { return longest_; }

 private:
  static constexpr std::size_t kFirstBlocks = 8;
  static constexpr std::size_t kMostBlocks = 4096;

  struct Block {
    std::int64_t last_start_ns;
    std::int64_t count;
  };

  /// In the ring, whose size is a power of two.
  [[nodiscard]] std::size_t position(std::size_t index) const {
    return (first_ + index) & (blocks_.size() - 1);
  }
  Block& block(std::size_t index) { return blocks_[position(index)]; }

  void append(std::int64_t start_ns) {
    if (num_blocks_ > 0 && block(num_blocks_ - 1).count < block_size_) {
      block(num_blocks_ - 1).last_start_ns = start_ns;
      ++block(num_blocks_ - 1).count;
      return;
    }
    if (num_blocks_ == kMostBlocks) {
      halve();
    } else if (num_blocks_ == blocks_.size()) {
      grow();
    }
    block(num_blocks_++) = {.last_start_ns = start_ns, .count = 1};
  }

  void grow() {
    std::vector<Block> larger(std::max(kFirstBlocks, 2 * blocks_.size()));
    for (std::size_t index = 0; index < num_blocks_; ++index) larger[index] = block(index);
    blocks_ = std::move(larger);
    first_ = 0;
  }

  void halve() {
    for (std::size_t pair = 0; pair < kMostBlocks / 2; ++pair) {
      const Block later = block(2 * pair + 1);
      block(pair) = {.last_start_ns = later.last_start_ns,
                     .count = block(2 * pair).count + later.count};
    }
    num_blocks_ = kMostBlocks / 2;
    block_size_ *= 2;
  }

  // Empty until a message waits: most servers of a large cluster have none.
  std::vector<Block> blocks_;
  std::size_t first_ = 0;
  std::size_t num_blocks_ = 0;
  std::int64_t block_size_ = 1;
  std::int64_t waiting_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace fairlead::sim
