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

/// Between ranks that may use relays, a message of this size is always a rendezvous header. If the
/// program itself sends a message of this size, that is replaced by a rendezvous header, too. The
/// size is no multiple of the size of any number, so such messages are rare.
inline constexpr std::size_t kRendezvousHeaderBytes = 23;

using RendezvousHeaderBytes = std::array<std::byte, kRendezvousHeaderBytes>;

struct RendezvousHeader {
  /// The sender in MPI_COMM_WORLD, and the number of the message among those to this receiver.
  std::uint32_t src_rank = 0;
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
};

namespace detail {
inline constexpr std::array<std::byte, 3> kRendezvousMark{std::byte{'F'}, std::byte{'L'},
                                                          std::byte{'e'}};
}

[[nodiscard]] inline RendezvousHeaderBytes to_bytes(const RendezvousHeader& header) {
  RendezvousHeaderBytes bytes{};
  Writer writer(bytes);
  writer.bytes(detail::kRendezvousMark);
  writer.number(header.src_rank);
  writer.number(header.number);
  writer.number(header.size_bytes);
  return bytes;
}

/// @return nothing if the bytes are no rendezvous header, which only an error of the program can
/// cause
[[nodiscard]] inline std::optional<RendezvousHeader> parse_rendezvous_header(
    std::span<const std::byte, kRendezvousHeaderBytes> bytes) {
  Reader reader(bytes);
  auto mark = detail::kRendezvousMark;
  reader.bytes(mark);
  if (mark != detail::kRendezvousMark) return std::nullopt;
  RendezvousHeader header;
  header.src_rank = reader.number<std::uint32_t>();
  header.number = reader.number<std::uint64_t>();
  header.size_bytes = reader.number<std::uint64_t>();
  return header;
}

}  // namespace fairlead::relay
