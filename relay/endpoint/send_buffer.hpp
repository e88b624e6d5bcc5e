// SPDX-License-Identifier: Apache-2.0
// Messages that are being sent: cut into segments, each by the path on which it is expected to
// arrive first, and kept until the receiver has acknowledged them. Pure: no sockets, no threads, no
// clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "endpoint/endpoint_config.hpp"
#include "endpoint/send_queue.hpp"
#include "routing/message_class.hpp"
#include "routing/path_rule.hpp"
#include "routing/slowdown_detector.hpp"
#include "wire/frame.hpp"

namespace fairlead::relay {

using Payload = std::shared_ptr<const std::vector<std::byte>>;

/// A segment to be sent now.
struct Departure {
  FrameHeader header;
  Payload payload;
  /// Not by routers, but by a connection with the receiver.
  bool bypasses_routers = false;

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::span(*payload).subspan(header.offset_bytes, header.segment_bytes);
  }
};

class SendBuffer {
 public:
  /// Bytes that a receiver takes before it has matched their messages.
  static constexpr std::uint64_t kUnmatchedBytes = std::uint64_t{16} << 20U;
  /// Bytes of messages that are kept until they are acknowledged. Beyond that the MPI carries
  /// messages, and blocks a sender that is ahead of its receiver.
  static constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{256} << 20U;

  SendBuffer(const EndpointConfig& config, Time now);

  /// The mode of the next message to a rank. Messages to one host that overlap go in the same mode:
  /// otherwise none of their times would be that of its mode.
  [[nodiscard]] TransferMode mode_to(std::uint32_t dst_rank, std::uint64_t bytes, Time now);
  /// Whether there is space for a message of this size. One that is larger than the whole space may
  /// be kept alone.
  [[nodiscard]] bool has_space(std::uint64_t bytes) const {
    return kept_bytes_ == 0 || kept_bytes_ + bytes <= kMaxKeptBytes;
  }
  /// Whether routers are expected to be faster now, without a trial.
  [[nodiscard]] bool is_striping_worth(std::uint16_t host, std::uint64_t bytes) const;
  /// Reserves the number of a message, from 1 for each receiver.
  std::uint64_t reserve(std::uint32_t dst_rank);
  /// The message does not come.
  void give_up(std::uint32_t dst_rank, std::uint64_t number, std::uint64_t bytes, TransferMode mode,
               Time now);
  /// Takes a message.
  void add(std::uint32_t dst_rank, std::uint64_t number, Payload payload, TransferMode mode,
           Time now);
  /// The same with the next number, which it returns.
  std::uint64_t add(std::uint32_t dst_rank, Payload payload, TransferMode mode, Time now) {
    const std::uint64_t number = reserve(dst_rank);
    add(dst_rank, number, std::move(payload), mode, now);
    return number;
  }
  /// The next segment for which a path has space.
  [[nodiscard]] std::optional<Departure> next(Time now, OwnRouter router);

  void acknowledge(const FrameHeader& header, Time now);
  void match(std::uint32_t dst_rank, std::uint64_t message);
  void reject(std::uint32_t dst_rank, std::uint64_t message, Time now);
  /// Segments without an ack after their timeout will be sent again; closes their paths for a
  /// while.
  void expire(Time now);
  /// The unsent segments of messages that are late on the direct path may take other paths.
  void leave_late(Time now);
  /// The own router has ended: all that was sent by it without an ack will be sent again.
  void lose_router();
  /// The connection with a receiver has ended: all that was sent to it without routers and without
  /// an ack will be sent again.
  void lose_connection(std::uint32_t dst_rank);

  [[nodiscard]] bool is_empty() const { return messages_.empty(); }
  [[nodiscard]] const std::vector<PathState>& paths_to(std::uint16_t host) const {
    return queues_[host].paths;
  }
  /// The use of each of these paths but the last one, for later runs; empty where nothing is to be
  /// kept.
  [[nodiscard]] std::vector<PathUse> uses_of_paths_to(std::uint16_t host) const {
    return queues_[host].rule->uses();
  }
  /// What acks have shown of hops.
  [[nodiscard]] const LinkTable& links() const { return *links_; }

 private:
  struct Message {
    Payload payload;
    std::vector<bool> is_acknowledged;
    std::size_t num_left = 0;
    Sending sending{};
    bool is_matched = false;
  };
  struct InFlight {
    std::size_t path;
    std::uint64_t bytes;
    /// With itself, at its start.
    std::uint64_t bytes_ahead;
    Time sent;
    Time expires;
  };
  /// State of messages of one class.
  struct ClassState {
    SlowdownDetector detector;
    TransferMode last_mode = TransferMode::mpi;
  };

  [[nodiscard]] TransferMode choose_mode(SendQueue& queue, std::uint64_t bytes, Time now);
  [[nodiscard]] bool may_go(const MessageKey& key, const Message& message) const;
  [[nodiscard]] std::optional<Departure> next_of(SendQueue& queue, Time now, OwnRouter router);
  void learn(PathState& path, const InFlight& sent, const FrameHeader& header, Time now);
  [[nodiscard]] Departure depart(SendQueue& queue, std::size_t path, const SegmentKey& segment,
                                 Time now);
  void remove_unmatched(const MessageKey& key);
  void erase(std::map<MessageKey, Message>::iterator message);
  [[nodiscard]] bool bypasses_routers(const SegmentKey& segment, const InFlight& sent) const;
  void take_back(std::map<SegmentKey, InFlight>::iterator found);
  void leave_late(std::uint16_t host, Time now);
  [[nodiscard]] std::uint64_t size_of(const SegmentKey& segment) const;

  std::uint32_t rank_;
  std::uint16_t host_;
  std::vector<std::uint16_t> host_of_rank_;
  bool is_rehearsal_;
  /// Shared with the rules of all send queues.
  std::shared_ptr<LinkTable> links_;
  std::vector<SendQueue> queues_;
  std::vector<std::uint64_t> last_number_of_rank_;
  /// Messages that are announced, and whether their receiver has matched or rejected them already:
  /// it may get the rendezvous header before this buffer gets the message.
  std::map<MessageKey, bool> reserved_;
  /// Bytes at receivers, or in flight to them, of messages that are not matched yet.
  std::map<MessageKey, std::uint64_t> unmatched_;
  std::vector<std::uint64_t> unmatched_bytes_of_rank_;
  std::map<MessageKey, Message> messages_;
  std::uint64_t kept_bytes_ = 0;
  std::map<SegmentKey, InFlight> in_flight_;
  std::size_t next_queue_ = 0;
  std::map<MessageClass, ClassState> state_of_class_;
};

}  // namespace fairlead::relay
