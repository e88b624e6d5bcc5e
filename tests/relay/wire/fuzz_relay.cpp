// SPDX-License-Identifier: Apache-2.0
// Whatever bytes come: what is taken for a header is within the limits and has these bytes, what is
// taken for a job is usable, a reassembly buffer survives any order of segments, and a connection
// takes no frame before the proof of the key, and after it those that are sent.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoint/connection.hpp"
#include "endpoint/reassembly_buffer.hpp"
#include "fairlead/error.hpp"
#include "router/job.hpp"
#include "wire/frame.hpp"
#include "wire/hop_times.hpp"
#include "wire/proof.hpp"

using namespace fairlead;
using relay::Connection;

namespace {

void check(bool claim) {
  if (!claim) __builtin_trap();
}

constexpr std::size_t kSeedBytes = 8;
constexpr std::size_t kMaxFrames = 16;

// Random bytes are a header too seldom, so a valid one is made of a few.
// @param most_bytes  of a message, in addition to 255
relay::FrameHeader header_of(std::span<const std::byte, kSeedBytes> seed,
                             std::uint64_t most_bytes) {
  const auto number = [&seed](std::size_t index) {
    return std::to_integer<std::uint8_t>(seed[index]);
  };
  relay::FrameHeader header;
  header.kind = static_cast<relay::FrameKind>(1 + std::max(number(0) % 12 - 6, 0));
  header.num_hops = static_cast<std::uint8_t>(1 + number(1) % relay::kMaxHops);
  header.hop = number(1) / relay::kMaxHops % header.num_hops;
  header.connection = number(2) % relay::kMaxConnections;
  header.src_rank = number(2) / relay::kMaxConnections % 2;
  header.message = number(3);
  header.message_bytes = number(4) % 8 * most_bytes / 8 + number(5);
  const std::uint64_t offset = std::uint64_t{number(6)} % 4 * relay::kMaxSegmentBytes;
  header.offset_bytes = offset < header.message_bytes ? offset : 0;
  const std::uint64_t rest = header.message_bytes - header.offset_bytes;
  const std::uint64_t most = number(6) / 4 == 0 ? number(7) : relay::kMaxSegmentBytes;
  header.segment_bytes = static_cast<std::uint32_t>(std::min(rest, most));
  header.digest = number(7);
  return header;
}

// What a router does with the times of hops, and the source.
void take_times(relay::FrameHeader header) {
  relay::stamp_departure(header, 5);
  relay::note_return(header, 7);
  const auto hops_s = relay::seconds_of_hops(header, 1.0);
  if (!hops_s) return;
  check(hops_s->size() == header.num_hops);
  check(std::ranges::all_of(*hops_s, [](double hop_s) { return hop_s >= 0.0 && hop_s < 1.1; }));
}

void take(relay::ReassemblyBuffer& buffer,
          std::span<const std::byte, relay::kFrameHeaderBytes> bytes) {
  static const std::vector<std::byte> payload(relay::kMaxSegmentBytes);
  const auto header = relay::parse_frame_header(bytes);
  if (!header) return;
  check(header->payload_bytes() <= relay::kMaxSegmentBytes);
  check(header->hop < header->num_hops && header->num_hops <= relay::kMaxHops);
  check(std::memcmp(relay::to_bytes(*header).data(), bytes.data(), bytes.size()) == 0);
  take_times(*header);
  const bool is_small = header->message_bytes <= (1U << 20);
  if (header->kind != relay::FrameKind::data || !is_small) return;
  buffer.add(*header, std::span(payload).first(header->segment_bytes));
  if (header->digest % 4 == 0) (void)buffer.take(header->src_rank, header->message);
  if (header->digest % 16 == 1) buffer.reject(header->src_rank, header->message);
}

void fuzz_frames(std::span<const std::byte> bytes) {
  relay::ReassemblyBuffer buffer;
  for (; bytes.size() >= relay::kFrameHeaderBytes;
       bytes = bytes.subspan(relay::kFrameHeaderBytes)) {
    take(buffer, bytes.first<relay::kFrameHeaderBytes>());
  }
}

void fuzz_valid_frames(std::span<const std::byte> bytes) {
  relay::ReassemblyBuffer buffer;
  bytes = bytes.first(std::min(bytes.size(), kMaxFrames * kSeedBytes));
  for (; bytes.size() >= kSeedBytes; bytes = bytes.subspan(kSeedBytes)) {
    const auto header = to_bytes(header_of(bytes.first<kSeedBytes>(), 4 * relay::kMaxSegmentBytes));
    check(relay::parse_frame_header(header).has_value());
    take(buffer, header);
  }
}

void fuzz_hello(std::span<const std::byte> bytes) {
  if (bytes.size() < relay::kHelloBytes) return;
  const auto part = bytes.first<relay::kHelloBytes>();
  const auto hello = relay::parse_hello(part);
  if (hello) check(std::memcmp(relay::to_bytes(*hello).data(), part.data(), part.size()) == 0);
}

void fuzz_job(std::span<const std::byte> bytes) {
  const std::string_view line{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  try {
    if (router::parse_ended(line)) return;
    const auto job = router::parse_job(line);
    check(job.host < job.peers.size());
  } catch (const InputError&) {
  }
}

struct Ends {
  Ends() {
    std::array<int, 2> numbers{};
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, numbers.data()) == 0);
    near = FileDescriptor(numbers[0]);
    far = FileDescriptor(numbers[1]);
  }

  FileDescriptor near;
  FileDescriptor far;
};

const relay::Key kKey{};

void send_all(const FileDescriptor& end, std::span<const std::byte> bytes) {
  const ssize_t size = send(end.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  check(bytes.empty() || size == static_cast<ssize_t>(bytes.size()));
}

void receive_all(const FileDescriptor& end, std::span<std::byte> bytes) {
  const ssize_t size = recv(end.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  check(size == static_cast<ssize_t>(bytes.size()));
}

// In parts, which end anywhere in a frame.
void read_parts(Connection& connection, const FileDescriptor& end, std::span<const std::byte> bytes,
                const Connection::OnFrame& on_frame) {
  constexpr std::size_t kPartBytes = 1000;
  while (!bytes.empty() && !connection.is_closed()) {
    const auto part = bytes.first(std::min(bytes.size(), kPartBytes));
    bytes = bytes.subspan(part.size());
    send_all(end, part);
    connection.read(on_frame);
  }
}

void fuzz_handshake(std::span<const std::byte> bytes, bool is_calling) {
  Ends ends;
  Connection connection = is_calling ? Connection::calling(std::move(ends.near), 0, kKey)
                                     : Connection::answering(std::move(ends.near), kKey);
  read_parts(connection, ends.far, bytes, [](auto&, auto) { check(false); });
  check(!connection.is_open());
}

Connection shake_hands(Ends& ends) {
  Connection connection = Connection::answering(std::move(ends.near), kKey);
  const auto none = [](auto&, auto) { check(false); };
  const auto hello = to_bytes(relay::make_hello(relay::Role::process, 1, kKey));
  send_all(ends.far, hello);
  connection.read(none);
  connection.write();
  relay::AnswerBytes answer;
  receive_all(ends.far, answer);
  const auto proof = relay::check_answer(hello, answer, kKey);
  check(proof.has_value());
  send_all(ends.far, *proof);
  connection.read(none);
  check(connection.is_open());
  return connection;
}

void fuzz_connection(std::span<const std::byte> bytes) {
  Ends ends;
  Connection connection = shake_hands(ends);
  std::span<const std::byte> rest = bytes;
  const auto take = [&rest](std::span<const std::byte> part) {
    check(part.size() <= rest.size() && std::memcmp(part.data(), rest.data(), part.size()) == 0);
    rest = rest.subspan(part.size());
  };
  read_parts(connection, ends.far, bytes,
             [&](const relay::FrameHeader& header, std::span<const std::byte> payload) {
               check(payload.size() == header.payload_bytes());
               take(relay::to_bytes(header));
               if (!payload.empty()) take(payload);
             });
  // What is left is a part of a frame, or no frame.
  const bool has_header = rest.size() >= relay::kFrameHeaderBytes;
  const auto header =
      has_header ? relay::parse_frame_header(rest.first<relay::kFrameHeaderBytes>()) : std::nullopt;
  check(connection.is_closed() == (has_header && !header));
  if (header) check(rest.size() < relay::kFrameHeaderBytes + header->payload_bytes());
}

// Frames with their payloads, and what is left.
void fuzz_connection_with_frames(std::span<const std::byte> bytes) {
  std::vector<std::byte> stream;
  bytes = bytes.first(std::min(bytes.size(), kMaxFrames * kSeedBytes));
  while (bytes.size() >= kSeedBytes && bytes.front() != std::byte{0}) {
    const relay::FrameHeader header = header_of(bytes.first<kSeedBytes>(), 0);
    const auto start = to_bytes(header);
    stream.insert(stream.end(), start.begin(), start.end());
    stream.resize(stream.size() + header.payload_bytes());
    bytes = bytes.subspan(kSeedBytes);
  }
  stream.insert(stream.end(), bytes.begin(), bytes.end());
  fuzz_connection(stream);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const auto rest = bytes.subspan(1);
  switch (std::to_integer<int>(bytes[0]) % 8) {
    case 0:
      fuzz_hello(rest);
      break;
    case 1:
      fuzz_job(rest);
      break;
    case 2:
    case 3:
      fuzz_handshake(rest, bytes[0] == std::byte{2});
      break;
    case 4:
      fuzz_connection(rest);
      break;
    case 5:
      fuzz_connection_with_frames(rest);
      break;
    case 6:
      fuzz_valid_frames(rest);
      break;
    default:
      fuzz_frames(rest);
  }
  return 0;
}
