// SPDX-License-Identifier: Apache-2.0
// Whatever bytes come: what is taken for a header is within the limits and has these bytes, what is
// taken for a job is usable, and an inbox survives any order of segments.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "fairlead/error.hpp"
#include "fairlead/relay/frame.hpp"
#include "fairlead/relay/proof.hpp"
#include "job.hpp"
#include "relay/messenger/inbox.hpp"

using namespace fairlead;

namespace {

void check(bool claim) {
  if (!claim) __builtin_trap();
}

void fuzz_frames(std::span<const std::byte> bytes) {
  intercept::relay::Inbox inbox;
  const std::vector<std::byte> payload(relay::kMaxSegmentBytes);
  while (bytes.size() >= relay::kFrameHeaderBytes) {
    const auto part = bytes.first<relay::kFrameHeaderBytes>();
    bytes = bytes.subspan(relay::kFrameHeaderBytes);
    const auto header = relay::parse_frame_header(part);
    if (!header) continue;
    check(header->payload_bytes() <= relay::kMaxSegmentBytes);
    check(header->hop < header->num_hops && header->num_hops <= relay::kMaxHops);
    check(std::memcmp(relay::to_bytes(*header).data(), part.data(), part.size()) == 0);
    const bool is_small = header->message_bytes <= (1U << 20);
    if (header->kind != relay::FrameKind::data || !is_small) continue;
    inbox.add(*header, std::span(payload).first(header->segment_bytes));
    if (header->digest % 4 == 0) (void)inbox.take(header->src_rank, header->message);
    if (header->digest % 16 == 1) inbox.refuse(header->src_rank, header->message);
  }
}

void fuzz_hello(std::span<const std::byte> bytes) {
  if (bytes.size() < relay::kHelloBytes) return;
  const auto part = bytes.first<relay::kHelloBytes>();
  const auto hello = relay::parse_hello(part);
  if (hello) check(std::memcmp(relay::to_bytes(*hello).data(), part.data(), part.size()) == 0);
}

void fuzz_job(std::span<const std::byte> bytes) {
  try {
    const auto job = router::parse_job({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    check(job.host < job.peers.size());
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const auto rest = bytes.subspan(1);
  switch (std::to_integer<int>(bytes[0]) % 4) {
    case 0:
      fuzz_hello(rest);
      break;
    case 1:
      fuzz_job(rest);
      break;
    default:
      fuzz_frames(rest);
  }
  return 0;
}
