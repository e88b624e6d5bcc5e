// SPDX-License-Identifier: Apache-2.0
#include "endpoint/send_queue.hpp"

#include <algorithm>
#include <span>

#include "routing/path_rules.hpp"
#include "wire/frame.hpp"
#include "wire/rendezvous_header.hpp"

namespace fairlead::relay {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

// After this time the mode is selected anew, also among messages that overlap.
constexpr milliseconds kLongestSameMode{250};
// The last segments to be acknowledged have usually arrived already: their acks are in transit.
constexpr std::uint64_t kLastBytes = std::uint64_t{2} * kMaxSegmentBytes;
// Number of overlapping messages that are timed together: acks may come in batches.
constexpr std::size_t kTimedTogether = 4;

}  // namespace

SendQueue::SendQueue(const EndpointConfig& config, std::size_t host,
                     const std::shared_ptr<const LinkTable>& links, Time now) {
  const std::vector<HostPath> planned =
      with_connections(config.rule, config.paths_of_host[host], config.paths_of_host.size());
  const auto seed = static_cast<std::uint32_t>(config.rank * config.paths_of_host.size() + host);
  rule =
      config.rule == RuleName::mcm
          ? make_mcm_rule(planned, config.zones, links, config.host, seed)
          : make_trial_rule(planned, config.capacity_Bps_of_host[host], now, config.is_rehearsal);
  for (const HostPath& path : planned) paths.push_back(PathState::by(path, now));
  paths.push_back(PathState::without_routers(now));
}

// A pattern that repeats itself takes the path that is stored for it (MCM, section 2), before
// anything is tried again.
void SendQueue::resume_if_idle(Time now) {
  const bool is_idle = last_message_ && now - *last_message_ > PathState::kForgetTime;
  if (is_idle && rule->resume(now)) resumed_ = now;
  last_message_ = now;
}

TransferMode SendQueue::next_mode(std::uint64_t bytes, Time now) {
  const bool is_same =
      overlaps_next() && (now - busy_since_ < kLongestSameMode || rule->is_trying(mode_));
  return is_same ? mode_ : rule->next(bytes, now);
}

// Whether another message is in transit when one begins now.
bool SendQueue::overlaps_next() const {
  return unacknowledged_bytes > kLastBytes;
}

Sending SendQueue::start(TransferMode mode, std::uint64_t bytes, Time now) {
  if (bytes <= kRendezvousHeaderBytes) {
    unacknowledged_bytes += bytes;
    return {.mode = mode, .bytes = bytes, .began = now, .is_untimed = true};
  }
  const bool overlaps = overlaps_next();
  const bool takes_another_mode = mode != mode_;
  if (!overlaps) busy_since_ = now;
  // After messages that have left their mode the period begins with the first one behind them.
  if (!overlaps || takes_another_mode || period_bytes_ == 0) begin_period(now);
  mode_ = mode;
  unacknowledged_bytes += bytes;
  period_bytes_ += bytes;
  return {.mode = mode,
          .bytes = bytes,
          .began = now,
          .overlaps = overlaps,
          .period = period_,
          .has_unusable_time = overlaps && takes_another_mode};
}

void SendQueue::begin_period(Time now) {
  ++period_;
  arrived_bytes_ = 0;
  period_bytes_ = 0;
  marks_ = {{now, 0}};
}

std::optional<std::size_t> SendQueue::choose(Sending& sending, std::uint64_t bytes, Time now,
                                             OwnRouter router) {
  const std::size_t without_routers = paths.size() - 1;
  std::optional<std::size_t> best;
  if (router != OwnRouter::absent) {
    const auto by_routers = std::span(paths).first(without_routers);
    best = rule->choose(by_routers, sending.current_mode(), bytes, now, sending.path);
  }
  if (best && router == OwnRouter::busy) return std::nullopt;
  if (!best) best = without_routers;
  return paths[*best].has_space(bytes) ? best : std::nullopt;
}

bool SendQueue::may_be_late(Time now) const {
  const bool is_direct = mode_ == TransferMode::direct || mode_ == TransferMode::parallel;
  return is_direct && period_bytes_ > arrived_bytes_ && now - marks_.back().time >= kLeastLate;
}

// Messages in one mode arrive one after the other, so since the last arrival the next message has
// had the whole rate of the mode.
std::optional<TransferMode> SendQueue::leave_if_late(const Sending& next, Time now) {
  const Mark& last = marks_.back();
  const double seconds = duration<double>(now - std::max(last.time, next.began)).count();
  const auto mode =
      rule->leave_if_late(next.mode, next.bytes, arrived_bytes_ - last.arrived_bytes, seconds, now);
  if (!mode) return std::nullopt;
  mode_ = *mode;
  begin_period(now);
  return mode;
}

void SendQueue::arrive(const Sending& sending, std::uint64_t bytes) {
  unacknowledged_bytes -= bytes;
  if (is_of_period(sending)) arrived_bytes_ += bytes;
}

void SendQueue::finish(const Sending& sending, Time now) {
  if (sending.is_untimed) return;
  if (sending.has_unusable_time) {
    rule->miss(sending.mode, sending.bytes, now);
  } else {
    learn(sending, now);
  }
}

// The bytes that arrived count, not those without an ack when a message began: where acks are
// delayed, most of those had arrived by then, and the path would seem several times as fast.
void SendQueue::learn(const Sending& sending, Time now) {
  if (!sending.overlaps) {
    const double took_s = duration<double>(now - sending.began).count();
    rule->learn(sending.mode, sending.bytes, took_s, now);
  } else if (sending.period == period_) {
    const Mark& from = marks_.front();
    const double took_s = duration<double>(now - from.time).count();
    rule->learn(sending.mode, arrived_bytes_ - from.arrived_bytes, took_s, now);
  } else {
    rule->miss(sending.mode, sending.bytes, now);
  }
  if (sending.period != period_) return;
  marks_.push_back({now, arrived_bytes_});
  if (marks_.size() > kTimedTogether) marks_.pop_front();
}

// An ack that comes after its segment was sent again shows that this was too early (as in RFC
// 3522). The next timeouts would be too short as well, until the rate of the path is estimated from
// segments that are sent only once.
void SendQueue::answer(std::chrono::microseconds took, bool is_in_time) {
  if (is_in_time) {
    least_timeout = std::min(least_timeout, std::max<Clock::duration>(kLeastTimeout, 4 * took));
  } else {
    least_timeout = std::clamp<Clock::duration>(2 * took, least_timeout, kLongestTimeout);
  }
}

// As TCP does (RFC 6298, 5.5): earlier segments may fill the path, so that no repeated segment
// arrives in time.
void SendQueue::wait_longer() {
  least_timeout =
      std::max(least_timeout, std::min<Clock::duration>(2 * least_timeout, kLongestDoubled));
}

}  // namespace fairlead::relay
