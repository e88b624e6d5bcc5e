// SPDX-License-Identifier: Apache-2.0
// The virtual router of a host: takes frames from local processes and from other routers, and
// passes each on by the path in its header. One thread; nothing here is shared with another.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "router/connection.hpp"
#include "router/counters.hpp"
#include "router/job.hpp"
#include "router/pacing/relay_pacer.hpp"
#include "wire/unproved_callers.hpp"

namespace fairlead::router {

class Router {
 public:
  /// Ends that have not yet proved a key, of each kind: routers, processes, readers of counters.
  static constexpr std::size_t kMaxHandshakes = 128;
  /// Connections of one job.
  static constexpr std::size_t kMaxConnectionsOfJob = 4096;

  explicit Router(asio::io_context& context,
                  std::size_t max_connections_of_job = kMaxConnectionsOfJob)
      : context_(context), max_connections_of_job_(max_connections_of_job), sweep_timer_(context) {}

  /// Starts to listen. Port 0 takes a free one.
  /// @return the port
  std::uint16_t listen(const std::string& address, std::uint16_t port);
  void listen_locally(const std::string& path);
  /// Answers each connection with the counters.
  void serve_metrics(const std::string& path);

  /// From now on the job's routers and processes are admitted.
  void add(Job job);
  /// The job is over: its connections are closed, and none is admitted any more.
  void remove(const relay::Key& key);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] Levels levels() const;
  /// Ends everything, so that the context runs out of work.
  void close();

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;
  using SocketPtr = std::shared_ptr<Socket>;
  using Callers = relay::UnprovedCallers<SocketPtr>;
  using CallersPtr = std::shared_ptr<Callers>;

  struct ActiveJob {
    Job job;
    /// By rank.
    std::map<std::uint32_t, ConnectionPtr> processes;
    /// By host, number of hops behind it, and number of the connection. Frames that have come
    /// further use connections of their own, so that no ring of full queues can form
    /// (docs/design/relay-frames.md).
    std::map<std::tuple<std::uint16_t, std::uint8_t, std::uint8_t>, ConnectionPtr> routers;
    std::map<std::uint16_t, Clock::time_point> unreachable_until;
    std::vector<std::weak_ptr<Connection>> connections;
    bool is_over = false;

    void close();
  };
  using JobPtr = std::shared_ptr<ActiveJob>;

  /// What becomes of a caller.
  using Serve = std::function<asio::awaitable<void>(SocketPtr, CallersPtr)>;
  template <class Acceptor>
  asio::awaitable<void> accept_all(std::shared_ptr<Acceptor> acceptor, Serve serve);
  template <class Endpoint>
  [[nodiscard]] bool is_of_job(const Endpoint& caller) const;
  asio::awaitable<void> admit(SocketPtr socket, CallersPtr callers, relay::Role role);
  asio::awaitable<JobPtr> check_handshake(SocketPtr kept, relay::Role role, std::uint32_t& index);
  asio::awaitable<void> read_all(JobPtr job, ConnectionPtr from, relay::Role role,
                                 std::uint32_t index);
  static bool may_come_from(const ActiveJob& job, const relay::FrameHeader& header,
                            relay::Role role, std::uint32_t index);
  static bool is_delivered(const ActiveJob& job, const relay::FrameHeader& header);
  void count(const ActiveJob& job, const relay::FrameHeader& header);
  ConnectionPtr next_connection(const JobPtr& job, relay::FrameHeader& header);
  ConnectionPtr connection_to(const JobPtr& job, const relay::FrameHeader& header);
  asio::awaitable<void> connect(JobPtr job, ConnectionPtr connection, std::uint16_t host);
  void start_writing(const ConnectionPtr& connection);
  void collect_addresses();
  bool enlist(ActiveJob& job, const ConnectionPtr& connection);
  asio::awaitable<void> sweep();
  asio::awaitable<void> answer_metrics(SocketPtr kept, CallersPtr callers);

  asio::io_context& context_;
  std::size_t max_connections_of_job_;
  // Shared, since operations in progress may end after the router.
  Pipes pipes_;
  std::map<relay::JobId, JobPtr> jobs_;
  /// Addresses of the hosts of all jobs.
  std::set<asio::ip::address> addresses_of_hosts_;
  std::vector<std::shared_ptr<asio::ip::tcp::acceptor>> tcp_acceptors_;
  std::vector<std::shared_ptr<asio::local::stream_protocol::acceptor>> local_acceptors_;
  asio::steady_timer sweep_timer_;
  bool is_sweeping_ = false;
  Counters counters_;
  RelayPacer pacer_{context_, counters_};
};

}  // namespace fairlead::router
