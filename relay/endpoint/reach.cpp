// SPDX-License-Identifier: Apache-2.0
// Connections that are closed as soon as the other end has proved the key.
#include "endpoint/reach.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "endpoint/connection.hpp"

namespace fairlead::relay {
namespace {

// Maximum number at the same time: the program needs the file descriptors.
constexpr std::size_t kMaxCalls = 32;
// A refused or closed connection is tried again after this time.
constexpr std::chrono::milliseconds kNextCallInterval{100};
constexpr int kCallsPoll_ms = 20;

struct Call {
  std::size_t index;
  std::optional<Connection> connection{};
  Time next{};
  int num_made = 0;

  // None before the first attempt and after one that has failed.
  [[nodiscard]] Connection* open_connection() {
    return connection && !connection->is_closed() ? &*connection : nullptr;
  }
  [[nodiscard]] bool is_answered() const {
    return connection && connection->is_open() && !connection->has_to_write();
  }
  /// Whether the other end has accepted no connection for long enough.
  [[nodiscard]] bool has_failed(const StartTimeouts& timeouts, Time now) const {
    if (connection && !connection->is_closed()) {
      return !connection->is_taken() && now - connection->opened() > timeouts.calling;
    }
    return num_made >= timeouts.num_calls(kNextCallInterval);
  }
};

pollfd awaited(Call& call) {
  if (Connection* connection = call.open_connection()) connection->write();
  Connection* connection = call.open_connection();
  // A negative descriptor is left out by poll(2).
  if (connection == nullptr) return {-1, 0, 0};
  const auto events = static_cast<short>(connection->has_to_write() ? POLLIN | POLLOUT : POLLIN);
  return {connection->descriptor(), events, 0};
}

void wait_for_answers(std::vector<Call>& calls) {
  std::vector<pollfd> waits;
  for (Call& call : calls) waits.push_back(awaited(call));
  if (poll(waits.data(), waits.size(), kCallsPoll_ms) <= 0) return;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    if (waits[index].revents == 0) continue;
    // No frames are expected.
    if (Connection* connection = calls[index].open_connection())
      connection->read([](const auto&, auto) {});
    if (Connection* connection = calls[index].open_connection()) connection->write();
  }
}

}  // namespace

std::vector<std::uint32_t> ranks_to_reach(std::span<const std::uint16_t> host_of_rank,
                                          std::uint32_t own_rank) {
  std::map<std::uint16_t, std::vector<std::uint32_t>> ranks_of_host;
  for (std::uint32_t rank = 0; rank < host_of_rank.size(); ++rank) {
    ranks_of_host[host_of_rank[rank]].push_back(rank);
  }
  const auto own = ranks_of_host.find(host_of_rank[own_rank]);
  const auto place =
      static_cast<std::size_t>(std::ranges::find(own->second, own_rank) - own->second.begin());
  std::vector<std::uint32_t> ranks;
  const auto add = [&](auto first, auto last) {
    for (; first != last; ++first) ranks.push_back(first->second[place % first->second.size()]);
  };
  add(std::next(own), ranks_of_host.end());
  add(ranks_of_host.begin(), own);
  return ranks;
}

std::optional<std::size_t> find_unreached(std::span<const Address> addresses,
                                          std::uint32_t own_rank, const Key& key,
                                          const StartTimeouts& timeouts) {
  std::vector<Call> calls;
  std::size_t next = 0;
  while (true) {
    std::erase_if(calls, [](const Call& call) { return call.is_answered(); });
    while (next < addresses.size() && calls.size() < kMaxCalls) calls.push_back({next++});
    if (calls.empty()) return std::nullopt;
    const Time now = Clock::now();
    if (now >= timeouts.until) return calls.front().index;
    for (Call& call : calls) {
      if (call.has_failed(timeouts, now)) return call.index;
      if (call.open_connection() != nullptr || now < call.next) continue;
      ++call.num_made;
      call.connection = Connection::calling(connect_to(addresses[call.index]), own_rank, key);
      call.next = now + kNextCallInterval;
    }
    wait_for_answers(calls);
  }
}

}  // namespace fairlead::relay
