// SPDX-License-Identifier: Apache-2.0
// Gives other jobs of the host priority on its interface: samples the interface's counters while
// frames are relayed, and has the kernel pace the connections of relayed frames.
#pragma once

#include <sys/types.h>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "router/connection.hpp"
#include "router/counters.hpp"
#include "router/pacing/interface_addresses.hpp"
#include "router/pacing/relay_limit.hpp"
#include "router/pacing/served_traffic.hpp"

namespace fairlead::router {

class RelayPacer {
 public:
  /// Long enough for tens of packets at 10 MB/s, and too short for a person to notice.
  static constexpr std::chrono::milliseconds kInterval{50};
  /// A sample takes at most this fraction (1 / N) of the processor's time. With many sockets
  /// intervals are longer.
  static constexpr int kCostFactor = 40;
  /// Counters are of one moment if they are read within this part of an interval.
  static constexpr int kMomentFactor = 20;

  RelayPacer(asio::io_context& context, Counters& counters)
      : context_(context), counters_(counters), timer_(context) {}

  /// The address at which the router listens: relayed frames pass its interface.
  void watch(const std::string& address) { interface_ = interface_of(address); }
  /// What this process sends by itself is traffic of a job for which the router relays.
  void serve(const std::shared_ptr<Connection>& process);
  /// A connection for nothing but relayed frames.
  void add(const std::shared_ptr<Connection>& connection);
  /// Something is being relayed.
  void note_relayed();
  void close();

 private:
  struct Served {
    std::weak_ptr<Connection> connection;
    /// 0: unknown.
    pid_t process = 0;
  };
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
    InterfaceBytes served;
    std::uint64_t relayed_bytes = 0;
    bool is_of_one_moment = true;
  };

  asio::awaitable<void> run();
  [[nodiscard]] std::optional<Sample> sample(Clock::duration moment);
  [[nodiscard]] std::set<pid_t> served_processes();
  void count_sent();
  void add_sample(const Sample& before, const Sample& now);
  void lift();
  void pace();

  asio::io_context& context_;
  Counters& counters_;
  std::optional<std::string> interface_;
  std::vector<Served> served_;
  std::vector<Paced> paced_;
  ServedTraffic traffic_;
  RelayLimit limit_;
  std::uint64_t relayed_bytes_ = 0;
  Clock::time_point last_relayed_;
  asio::steady_timer timer_;
  bool is_running_ = false;
};

}  // namespace fairlead::router
