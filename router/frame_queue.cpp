// SPDX-License-Identifier: Apache-2.0
// Waiting for room and for frames.
#include "frame_queue.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

namespace fairlead::router {
namespace {

// What one gathering write takes at most.
constexpr std::size_t kMaxFramesAtOnce = 8;

asio::awaitable<void> wait(asio::steady_timer& timer) {
  asio::error_code cancelled;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

}  // namespace

void FrameQueue::push(Frame frame) {
  if (is_closed_) return;
  size_bytes_ += frame.size_bytes();
  frames_.push_back(std::move(frame));
  has_frames_.cancel();
}

asio::awaitable<void> FrameQueue::wait_for_room() {
  while (is_full() && !is_closed_) co_await wait(has_room_);
}

asio::awaitable<std::vector<Frame>> FrameQueue::take() {
  while (frames_.empty() && !is_closed_) co_await wait(has_frames_);
  std::vector<Frame> taken;
  if (is_closed_) co_return taken;
  while (!frames_.empty() && taken.size() < kMaxFramesAtOnce) {
    size_bytes_ -= frames_.front().size_bytes();
    taken.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
  has_room_.cancel();
  co_return taken;
}

void FrameQueue::close() {
  is_closed_ = true;
  frames_.clear();
  size_bytes_ = 0;
  has_room_.cancel();
  has_frames_.cancel();
}

}  // namespace fairlead::router
