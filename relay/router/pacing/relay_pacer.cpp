// SPDX-License-Identifier: Apache-2.0
// Samples the counters and sets the connections' rates.
#include "router/pacing/relay_pacer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <ctime>
#include <limits>

#include "router/pacing/process_sockets.hpp"
#include "router/pacing/tcp_sockets.hpp"

namespace fairlead::router {
namespace {

// After this time without a relayed frame the counters are not sampled.
constexpr std::chrono::seconds kIdleTime{1};

// The kernel spreads the packets of a TCP connection over time, also without a queueing discipline
// for it (since Linux 4.13), so they do not delay packets of others in bursts.
void set_rate(int socket, double rate_Bps) {
  constexpr auto kUnlimited = std::numeric_limits<std::uint32_t>::max();
  const auto rate = rate_Bps < kUnlimited ? static_cast<std::uint32_t>(rate_Bps) : kUnlimited;
  (void)setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
}

// Time of this thread: a wait for the processor costs nothing.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

template <class Item>
void forget_ended(std::vector<Item>& items) {
  std::erase_if(items, [](const Item& each) {
    const auto connection = each.connection.lock();
    return !connection || connection->queue().is_closed();
  });
}

}  // namespace

void RelayPacer::serve(const std::shared_ptr<Connection>& process) {
  forget_ended(served_);
  served_.push_back({process, process_at(process->socket().native_handle())});
}

void RelayPacer::add(const std::shared_ptr<Connection>& connection) {
  if (interface_) paced_.push_back({connection});
}

void RelayPacer::note_relayed() {
  last_relayed_ = Clock::now();
  if (!interface_ || is_running_) return;
  is_running_ = true;
  asio::co_spawn(context_, run(), asio::detached);
}

asio::awaitable<void> RelayPacer::run() {
  asio::error_code cancelled;
  std::optional<Sample> before;
  Clock::duration interval = kInterval;
  while (limit_.is_limited() || Clock::now() - last_relayed_ < kIdleTime) {
    const auto begun = processor_time();
    const std::optional<Sample> now = sample(interval / kMomentFactor);
    if (!now) {
      lift();
      before.reset();
    } else if (now->is_of_one_moment) {
      if (before) add_sample(*before, *now);
      before = now;
    }
    interval = std::max<Clock::duration>(kInterval, kCostFactor * (processor_time() - begun));
    timer_.expires_after(interval);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (cancelled) co_return;
  }
  is_running_ = false;
}

// None if the traffic of other jobs is unknown. The counters are not of one moment if the process
// had to wait for the processor between them.
std::optional<RelayPacer::Sample> RelayPacer::sample(Clock::duration moment) {
  if (!interface_) return std::nullopt;
  const std::string interface = *interface_;
  const auto time = Clock::now();
  const auto all = interface_bytes(interface);
  auto sockets = tcp_sockets();
  count_sent();
  const bool is_of_one_moment = Clock::now() - time <= moment;
  if (!all || !sockets) return std::nullopt;
  const InterfaceAddresses addresses = addresses_of(interface);
  std::erase_if(*sockets, [&](const TcpSocket& socket) {
    return !addresses.pass(socket.local, socket.remote);
  });
  const auto served = traffic_.update(*sockets, served_processes());
  if (!served) return std::nullopt;
  return Sample{.time = time,
                .all = *all,
                .served = *served,
                .relayed_bytes = relayed_bytes_,
                .is_of_one_moment = is_of_one_moment};
}

// With this one: it relays for no other jobs.
std::set<pid_t> RelayPacer::served_processes() {
  forget_ended(served_);
  std::set<pid_t> processes{getpid()};
  for (const Served& each : served_) processes.insert(each.process);
  return processes;
}

// Bytes in a socket have not passed the interface yet, so the kernel's count of sent bytes is used.
void RelayPacer::count_sent() {
  forget_ended(paced_);
  for (Paced& each : paced_) {
    const auto connection = each.connection.lock();
    const std::uint64_t before = each.sent_bytes;
    each.sent_bytes = std::max(before, sent_bytes(connection->socket().native_handle()));
    each.last_bytes = each.sent_bytes - before;
    relayed_bytes_ += each.last_bytes;
  }
}

void RelayPacer::add_sample(const Sample& before, const Sample& now) {
  const bool was_limited = limit_.is_limited();
  const double former_Bps = limit_.rate_Bps();
  limit_.update({.seconds = std::chrono::duration<double>(now.time - before.time).count(),
                 .all = now.all - before.all,
                 .served = now.served - before.served,
                 .relayed_bytes = now.relayed_bytes - before.relayed_bytes});
  if (limit_.rate_Bps() < former_Bps) ++counters_.yields;
  if (was_limited || limit_.is_limited()) pace();
}

// Removes the limit where the traffic of other jobs is unknown.
void RelayPacer::lift() {
  const bool was_limited = limit_.is_limited();
  limit_ = {};
  if (was_limited) pace();
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
