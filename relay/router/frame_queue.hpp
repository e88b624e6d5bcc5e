// SPDX-License-Identifier: Apache-2.0
// Frames that wait for one connection: bounded, so that a slow hop slows down its senders.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "router/payload.hpp"
#include "wire/frame.hpp"

namespace fairlead::router {

using Clock = std::chrono::steady_clock;

struct Frame {
  relay::FrameHeader header;
  Payload payload;
  Clock::time_point arrived;
  /// Share of the bytes ahead of it in its queue that other processes had sent.
  double others_ratio = 0.0;
  /// Bytes of its header that have been sent already. The payload is then only what is left of it.
  std::size_t begun_bytes = 0;

  [[nodiscard]] std::size_t size_bytes() const {
    return relay::kFrameHeaderBytes + header.payload_bytes();
  }
};

class FrameQueue {
 public:
  /// The queue may exceed this by a frame for each connection that waited for space at the same
  /// time.
  static constexpr std::size_t kMaxBytes = std::size_t{4} * 1024 * 1024;
  /// If a queue was full for this long, and the other end took nothing, it has no space until the
  /// other end takes something. Its frames are dropped, so that they do not delay frames to others;
  /// senders repeat them.
  static constexpr std::chrono::seconds kStallTime{1};

  explicit FrameQueue(const asio::any_io_executor& executor)
      : has_space_(executor, Clock::time_point::max()),
        has_frames_(executor, Clock::time_point::max()) {}

  [[nodiscard]] bool is_full() const { return size_bytes_ >= kMaxBytes; }
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

  /// The other end has taken some of the bytes that are being sent.
  void restart_stall_time() { stalls_at_ = Clock::now() + kStallTime; }
  /// Frames of a closed queue are dropped.
  void push(Frame frame);
  /// Returns at once where there is space, or the queue is closed. False: it was full for too long.
  [[nodiscard]] asio::awaitable<bool> wait_for_space();
  /// Some frames in order; none when the queue is closed. Until the next call they count as ahead
  /// of new frames.
  [[nodiscard]] asio::awaitable<std::vector<Frame>> take();
  void close();

  /// Whether all has been sent, and the next frame could be sent at once.
  [[nodiscard]] bool is_idle() const { return is_awaited_ && frames_.empty() && !is_held_; }
  /// From now on no frame can be taken: the caller sends this frame itself.
  /// @pre is_idle()
  void hold(const relay::FrameHeader& header);
  /// Ends `hold`.
  /// @param rest  of that frame, which is to be taken first
  void release(std::optional<Frame> rest);

 private:
  void count_ahead(std::uint32_t rank, std::size_t size);
  void forget_sent();
  void add_size(std::size_t size);

  std::deque<Frame> frames_;
  std::size_t size_bytes_ = 0;
  // Including the bytes that are being sent.
  std::map<std::uint32_t, std::size_t> ahead_bytes_of_rank_;
  std::size_t ahead_bytes_ = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> being_sent_;
  bool is_closed_ = false;
  bool is_held_ = false;
  // Somebody waits for frames.
  bool is_awaited_ = false;
  // Its cancellation wakes those who wait. It expires when the stall time ends, or before.
  asio::steady_timer has_space_;
  Clock::time_point stalls_at_ = Clock::time_point::max();
  // Never expires.
  asio::steady_timer has_frames_;
};

}  // namespace fairlead::router
