// SPDX-License-Identifier: Apache-2.0
// Samples the counters and sets the connections' rates.
#include "relay_pacer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <limits>

namespace fairlead::router {
namespace {

// After so long without a relayed frame nothing is watched.
constexpr std::chrono::seconds kIdleTime{1};
// Two counters are of one moment if they are read within this.
constexpr std::chrono::milliseconds kSameMoment{1};

// The kernel spreads the packets of a TCP connection over time, also without a queueing discipline
// for it (since Linux 4.13), so they do not wait in bursts before those of others.
void set_rate(int socket, double rate_Bps) {
  constexpr auto kUnlimited = std::numeric_limits<std::uint32_t>::max();
  const auto rate = rate_Bps < kUnlimited ? static_cast<std::uint32_t>(rate_Bps) : kUnlimited;
  (void)setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
}

}  // namespace

void RelayPacer::add(const std::shared_ptr<Connection>& connection) {
  if (interface_) paced_.push_back({connection});
}

void RelayPacer::note_received(std::uint64_t bytes) {
  relayed_.received += bytes;
  last_received_ = Clock::now();
  if (!interface_ || is_running_) return;
  is_running_ = true;
  asio::co_spawn(context_, run(), asio::detached);
}

asio::awaitable<void> RelayPacer::run() {
  asio::error_code cancelled;
  std::optional<Sample> before = sample();
  while (limit_.is_limited() || Clock::now() - last_received_ < kIdleTime) {
    timer_.expires_after(kInterval);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (cancelled) co_return;
    const std::optional<Sample> now = sample();
    if (before && now) note(*before, *now);
    before = now;
  }
  is_running_ = false;
}

// None if the process had to wait for the processor meanwhile.
std::optional<RelayPacer::Sample> RelayPacer::sample() {
  const auto time = Clock::now();
  const auto all = interface_bytes(*interface_);
  count_sent();
  if (!all || Clock::now() - time > kSameMoment) return std::nullopt;
  return Sample{.time = time, .all = *all, .relayed = relayed_};
}

// What is in a socket has not passed the interface yet: the kernel tells what has.
void RelayPacer::count_sent() {
  std::erase_if(paced_, [](const Paced& each) { return each.connection.expired(); });
  for (Paced& each : paced_) {
    const auto connection = each.connection.lock();
    const std::uint64_t before = each.sent_bytes;
    each.sent_bytes = std::max(before, sent_bytes(connection->socket().native_handle()));
    each.last_bytes = each.sent_bytes - before;
    relayed_.sent += each.last_bytes;
  }
}

void RelayPacer::note(const Sample& before, const Sample& now) {
  const bool was_limited = limit_.is_limited();
  const double former_Bps = limit_.rate_Bps();
  limit_.note({.seconds = std::chrono::duration<double>(now.time - before.time).count(),
               .all = now.all - before.all,
               .relayed = now.relayed - before.relayed});
  if (limit_.rate_Bps() < former_Bps) ++counters_.yields;
  if (was_limited || limit_.is_limited()) pace();
}

// Those that have something to send share the limit.
void RelayPacer::pace() {
  const auto is_active = [](const Paced& each) {
    const auto connection = each.connection.lock();
    return each.last_bytes > 0 || (connection && connection->queue().size_bytes() > 0);
  };
  const auto num_active = std::max<std::ptrdiff_t>(std::ranges::count_if(paced_, is_active), 1);
  const double rate_Bps = limit_.rate_Bps() / static_cast<double>(num_active);
  for (const Paced& each : paced_) {
    const auto connection = each.connection.lock();
    if (connection) set_rate(connection->socket().native_handle(), rate_Bps);
  }
}

void RelayPacer::close() {
  timer_.cancel();
}

}  // namespace fairlead::router
