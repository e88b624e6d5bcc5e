// SPDX-License-Identifier: Apache-2.0
// Reads and writes frames.
#include "connection.hpp"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <limits>
#include <span>
#include <vector>

namespace fairlead::router {
namespace {

// Then others have their turn.
constexpr int kMaxReadsInTurn = 8;

// Tells the sender how long a frame has waited here because of others. The last hop has two
// routers, that before it and that of the receiver; acknowledgements bring back what data has met.
void add_held(Frame& frame, Clock::time_point now) {
  relay::FrameHeader& header = frame.header;
  if (header.kind != relay::FrameKind::data) return;
  const std::chrono::duration<double, std::micro> waited = now - frame.arrived;
  std::uint16_t& held = header.held_16us[header.hop];
  constexpr double kMax = std::numeric_limits<std::uint16_t>::max();
  held = static_cast<std::uint16_t>(
      std::clamp(held + waited.count() * frame.others_ratio / 16.0, 0.0, kMax));
}

}  // namespace

asio::awaitable<std::optional<Frame>> Connection::read(bool& is_garbage) {
  if (++num_reads_in_turn_ > kMaxReadsInTurn) {
    num_reads_in_turn_ = 0;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);
  }
  relay::FrameHeaderBytes bytes;
  std::span<std::byte> missing(bytes);
  Progress progress = receive(socket_.native_handle(), missing);
  while (progress == Progress::blocked) {
    co_await wait(Socket::wait_read);
    progress = receive(socket_.native_handle(), missing);
  }
  if (progress == Progress::ended) co_return std::nullopt;
  const auto header = relay::parse_frame_header(bytes);
  is_garbage = !header;
  if (!header) co_return std::nullopt;
  Frame frame{.header = *header,
              .payload = Payload(header->payload_bytes(), *pipes_),
              .arrived = Clock::now()};
  progress = frame.payload.receive(socket_.native_handle());
  while (progress == Progress::blocked) {
    co_await wait(Socket::wait_read);
    progress = frame.payload.receive(socket_.native_handle());
  }
  if (progress == Progress::ended) co_return std::nullopt;
  co_return frame;
}

asio::awaitable<void> Connection::write_all() {
  bool is_open = true;
  while (is_open) {
    std::vector<Frame> frames = co_await queue_.take();
    if (frames.empty()) break;
    const auto now = Clock::now();
    writing_since_ = now;
    for (std::size_t index = 0; is_open && index < frames.size(); ++index) {
      add_held(frames[index], now);
      is_open = co_await write(frames[index], index + 1 < frames.size());
    }
    writing_since_.reset();
  }
  close();
}

asio::awaitable<bool> Connection::write(Frame& frame, bool has_more) {
  const relay::FrameHeaderBytes bytes = relay::to_bytes(frame.header);
  std::span<const std::byte> unsent(bytes);
  const bool is_followed = has_more || frame.header.payload_bytes() > 0;
  while (true) {
    const int socket = socket_.native_handle();
    Progress progress = send(socket, unsent, is_followed);
    if (progress == Progress::complete) progress = frame.payload.send(socket, has_more);
    if (progress != Progress::blocked) co_return progress == Progress::complete;
    co_await wait(Socket::wait_write);
  }
}

// The greeting has made the socket one that does not block.
asio::awaitable<void> Connection::wait(Socket::wait_type readiness) {
  asio::error_code failed;
  co_await socket_.async_wait(readiness, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) close();
}

void Connection::close() {
  queue_.close();
  asio::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<bool> greet(Socket& socket, const relay::Hello& hello, const relay::Key& key) {
  asio::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  const relay::HelloBytes hello_bytes = relay::to_bytes(hello);
  co_await asio::async_write(socket, asio::buffer(hello_bytes), token);
  if (failed) co_return false;
  relay::AnswerBytes answer;
  co_await asio::async_read(socket, asio::buffer(answer), token);
  if (failed) co_return false;
  const auto proof = relay::check_answer(hello_bytes, answer, key);
  if (!proof) co_return false;
  co_await asio::async_write(socket, asio::buffer(*proof), token);
  co_return !failed;
}

}  // namespace fairlead::router
