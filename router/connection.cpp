// SPDX-License-Identifier: Apache-2.0
// Reads and writes frames.
#include "connection.hpp"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <limits>
#include <vector>

namespace fairlead::router {
namespace {

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
  asio::error_code failed;
  relay::FrameHeaderBytes bytes;
  co_await asio::async_read(socket_, asio::buffer(bytes),
                            asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return std::nullopt;
  const auto header = relay::parse_frame_header(bytes);
  is_garbage = !header;
  if (!header) co_return std::nullopt;
  Frame frame{.header = *header, .payload = nullptr, .arrived = Clock::now()};
  if (const auto size = header->payload_bytes()) {
    frame.payload = std::make_unique_for_overwrite<std::byte[]>(size);
    co_await asio::async_read(socket_, asio::buffer(frame.payload.get(), size),
                              asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return std::nullopt;
  }
  co_return frame;
}

asio::awaitable<void> Connection::write_all() {
  asio::error_code failed;
  std::vector<relay::FrameHeaderBytes> headers;
  std::vector<asio::const_buffer> parts;
  while (!failed) {
    std::vector<Frame> frames = co_await queue_.take();
    if (frames.empty()) break;
    const auto now = Clock::now();
    headers.clear();
    parts.clear();
    headers.reserve(frames.size());
    for (Frame& frame : frames) {
      add_held(frame, now);
      headers.push_back(relay::to_bytes(frame.header));
      parts.push_back(asio::buffer(headers.back()));
      if (frame.payload) parts.push_back(asio::buffer(frame.bytes().data(), frame.bytes().size()));
    }
    writing_since_ = now;
    co_await asio::async_write(socket_, parts, asio::redirect_error(asio::use_awaitable, failed));
    writing_since_.reset();
  }
  close();
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
