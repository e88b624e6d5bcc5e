// SPDX-License-Identifier: Apache-2.0
// Lets the host's own traffic have its interface first: watches the interface while something is
// relayed, and lets the kernel pace the connections of relayed frames.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "counters.hpp"
#include "relay_limit.hpp"

namespace fairlead::router {

class RelayPacer {
 public:
  /// Long enough for tens of packets at 10 MB/s, short beside what a person waits for.
  static constexpr std::chrono::milliseconds kInterval{50};

  RelayPacer(asio::io_context& context, Counters& counters)
      : context_(context), counters_(counters), timer_(context) {}

  /// The router listens there: what it relays passes this address's interface.
  void watch(const std::string& address) { interface_ = interface_of(address); }
  /// A connection for nothing but relayed frames.
  void add(const std::shared_ptr<Connection>& connection);
  /// A frame has come that is to be relayed.
  void note_received(std::uint64_t bytes);
  void close();

 private:
  struct Paced {
    std::weak_ptr<Connection> connection;
    /// Until the last sample, and between the last two.
    std::uint64_t sent_bytes = 0;
    std::uint64_t last_bytes = 0;
  };
  /// Counters at one moment.
  struct Sample {
    Clock::time_point time;
    InterfaceBytes all;
    InterfaceBytes relayed;
  };

  asio::awaitable<void> run();
  [[nodiscard]] std::optional<Sample> sample();
  void count_sent();
  void note(const Sample& before, const Sample& now);
  void pace();

  asio::io_context& context_;
  Counters& counters_;
  std::optional<std::string> interface_;
  std::vector<Paced> paced_;
  RelayLimit limit_;
  InterfaceBytes relayed_;
  Clock::time_point last_received_;
  asio::steady_timer timer_;
  bool is_running_ = false;
};

}  // namespace fairlead::router
