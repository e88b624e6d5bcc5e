// SPDX-License-Identifier: Apache-2.0
// How many messages wait at a server, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlead::sim {

/// Counts who waits at a first-come-first-served server whose starts are known on arrival.
///
/// It keeps the times at which service starts, in blocks. A block leaves when its last message has
/// started. When all blocks are used, pairs of them become one: from then on the count is at most
/// one block too high, which is the longest queue so far / 2048.
class QueueLength {
 public:
  /// Enters the next message. @pre arrivals and starts ascend, and `start_ns` >= `arrival_ns`
  void enter(std::int64_t arrival_ns, std::int64_t start_ns) {
    while (num_blocks_ > 0 && block(0).last_start_ns <= arrival_ns) {
      waiting_ -= block(0).count;
      first_ = (first_ + 1) % kMostBlocks;
      --num_blocks_;
    }
    if (start_ns == arrival_ns) return;
    append(start_ns);
    if (++waiting_ > longest_) longest_ = waiting_;
  }

  [[nodiscard]] std::int64_t longest() const { return longest_; }

 private:
  static constexpr std::size_t kMostBlocks = 4096;

  struct Block {
    std::int64_t last_start_ns;
    std::int64_t count;
  };

  Block& block(std::size_t index) { return (*blocks_)[(first_ + index) % kMostBlocks]; }

  void append(std::int64_t start_ns) {
    if (!blocks_) blocks_ = std::make_unique<std::array<Block, kMostBlocks>>();
    if (num_blocks_ > 0 && block(num_blocks_ - 1).count < block_size_) {
      block(num_blocks_ - 1).last_start_ns = start_ns;
      ++block(num_blocks_ - 1).count;
      return;
    }
    if (num_blocks_ == kMostBlocks) halve();
    block(num_blocks_++) = {.last_start_ns = start_ns, .count = 1};
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

  // Allocated with the first message that waits: most servers of a large cluster have none.
  std::unique_ptr<std::array<Block, kMostBlocks>> blocks_;
  std::size_t first_ = 0;
  std::size_t num_blocks_ = 0;
  std::int64_t block_size_ = 1;
  std::int64_t waiting_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace fairlead::sim
