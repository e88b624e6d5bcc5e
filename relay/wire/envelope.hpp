// SPDX-License-Identifier: Apache-2.0
// What the MPI carries in place of a message that goes by routers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/little_endian.hpp"

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
  Writer writer(bytes);
  writer.bytes(detail::kEnvelopeMark);
  writer.number(envelope.src_rank);
  writer.number(envelope.number);
  writer.number(envelope.size_bytes);
  return bytes;
}

/// @return nothing if the bytes are no envelope, which only an error of the program can cause
[[nodiscard]] inline std::optional<Envelope> parse_envelope(
    std::span<const std::byte, kEnvelopeBytes> bytes) {
  Reader reader(bytes);
  auto mark = detail::kEnvelopeMark;
  reader.bytes(mark);
  if (mark != detail::kEnvelopeMark) return std::nullopt;
  Envelope envelope;
  envelope.src_rank = reader.number<std::uint32_t>();
  envelope.number = reader.number<std::uint64_t>();
  envelope.size_bytes = reader.number<std::uint64_t>();
  return envelope;
}

}  // namespace fairlead::relay
