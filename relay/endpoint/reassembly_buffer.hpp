// SPDX-License-Identifier: Apache-2.0
// Messages that are being received: assembled from segments that come in any order, perhaps twice.
// Pure: no sockets, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "endpoint/taken_numbers.hpp"
#include "wire/frame.hpp"

namespace fairlead::relay {

/// A message that has arrived as a whole.
struct Arrived {
  std::unique_ptr<std::byte[]> bytes;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] std::span<const std::byte> span() const { return {bytes.get(), size_bytes}; }
};

class ReassemblyBuffer {
 public:
  /// Puts a segment in its place. One that came before, or is of a message already taken, is
  /// dropped.
  /// @pre the header is a valid one of kind data, the payload has its size and its digest
  /// @return whether to acknowledge it: false if it contradicts other segments of the message
  bool add(const FrameHeader& header, std::span<const std::byte> payload);

  [[nodiscard]] bool is_complete(std::uint32_t src_rank, std::uint64_t message) const;
  /// The message, if it is complete. It is then forgotten.
  [[nodiscard]] std::optional<Arrived> take(std::uint32_t src_rank, std::uint64_t message);
  /// Drops all segments of a message, those that have come and those that will come.
  void reject(std::uint32_t src_rank, std::uint64_t message);

  [[nodiscard]] std::size_t num_messages() const { return messages_.size(); }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct Message {
    Arrived content;
    std::vector<bool> has_segment;
    std::size_t num_missing = 0;
  };

  [[nodiscard]] bool is_taken(const Key& key) const;

  std::map<Key, Message> messages_;
  std::map<std::uint32_t, TakenNumbers> taken_of_rank_;
};

}  // namespace fairlead::relay
