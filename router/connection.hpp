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

#include "fairlead/relay/proof.hpp"
#include "frame_queue.hpp"
#include "intake.hpp"

namespace fairlead::router {

/// A Unix socket or a TCP connection.
using Socket = asio::generic::stream_protocol::socket;

/// How long another end may take to prove the key, and to take what is sent to it.
inline constexpr std::chrono::seconds kGreetingTime{2};
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
  /// Whether the other end has taken nothing of a write for too long.
  [[nodiscard]] bool is_stalled(Clock::time_point now) const {
    return writing_since_ && now - *writing_since_ > kStallTime;
  }

  /// The next frame; nothing at the end of the connection, or after bytes that are no frame.
  /// @param is_garbage  set in the last case
  [[nodiscard]] asio::awaitable<std::optional<Frame>> read(bool& is_garbage);
  /// Sends what comes into the queue until the connection ends.
  [[nodiscard]] asio::awaitable<void> write_all();
  void close();

 private:
  [[nodiscard]] asio::awaitable<bool> write(std::span<Frame> frames);
  // Repeated until it is complete.
  using Step = std::function<Progress()>;
  [[nodiscard]] asio::awaitable<bool> finish(Socket::wait_type readiness, const Step& step);

  Socket socket_;
  FrameQueue queue_;
  Pipes pipes_;
  Intake intake_;
  int num_reads_in_turn_ = 0;
  std::optional<Clock::time_point> writing_since_;
};

/// Proves the key to the one who answers, and asks for its proof. False: it has none.
[[nodiscard]] asio::awaitable<bool> greet(Socket& socket, const relay::Hello& hello,
                                          const relay::Key& key);

}  // namespace fairlead::router
