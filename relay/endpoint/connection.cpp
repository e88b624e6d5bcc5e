// SPDX-License-Identifier: Apache-2.0
// Handshakes, and frames to and from a socket.
#include "endpoint/connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <algorithm>
#include <cerrno>

namespace fairlead::relay {

namespace {
constexpr int kMaxReads = 64;
}

Connection::Connection(FileDescriptor socket, const Key& key, Step step)
    : socket_(std::move(socket)), key_(key), step_(step) {}

Connection Connection::calling(FileDescriptor socket, std::uint32_t rank, const Key& key) {
  Connection connection(std::move(socket), key, Step::answer);
  connection.hello_ = to_bytes(make_hello(Role::process, rank, key));
  connection.send_handshake(connection.hello_);
  connection.expect(kAnswerBytes);
  return connection;
}

Connection Connection::answering(FileDescriptor socket, const Key& key) {
  Connection connection(std::move(socket), key, Step::hello);
  connection.expect(kHelloBytes);
  return connection;
}

Connection::Part Connection::part_of(std::span<const std::byte> bytes) {
  Part part;
  std::copy(bytes.begin(), bytes.end(), part.start.begin());
  part.start_bytes = bytes.size();
  return part;
}

void Connection::send_handshake(std::span<const std::byte> bytes) {
  handshake_.push_back(part_of(bytes));
}

void Connection::put(const FrameHeader& header, Payload payload) {
  if (payload && renew(header, payload)) return;
  Part part = part_of(to_bytes(header));
  if (payload) {
    part.payload = std::move(payload);
    part.offset = header.offset_bytes;
    part.size = header.segment_bytes;
  }
  if (waiting_.empty()) last_taken_ = Clock::now();
  waiting_bytes_ += part.start_bytes + part.size;
  waiting_.push_back(std::move(part));
}

// Whether the segment waits already.
bool Connection::renew(const FrameHeader& header, const Payload& payload) {
  const auto same = std::ranges::find_if(waiting_, [&](const Part& each) {
    return each.payload == payload && each.offset == header.offset_bytes;
  });
  if (same == waiting_.end()) return false;
  if (same->written == 0) same->start = to_bytes(header);
  return true;
}

void Connection::write() {
  // No frame before the proof.
  if (write_from(handshake_) && is_open()) write_from(waiting_);
}

// Whether all of it could be written.
bool Connection::write_from(std::deque<Part>& parts) {
  while (!is_closed() && !parts.empty()) {
    Part& part = parts.front();
    std::array<iovec, 2> vectors{};
    int num_vectors = 0;
    const auto add = [&](const std::byte* bytes, std::size_t size) {
      vectors[static_cast<std::size_t>(num_vectors++)] = {const_cast<std::byte*>(bytes), size};
    };
    if (part.written < part.start_bytes) {
      add(part.start.data() + part.written, part.start_bytes - part.written);
    }
    const std::size_t done = part.written - std::min(part.written, part.start_bytes);
    if (done < part.size) add(part.payload->data() + part.offset + done, part.size - done);
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = static_cast<std::size_t>(num_vectors);
    const ssize_t size = sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EINTR) continue;
      // Not connected yet, in the case of ENOTCONN.
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOTCONN) close();
      return false;
    }
    last_taken_ = Clock::now();
    part.written += static_cast<std::size_t>(size);
    if (&parts == &waiting_) waiting_bytes_ -= static_cast<std::size_t>(size);
    if (part.written == part.start_bytes + part.size) parts.pop_front();
  }
  return !is_closed();
}

void Connection::expect(std::size_t bytes) {
  incoming_.resize(bytes);
  num_read_ = 0;
}

void Connection::read(const OnFrame& on_frame) {
  // A bounded number at a time: answers have to be written, too.
  for (int turn = 0; turn < kMaxReads && !is_closed(); ++turn) {
    const ssize_t size = recv(socket_.number(), incoming_.data() + num_read_,
                              incoming_.size() - num_read_, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (size <= 0) return close();
    num_read_ += static_cast<std::size_t>(size);
    if (num_read_ == incoming_.size()) take_read(on_frame);
  }
}

void Connection::take_read(const OnFrame& on_frame) {
  if (step_ != Step::frames) return take_handshake();
  if (!has_header_) {
    const auto header = parse_frame_header(std::span(incoming_).first<kFrameHeaderBytes>());
    if (!header) return close();
    header_ = *header;
    has_header_ = header_.payload_bytes() > 0;
    if (has_header_) return expect(header_.payload_bytes());
    on_frame(header_, {});
  } else {
    has_header_ = false;
    on_frame(header_, incoming_);
  }
  expect(kFrameHeaderBytes);
}

void Connection::take_handshake() {
  if (step_ == Step::hello) {
    std::copy(incoming_.begin(), incoming_.end(), hello_.begin());
    const auto hello = parse_hello(hello_);
    if (!hello || hello->role != Role::process || hello->job != job_of(key_)) return close();
    answer_ = make_answer(hello_, key_);
    send_handshake(std::span(answer_).first<kNonceBytes>());
    send_handshake(std::span(answer_).subspan<kNonceBytes>());
    step_ = Step::proof;
    return expect(kProofBytes);
  }
  if (step_ == Step::answer) {
    std::copy(incoming_.begin(), incoming_.end(), answer_.begin());
    const auto proof = check_answer(hello_, answer_, key_);
    if (!proof) return close();
    send_handshake(*proof);
  } else {
    Proof proof{};
    std::copy(incoming_.begin(), incoming_.end(), proof.begin());
    if (!check_proof(hello_, answer_, proof, key_)) return close();
  }
  step_ = Step::frames;
  expect(kFrameHeaderBytes);
}

void Connection::close() {
  socket_.close();
  handshake_.clear();
  waiting_.clear();
  waiting_bytes_ = 0;
}

}  // namespace fairlead::relay
