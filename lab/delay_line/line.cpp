// SPDX-License-Identifier: Apache-2.0
// An epoll loop over the TAP devices and one timer, which is set to the next frame that is due.
#include "line.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <span>
#include <system_error>
#include <utility>

namespace fairlead::delay_line {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
/// More frames than 1 Gbit/s sends in a second in jumbo frames; further ones are dropped.
constexpr std::size_t kMaxWaiting = 1 << 14;
constexpr int kMaxFramesAtOnce = 16;
constexpr std::uint64_t kAlarm = ~std::uint64_t{0};

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

void watch(const FileDescriptor& events, int descriptor, std::uint64_t name) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = name;
  checked(epoll_ctl(events.number(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

}  // namespace

Line::Line(std::vector<Tap> taps, HostTable hosts)
    : taps_(std::move(taps)),
      hosts_(std::move(hosts)),
      events_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      alarm_(
          checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")) {
  for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
    watch(events_, taps_[tap].descriptor(), tap);
  }
  watch(events_, alarm_.number(), kAlarm);
}

void Line::run() {
  std::array<epoll_event, 16> ready{};
  while (true) {
    const int count = epoll_wait(events_.number(), ready.data(), ready.size(), -1);
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "epoll_wait");
    }
    for (int index = 0; index < count; ++index) {
      const std::uint64_t name = ready[static_cast<std::size_t>(index)].data.u64;
      if (name != kAlarm) {
        take_in(static_cast<std::size_t>(name));
        continue;
      }
      std::uint64_t num_alarms = 0;
      [[maybe_unused]] const auto size = read(alarm_.number(), &num_alarms, sizeof num_alarms);
      alarm_ns_ = 0;
    }
    release_due();
    set_alarm();
  }
}

void Line::take_in(std::size_t tap) {
  for (int count = 0; count < kMaxFramesAtOnce; ++count) {
    FramePtr frame = empty_frame();
    frame->tap = tap;
    frame->size_bytes = taps_[tap].read(frame->bytes);
    const bool is_there = frame->size_bytes > 0;
    const auto ends = ends_of(frame->content());
    const auto hop = ends ? hosts_.hop(*ends) : std::nullopt;
    if (hop && waiting_.size() < kMaxWaiting) {
      readdress(frame->content(), hop->hardware);
      waiting_.push(now_ns() + hop->delay_ns, std::move(frame));
    } else {
      spare_.push_back(std::move(frame));
    }
    if (!is_there) return;
  }
}

void Line::release_due() {
  while (waiting_.is_due(now_ns())) {
    FramePtr frame = waiting_.pop();
    taps_[frame->tap].write(std::as_const(*frame).content());
    spare_.push_back(std::move(frame));
  }
}

void Line::set_alarm() {
  const std::int64_t next_ns = waiting_.is_empty() ? 0 : waiting_.next_due_ns();
  if (next_ns == alarm_ns_) return;
  itimerspec alarm{};
  alarm.it_value.tv_sec = next_ns / kNsPerS;
  alarm.it_value.tv_nsec = next_ns % kNsPerS;
  checked(timerfd_settime(alarm_.number(), TFD_TIMER_ABSTIME, &alarm, nullptr), "timerfd_settime");
  alarm_ns_ = next_ns;
}

Line::FramePtr Line::empty_frame() {
  if (spare_.empty()) return std::make_unique_for_overwrite<Frame>();
  FramePtr frame = std::move(spare_.back());
  spare_.pop_back();
  return frame;
}

}  // namespace fairlead::delay_line
