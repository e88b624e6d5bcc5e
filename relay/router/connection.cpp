// SPDX-License-Identifier: Apache-2.0
// Reads and writes frames.
#include "router/connection.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

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
#include <utility>
#include <vector>

namespace fairlead::router {
namespace {

// After this many reads other connections have their turn.
constexpr int kMaxReadsInTurn = 16;
// Least size of a part that is forwarded before the rest of its frame has come: smaller ones cost
// more than they gain.
constexpr std::size_t kLeastPartBytes = Payload::kMinSplicedBytes;

// Shows the sender how long a frame has waited here because of others. The last hop has two
// routers, the one before it and that of the receiver. Acks return the waiting times of data
// frames.
void add_held(Frame& frame, Clock::time_point now) {
  relay::FrameHeader& header = frame.header;
  if (header.kind != relay::FrameKind::data || frame.begun_bytes > 0) return;
  const std::chrono::duration<double, std::micro> waited = now - frame.arrived;
  std::uint16_t& held = header.held_16us[header.hop];
  constexpr double kMax = std::numeric_limits<std::uint16_t>::max();
  held = static_cast<std::uint16_t>(
      std::clamp(held + waited.count() * frame.others_ratio / 16.0, 0.0, kMax));
}

// Bytes in the system's queue of a socket that the other end has not taken, or not acknowledged.
int unsent_bytes(Socket& socket) {
  int bytes = 0;
  return ioctl(socket.native_handle(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace

// Repeats a step that may be blocked until it is complete. False: the connection has ended.
// The handshake has made the socket one that does not block.
asio::awaitable<bool> Connection::finish(Socket::wait_type readiness, const Step& step) {
  Progress progress = step();
  while (progress == Progress::blocked) {
    if (writing_since_ && readiness == Socket::wait_write) unsent_bytes_ = unsent_bytes(socket_);
    asio::error_code failed;
    co_await socket_.async_wait(readiness, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {
      // Its number may be that of another socket soon.
      close();
      co_return false;
    }
    // The other end has taken or sent something.
    if (writing_since_ && readiness == Socket::wait_write) note_taken();
    if (passing_since_ && readiness == Socket::wait_read) passing_since_ = Clock::now();
    progress = step();
  }
  co_return progress == Progress::complete;
}

void Connection::note_taken() {
  writing_since_ = Clock::now();
  queue_.restart_stall_time();
}

// Called while a write is blocked. The system reports a large buffer as ready only when a third of
// it or more is free, which takes long where the other end is slow.
bool Connection::has_taken_some() {
  if (!writing_since_) return false;
  const int left_bytes = unsent_bytes(socket_);
  return left_bytes < std::exchange(unsent_bytes_, left_bytes);
}

asio::awaitable<bool> Connection::wait_for_space() {
  while (true) {
    // Awaited in the condition of a loop, it crashes as compiled by GCC 12.
    const bool has_space = co_await queue_.wait_for_space();
    if (has_space || !has_taken_some()) co_return has_space;
    note_taken();
  }
}

bool Connection::is_stalled(Clock::time_point now) {
  if (has_taken_some()) note_taken();
  return (writing_since_ && now - *writing_since_ > kStallTime) ||
         (passing_since_ && now - *passing_since_ > FrameQueue::kStallTime);
}

asio::awaitable<std::optional<relay::FrameHeader>> Connection::read_header(bool& is_garbage) {
  if (++num_reads_in_turn_ > kMaxReadsInTurn) {
    num_reads_in_turn_ = 0;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);
  }
  relay::FrameHeaderBytes bytes;
  std::span<std::byte> missing(bytes);
  const Step read_header = [&] { return intake_.read(socket_.native_handle(), missing); };
  if (!co_await finish(Socket::wait_read, read_header)) co_return std::nullopt;
  const auto header = relay::parse_frame_header(bytes);
  is_garbage = !header;
  co_return header;
}

asio::awaitable<std::optional<Frame>> Connection::read_frame(relay::FrameHeader header) {
  Frame frame{.header = header,
              .payload = Payload(header.payload_bytes(), *pipes_.payloads),
              .arrived = Clock::now()};
  const Step read_payload = [&] { return frame.payload.receive(intake_, socket_.native_handle()); };
  if (!co_await finish(Socket::wait_read, read_payload)) co_return std::nullopt;
  co_return frame;
}

bool Connection::may_pass(const relay::FrameHeader& header, const Connection& next) {
  // If other frames have already arrived behind this one, all of them are sent with one call.
  const bool is_followed = intake_.size_bytes() > header.payload_bytes();
  return header.payload_bytes() >= kLeastPartBytes && !is_followed && next.queue_.is_idle() &&
         intake_.has_pipe();
}

asio::awaitable<bool> Connection::pass(relay::FrameHeader header, Connection& next) {
  next.queue_.hold(header);
  passing_since_ = Clock::now();
  const relay::FrameHeaderBytes bytes = relay::to_bytes(header);
  std::span<const std::byte> unsent(bytes);
  std::size_t missing_bytes = header.payload_bytes();
  const Step fill = [&] {
    return intake_.fill(socket_.native_handle(), std::min(missing_bytes, kLeastPartBytes));
  };
  while (missing_bytes > 0 && co_await finish(Socket::wait_read, fill)) {
    const int to_socket = next.socket_.native_handle();
    Progress sent = send(to_socket, unsent, true);
    if (sent == Progress::complete) sent = intake_.pass(to_socket, missing_bytes);
    if (sent != Progress::complete) break;
  }
  bool is_whole = true;
  std::optional<Frame> rest;
  if (missing_bytes > 0) {
    rest.emplace(Frame{.header = header,
                       .payload = Payload(missing_bytes, *pipes_.payloads),
                       .arrived = Clock::now(),
                       .begun_bytes = bytes.size() - unsent.size()});
    const Step receive = [&] { return rest->payload.receive(intake_, socket_.native_handle()); };
    is_whole = co_await finish(Socket::wait_read, receive);
    // A frame that was begun has to be completed, or the frames behind it would be lost, too. The
    // receiver drops it because of its digest.
    if (!is_whole) rest->payload.pad();
  }
  passing_since_.reset();
  next.queue_.release(std::move(rest));
  co_return is_whole;
}

asio::awaitable<void> Connection::write_all() {
  bool is_open = true;
  while (is_open) {
    std::vector<Frame> frames = co_await queue_.take();
    if (frames.empty()) break;
    const auto now = Clock::now();
    writing_since_ = now;
    for (Frame& frame : frames) add_held(frame, now);
    is_open = co_await write(frames);
    writing_since_.reset();
  }
  close();
}

asio::awaitable<bool> Connection::write(std::span<Frame> frames) {
  // A frame alone is two system calls without a pipe, and three with one.
  Output output(socket_.native_handle(),
                frames.size() > 1 ? pipes_.batches->lease() : PipePool::Lease());
  for (std::size_t index = 0; index < frames.size(); ++index) {
    Frame& frame = frames[index];
    const relay::FrameHeaderBytes bytes = relay::to_bytes(frame.header);
    std::span<const std::byte> unsent = std::span(bytes).subspan(frame.begun_bytes);
    const bool has_more = index + 1 < frames.size();
    const Step write_frame = [&] {
      const Progress progress = output.write(unsent, has_more || frame.header.payload_bytes() > 0);
      return progress == Progress::complete ? frame.payload.send(output, has_more) : progress;
    };
    if (!co_await finish(Socket::wait_write, write_frame)) co_return false;
    // Its pipe is used again for the next frame.
    frame.payload = {};
  }
  const Step flush = [&] { return output.flush(); };
  co_return co_await finish(Socket::wait_write, flush);
}

void Connection::close() {
  queue_.close();
  asio::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<bool> shake_hands(Socket& socket, const relay::Hello& hello,
                                  const relay::Key& key) {
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
