// SPDX-License-Identifier: Apache-2.0
// What the MPI carries in place of a message that goes by routers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace fairlead::relay {

/// A message of this size between ranks that may use relays is an envelope, always: one of the
/// program's own of this size goes in an envelope too. No multiple of a number's size, so such
/// messages are rare.
inline constexpr std::size_t kEnvelopeBytes = 23;

using EnvelopeBytes = std::array<std::byte, kEnvelopeBytes>;

struct Envelope {
  /// The sender in MPI_COMM_WORLD, and the number of the message among those to this receiver.
  std::uint32_t src_rank = 0;
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
};

namespace detail {
inline constexpr std::array<std::byte, 3> kEnvelopeMark{std::byte{'F'}, std::byte{'L'},
                                                        std::byte{'e'}};
}

[[nodiscard]] inline EnvelopeBytes to_bytes(const Envelope& envelope) {
  EnvelopeBytes bytes{};
  std::memcpy(bytes.data(), detail::kEnvelopeMark.data(), 3);
  std::memcpy(bytes.data() + 3, &envelope.src_rank, 4);
  std::memcpy(bytes.data() + 7, &envelope.number, 8);
  std::memcpy(bytes.data() + 15, &envelope.size_bytes, 8);
  return bytes;
}

/// @return nothing if the bytes are no envelope, which only an error of the program can cause
[[nodiscard]] inline std::optional<Envelope> parse_envelope(
    std::span<const std::byte, kEnvelopeBytes> bytes) {
  if (std::memcmp(bytes.data(), detail::kEnvelopeMark.data(), 3) != 0) return std::nullopt;
  Envelope envelope;
  std::memcpy(&envelope.src_rank, bytes.data() + 3, 4);
  std::memcpy(&envelope.number, bytes.data() + 7, 8);
  std::memcpy(&envelope.size_bytes, bytes.data() + 15, 8);
  return envelope;
}

}  // namespace fairlead::relay
