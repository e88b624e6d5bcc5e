// SPDX-License-Identifier: Apache-2.0
// A connection whose other end has proved the job's key.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "router/frame_queue.hpp"
#include "router/intake.hpp"
#include "wire/proof.hpp"

namespace fairlead::router {

/// A Unix socket or a TCP connection.
using Socket = asio::generic::stream_protocol::socket;

/// Timeout for the other end to prove the key, and to take bytes that are sent to it.
inline constexpr std::chrono::seconds kHandshakeTime{2};
inline constexpr std::chrono::seconds kStallTime{10};

class Connection {
 public:
  Connection(Socket socket, Pipes pipes)
      : socket_(std::move(socket)),
        queue_(socket_.get_executor()),
        pipes_(std::move(pipes)),
        intake_(pipes_.batches) {}

  [[nodiscard]] FrameQueue& queue() { return queue_; }
  [[nodiscard]] Socket& socket() { return socket_; }
  /// Waits while the queue has no space and the other end still takes bytes.
  /// @return false if it takes nothing
  [[nodiscard]] asio::awaitable<bool> wait_for_space();
  /// Whether the other end has taken nothing of a write for too long, or sent nothing of a frame
  /// for which others wait.
  [[nodiscard]] bool is_stalled(Clock::time_point now);

  /// The header of the next frame; nothing at the end of the connection, or after bytes that are no
  /// frame.
  /// @param is_garbage  set in the last case
  [[nodiscard]] asio::awaitable<std::optional<relay::FrameHeader>> read_header(bool& is_garbage);
  /// The frame of a header that was read; nothing if the connection ends before.
  [[nodiscard]] asio::awaitable<std::optional<Frame>> read_frame(relay::FrameHeader header);
  /// Whether the frame can go on to another connection while it arrives.
  [[nodiscard]] bool may_pass(const relay::FrameHeader& header, const Connection& next);
  /// Sends the frame of a header that was read to another connection while it arrives. What that
  /// one does not take at once goes into its queue.
  /// @pre may_pass(header, next)
  /// @return false if this connection ends before the frame does
  [[nodiscard]] asio::awaitable<bool> pass(relay::FrameHeader header, Connection& next);
  /// Sends the frames of the queue until the connection ends.
  [[nodiscard]] asio::awaitable<void> write_all();
  void close();

 private:
  [[nodiscard]] asio::awaitable<bool> write(std::span<Frame> frames);
  // Repeated until it is complete.
  using Step = std::function<Progress()>;
  [[nodiscard]] asio::awaitable<bool> finish(Socket::wait_type readiness, const Step& step);
  [[nodiscard]] bool has_taken_some();
  void note_taken();

  Socket socket_;
  FrameQueue queue_;
  Pipes pipes_;
  Intake intake_;
  int num_reads_in_turn_ = 0;
  // The last time at which the other end took bytes, and the number of bytes that the socket still
  // had.
  std::optional<Clock::time_point> writing_since_;
  int unsent_bytes_ = 0;
  std::optional<Clock::time_point> passing_since_;
};

/// Proves the key to the one who answers, and asks for its proof. False: it has none.
[[nodiscard]] asio::awaitable<bool> shake_hands(Socket& socket, const relay::Hello& hello,
                                                const relay::Key& key);

}  // namespace fairlead::router
