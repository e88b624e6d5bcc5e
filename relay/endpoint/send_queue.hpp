// SPDX-License-Identifier: Apache-2.0
// What a process sends to one host: the paths, the rule by which messages take them, and the times
// of messages that the rule uses.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/endpoint_config.hpp"
#include "routing/link_table.hpp"
#include "routing/path_rule.hpp"

namespace fairlead::relay {

/// Whether the router of this host takes segments. Without it they go to the receiver itself.
enum class OwnRouter : std::uint8_t { absent, busy, ready };

/// A message, by its receiver and its number there.
struct MessageKey {
  std::uint32_t dst_rank;
  std::uint64_t number;
  friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

/// A part of a message.
struct SegmentKey {
  MessageKey message;
  std::size_t segment;
  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};

/// The mode of a message, and whether its time can be used.
struct Sending {
  /// As the rule chose it.
  TransferMode mode = TransferMode::striped;
  /// The mode of the segments that are still to be sent, if it has changed.
  std::optional<TransferMode> changed_mode{};
  std::uint64_t bytes = 0;
  Time began{};
  /// It had to wait for other messages to the same host.
  bool overlaps = false;
  /// The number of the queue's period when the message began.
  std::uint64_t period = 0;
  /// Other messages went in another mode at the same time, or it waited for the receiver.
  bool has_unusable_time = false;
  /// Its time is not passed to the rule. Either it was late and has left its mode, which the rule
  /// has already been notified of. Or it is no larger than a rendezvous header, so its time shows
  /// the processes and not the path.
  bool is_untimed = false;
  /// Where the rule takes one path for all of it.
  std::optional<std::size_t> path{};

  [[nodiscard]] TransferMode current_mode() const { return changed_mode.value_or(mode); }
};

struct SendQueue {
  /// Segments are sent again at the earliest after this time without an ack.
  static constexpr std::chrono::milliseconds kLeastTimeout{300};
  /// That time doubles up to the first limit where nothing is acknowledged, and grows up to the
  /// second limit where acks come too late (RFC 6298, 2.5).
  static constexpr std::chrono::milliseconds kLongestDoubled{8000};
  static constexpr std::chrono::milliseconds kLongestTimeout{60000};

  std::unique_ptr<PathRule> rule;
  /// The last one bypasses routers.
  std::vector<PathState> paths{};
  std::deque<SegmentKey> waiting{};
  std::uint64_t unacknowledged_bytes = 0;
  /// The current value of that time.
  Clock::duration least_timeout = kLeastTimeout;

  /// @param links  times of links, which all send queues update
  SendQueue(const EndpointConfig& config, std::size_t host,
            const std::shared_ptr<const LinkTable>& links, Time now);

  /// Whether there is more than the direct path, and that without routers.
  [[nodiscard]] bool has_choice() const { return paths.size() >= 3; }
  /// A message to this host is about to be sent. Called before its mode is selected.
  void resume_if_idle(Time now);
  /// When messages followed after a pause of the program; intervals that begin before show nothing.
  [[nodiscard]] Time resumed() const { return resumed_; }
  /// The mode of the next message. Messages that overlap go in the same mode: otherwise none of
  /// their times would be that of its mode.
  [[nodiscard]] TransferMode next_mode(std::uint64_t bytes, Time now);
  /// A message starts. If messages in another mode are in flight, neither its time nor theirs can
  /// be used.
  [[nodiscard]] Sending start(TransferMode mode, std::uint64_t bytes, Time now);
  /// The path of a segment; none if it has to wait.
  [[nodiscard]] std::optional<std::size_t> choose(Sending& sending, std::uint64_t bytes, Time now,
                                                  OwnRouter router);
  /// Whether the messages of this period may be late in their mode, which others could carry.
  [[nodiscard]] bool may_be_late(Time now) const;
  [[nodiscard]] bool is_of_period(const Sending& sending) const {
    return !sending.is_untimed && sending.period == period_;
  }
  /// Lets the messages of this period leave their mode if the next of them is late.
  /// @return the mode of the segments that are still to be sent
  [[nodiscard]] std::optional<TransferMode> leave_if_late(const Sending& next, Time now);
  /// That of the last timed message.
  [[nodiscard]] TransferMode mode() const { return mode_; }
  /// Bytes of a message are acknowledged for the first time.
  void arrive(const Sending& sending, std::uint64_t bytes);
  /// All of a message has arrived.
  void finish(const Sending& sending, Time now);
  /// An ack has come, this long after its segment was sent.
  void answer(std::chrono::microseconds took, bool is_in_time);
  /// Segments without routers were not acknowledged in time.
  void wait_longer();

 private:
  /// How far the messages of a period were at some time.
  struct Mark {
    Time time;
    std::uint64_t arrived_bytes;
  };

  [[nodiscard]] bool overlaps_next() const;
  void begin_period(Time now);
  void learn(const Sending& sending, Time now);

  /// That of the last timed message.
  TransferMode mode_ = TransferMode::striped;
  /// When the last message was to be sent.
  std::optional<Time> last_message_{};
  Time resumed_ = Time::min();
  /// Since when messages to this host overlap.
  Time busy_since_{};
  /// A period is a time in which messages overlap and go in the same mode. These are its number,
  /// and how much of its messages has arrived and has begun.
  std::uint64_t period_ = 0;
  std::uint64_t arrived_bytes_ = 0;
  std::uint64_t period_bytes_ = 0;
  /// Its beginning and the ends of its messages, only the last ones.
  std::deque<Mark> marks_{};
};

}  // namespace fairlead::relay
