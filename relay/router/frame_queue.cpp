// SPDX-License-Identifier: Apache-2.0
// Waiting for space and for frames.
#include "router/frame_queue.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

namespace fairlead::router {
namespace {

// What one batch takes at most.
constexpr std::size_t kMaxFramesAtOnce = 16;

asio::awaitable<void> wait(asio::steady_timer& timer) {
  asio::error_code cancelled;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

}  // namespace

void FrameQueue::push(Frame frame) {
  if (is_closed_) return;
  const std::size_t own_bytes = ahead_bytes_of_rank_[frame.header.src_rank];
  if (ahead_bytes_ > 0) {
    frame.others_ratio =
        static_cast<double>(ahead_bytes_ - own_bytes) / static_cast<double>(ahead_bytes_);
  }
  count_ahead(frame.header.src_rank, frame.size_bytes());
  add_size(frame.size_bytes());
  frames_.push_back(std::move(frame));
  has_frames_.cancel();
}

void FrameQueue::hold(const relay::FrameHeader& header) {
  is_held_ = true;
  const std::size_t size = relay::kFrameHeaderBytes + header.payload_bytes();
  count_ahead(header.src_rank, size);
  being_sent_.emplace_back(header.src_rank, size);
}

void FrameQueue::release(std::optional<Frame> rest) {
  is_held_ = false;
  forget_sent();
  if (rest && !is_closed_) {
    count_ahead(rest->header.src_rank, rest->size_bytes());
    add_size(rest->size_bytes());
    frames_.push_front(std::move(*rest));
  }
  if (!frames_.empty()) has_frames_.cancel();
}

void FrameQueue::count_ahead(std::uint32_t rank, std::size_t size) {
  ahead_bytes_of_rank_[rank] += size;
  ahead_bytes_ += size;
}

void FrameQueue::forget_sent() {
  for (const auto& [rank, size] : being_sent_) {
    ahead_bytes_of_rank_[rank] -= size;
    ahead_bytes_ -= size;
  }
  being_sent_.clear();
}

void FrameQueue::add_size(std::size_t size) {
  if (!is_full() && size_bytes_ + size >= kMaxBytes) restart_stall_time();
  size_bytes_ += size;
}

asio::awaitable<bool> FrameQueue::wait_for_space() {
  while (is_full() && !is_closed_) {
    const auto now = Clock::now();
    if (now >= stalls_at_) co_return false;
    // Setting the timer wakes all other waiters.
    const bool is_too_late = has_space_.expiry() > stalls_at_;
    if (is_too_late || now >= has_space_.expiry()) has_space_.expires_at(stalls_at_);
    co_await wait(has_space_);
  }
  co_return true;
}

asio::awaitable<std::vector<Frame>> FrameQueue::take() {
  forget_sent();
  is_awaited_ = true;
  while ((frames_.empty() || is_held_) && !is_closed_) co_await wait(has_frames_);
  is_awaited_ = false;
  std::vector<Frame> taken;
  if (is_closed_) co_return taken;
  while (!frames_.empty() && taken.size() < kMaxFramesAtOnce) {
    const std::size_t size = frames_.front().size_bytes();
    size_bytes_ -= size;
    being_sent_.emplace_back(frames_.front().header.src_rank, size);
    taken.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
  restart_stall_time();
  // Wakes those who wait.
  has_space_.expires_at(stalls_at_);
  co_return taken;
}

void FrameQueue::close() {
  is_closed_ = true;
  frames_.clear();
  size_bytes_ = 0;
  has_space_.cancel();
  has_frames_.cancel();
}

}  // namespace fairlead::router
