// SPDX-License-Identifier: Apache-2.0
// Makes pipes, and keeps those that are empty again.
#include "router/pipe_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace fairlead::router {

std::unique_ptr<Pipe> Pipe::make(int num_slots) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  auto pipe = std::make_unique<Pipe>(ends[0], ends[1]);
  const int size = num_slots * getpagesize();
  // Refused: the user has as many slots as the system allows.
  if (fcntl(pipe->inlet_, F_SETPIPE_SZ, size) < 0) return nullptr;
  return pipe;
}

Pipe::~Pipe() {
  close(outlet_);
  close(inlet_);
}

bool Pipe::is_full() const {
  pollfd inlet{.fd = inlet_, .events = POLLOUT, .revents = 0};
  return poll(&inlet, 1, 0) == 0;
}

ssize_t Pipe::fill(int socket, std::size_t max_bytes) {
  const ssize_t size = splice(socket, nullptr, inlet_, nullptr, max_bytes, SPLICE_F_NONBLOCK);
  if (size > 0) size_bytes_ += static_cast<std::size_t>(size);
  return size;
}

ssize_t Pipe::drain(int socket, std::size_t max_bytes, bool has_more) {
  const unsigned flags = SPLICE_F_NONBLOCK | (has_more ? SPLICE_F_MORE : 0U);
  const ssize_t size = splice(outlet_, nullptr, socket, nullptr, max_bytes, flags);
  if (size > 0) size_bytes_ -= static_cast<std::size_t>(size);
  return size;
}

ssize_t Pipe::fill(Pipe& from, std::size_t max_bytes) {
  const ssize_t size = fill(from.outlet_, max_bytes);
  if (size > 0) from.size_bytes_ -= static_cast<std::size_t>(size);
  return size;
}

ssize_t Pipe::read(std::span<std::byte> bytes) {
  const ssize_t size = ::read(outlet_, bytes.data(), bytes.size());
  if (size > 0) size_bytes_ -= static_cast<std::size_t>(size);
  return size;
}

ssize_t Pipe::write(std::span<const std::byte> bytes) {
  const ssize_t size = ::write(inlet_, bytes.data(), bytes.size());
  if (size > 0) size_bytes_ += static_cast<std::size_t>(size);
  return size;
}

PipePool::Lease PipePool::lease() {
  std::unique_ptr<Pipe> pipe;
  if (!idle_.empty()) {
    pipe = std::move(idle_.back());
    idle_.pop_back();
  } else if (const auto now = std::chrono::steady_clock::now();
             num_leased_ < max_pipes_ && now >= refused_until_) {
    pipe = Pipe::make(num_slots_);
    if (!pipe) refused_until_ = now + kRetryTime;
  }
  if (!pipe) return {};
  ++num_leased_;
  return {pipe.release(), Return{shared_from_this()}};
}

void PipePool::take_back(std::unique_ptr<Pipe> pipe) {
  --num_leased_;
  if (pipe->size_bytes() == 0) idle_.push_back(std::move(pipe));
}

}  // namespace fairlead::router
