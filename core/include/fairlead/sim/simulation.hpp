// SPDX-License-Identifier: Apache-2.0
// How long the messages of many jobs on shared nodes wait, by simulating each message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::sim {

/// A cluster of equal nodes. Cores are numbered node by node, socket by socket.
struct Machine {
  std::int64_t num_nodes;
  std::int64_t sockets_per_node;
  std::int64_t cores_per_socket;
  double nic_Bps;                    ///< of each direction, or of both where they share a server
  double memory_Bps;                 ///< of the memory of one socket
  double remote_memory_ratio;        ///< additional time of a transfer between sockets
  double cache_Bps;                  ///< inside a socket; messages do not wait for a cache
  std::int64_t largest_cache_bytes;  ///< larger messages go through the memory
  std::int64_t switch_ns;            ///< from one network interface to another

  [[nodiscard]] std::int64_t num_sockets() const { return num_nodes * sockets_per_node; }
  [[nodiscard]] std::int64_t socket_of_core(std::int64_t core) const {
    return core / cores_per_socket;
  }
  [[nodiscard]] std::int64_t node_of_core(std::int64_t core) const {
    return socket_of_core(core) / sockets_per_node;
  }
};

/// Which server receives a node's messages from others.
enum class Nic : std::uint8_t {
  separate,   ///< a server for each direction
  shared,     ///< the server that also sends: one request at a time, as in SPREAD section 1
  send_only,  ///< none: receiving takes no time
};

enum class Forwarding : std::uint8_t {
  store_and_forward,  ///< receiving begins when the last byte has been sent
  cut_through,        ///< receiving begins when the first byte has been sent
};

enum class Arrivals : std::uint8_t {
  periodic,      ///< from the stream's first time on, always one period apart
  random_phase,  ///< the same, from a random time within the first period on
  poisson,       ///< exponential gaps with the period as mean
};

/// How messages pass the machine: what SPREAD leaves open, or contradicts by its own results
/// (docs/design/simulator.md).
struct Options {
  Nic nic = Nic::separate;
  Forwarding forwarding = Forwarding::store_and_forward;
  Arrivals arrivals = Arrivals::periodic;
  bool is_closed_loop = false;  ///< a stream's next message waits until the last one has arrived
  std::uint64_t seed = 0;
};

/// Messages from one core to another.
struct MessageStream {
  std::int64_t job;  ///< in [0, num_jobs)
  std::int64_t src_core, dst_core;
  std::int64_t message_bytes;  ///< >= 0
  std::int64_t num_messages;   ///< >= 1
  double period_ns;            ///< > 0
  double first_ns;             ///< when the first message is sent, >= 0
};

/// The load of one server.
struct ServerLoad {
  std::int64_t num_messages = 0;
  std::int64_t bytes = 0;
  std::int64_t busy_ns = 0;
  double waiting_s = 0.0;            ///< summed over its messages
  std::int64_t longest_wait_ns = 0;  ///< of one message
  /// Most messages that waited at a time; exact up to 4096, then up to 0.1 % too high.
  std::int64_t longest_queue = 0;
  double offered_ratio = 0.0;  ///< offered service time per time, by the streams' rates
};

/// The result of one job.
struct JobOutcome {
  std::int64_t finish_ns = 0;  ///< when its last message arrived
  std::int64_t num_messages = 0;
  double waiting_s = 0.0;
};

/// First-come-first-served servers, integer nanoseconds, events in the order of (time, server,
/// stream): the same input gives the same result everywhere. Takes O(streams + servers) memory
/// however many messages there are; only a shared network interface keeps a queue of what it
/// received.
///
/// Servers are numbered: sending interface of each node, receiving interface of each node, memory
/// of each socket, cache of each socket. A shared interface is the sending one.
class Simulator {
 public:
  /// @throws InputError  a stream or the machine is impossible; the message names the field
  Simulator(const Machine& machine, const std::vector<MessageStream>& streams,
            std::int64_t num_jobs, const Options& options);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// Simulates about `num_messages` more messages. @return whether some are left
  bool advance(std::int64_t num_messages);

  [[nodiscard]] std::int64_t num_messages() const;  ///< of all streams
  [[nodiscard]] std::int64_t num_sent() const;      ///< so far
  [[nodiscard]] std::vector<ServerLoad> servers() const;
  [[nodiscard]] std::vector<JobOutcome> jobs() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace fairlead::sim
