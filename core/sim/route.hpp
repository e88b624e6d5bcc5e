// SPDX-License-Identifier: Apache-2.0
// Which servers a stream's messages pass, and how long each takes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "fairlead/sim/simulation.hpp"

namespace fairlead::sim {

/// Numbers of the servers, in the order that Simulator documents.
class ServerNumbers {
 public:
  explicit ServerNumbers(const Machine& machine)
      : num_nodes_(static_cast<std::size_t>(machine.num_nodes)),
        num_sockets_(static_cast<std::size_t>(machine.num_sockets())) {}

  [[nodiscard]] std::size_t count() const { return 2 * (num_nodes_ + num_sockets_); }
  [[nodiscard]] std::size_t sending(std::int64_t node) const {
    return static_cast<std::size_t>(node);
  }
  [[nodiscard]] std::size_t receiving(std::int64_t node) const {
    return num_nodes_ + static_cast<std::size_t>(node);
  }
  [[nodiscard]] std::size_t memory(std::int64_t socket) const {
    return 2 * num_nodes_ + static_cast<std::size_t>(socket);
  }
  [[nodiscard]] std::size_t cache(std::int64_t socket) const {
    return 2 * num_nodes_ + num_sockets_ + static_cast<std::size_t>(socket);
  }
  [[nodiscard]] bool is_cache(std::size_t server) const {
    return server >= 2 * num_nodes_ + num_sockets_;
  }

 private:
  std::size_t num_nodes_;
  std::size_t num_sockets_;
};

/// The route of each message of a stream.
struct Route {
  std::size_t first_server;
  std::size_t receiving_server;  ///< only where `leaves_node`
  std::int64_t service_ns;       ///< at each of the servers
  bool leaves_node;
};

/// Between nodes: both interfaces. Between sockets: the memory of the sender's socket, which holds
/// the message, read remotely. Inside a socket: its cache, or its memory if the message is too
/// large. Source: SPREAD table 1 for what a cache takes; which memory it is, is ours
/// (docs/design/simulator.md).
inline Route route_of(const Machine& machine, const ServerNumbers& servers, Nic nic,
                      const MessageStream& stream) {
  const auto service_ns = [&stream](double rate_Bps) {
    return static_cast<std::int64_t>(
        std::llround(static_cast<double>(stream.message_bytes) / rate_Bps * 1e9));
  };
  const std::int64_t src_node = machine.node_of_core(stream.src_core);
  const std::int64_t dst_node = machine.node_of_core(stream.dst_core);
  const std::int64_t src_socket = machine.socket_of_core(stream.src_core);
  if (src_node != dst_node) {
    return {.first_server = servers.sending(src_node),
            .receiving_server =
                nic == Nic::shared ? servers.sending(dst_node) : servers.receiving(dst_node),
            .service_ns = service_ns(machine.nic_Bps),
            .leaves_node = true};
  }
  Route route{.first_server = servers.memory(src_socket),
              .receiving_server = 0,
              .service_ns = service_ns(machine.memory_Bps),
              .leaves_node = false};
  if (src_socket != machine.socket_of_core(stream.dst_core)) {
    route.service_ns = service_ns(machine.memory_Bps / (1.0 + machine.remote_memory_ratio));
  } else if (stream.message_bytes <= machine.largest_cache_bytes) {
    route.first_server = servers.cache(src_socket);
    route.service_ns = service_ns(machine.cache_Bps);
  }
  return route;
}

}  // namespace fairlead::sim
