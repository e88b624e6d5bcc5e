// SPDX-License-Identifier: Apache-2.0
// Admission, forwarding and clean-up.
#include "router/router.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "fairlead/error.hpp"
#include "wire/hop_times.hpp"
#include "wire/tcp_options.hpp"

namespace fairlead::router {
namespace {

constexpr std::chrono::seconds kSweepInterval{1};
constexpr std::size_t kMaxRequestBytes = 4096;
// No new connection is made for this long to a host whose router does not answer.
constexpr std::chrono::milliseconds kRetryTime{250};

template <class Acceptor, class Endpoint>
std::shared_ptr<Acceptor> listening(asio::io_context& context, const Endpoint& endpoint) {
  auto acceptor = std::make_shared<Acceptor>(context);
  acceptor->open(endpoint.protocol());
  // A router that is started again takes the place of one whose connections have not all ended.
  asio::error_code ignored;
  acceptor->set_option(asio::socket_base::reuse_address(true), ignored);
  acceptor->bind(endpoint);
  acceptor->listen();
  return acceptor;
}

// Only the owner may connect: no other user has the key, and none shall try.
std::shared_ptr<asio::local::stream_protocol::acceptor> listening_at(asio::io_context& context,
                                                                     const std::string& path) {
  std::filesystem::remove(path);
  const mode_t former = umask(0177);
  auto acceptor = listening<asio::local::stream_protocol::acceptor>(
      context, asio::local::stream_protocol::endpoint(path));
  umask(former);
  return acceptor;
}

// Does something unless the timer is cancelled first. The action may still run just after the
// cancellation, so `action` has to own what it needs.
template <class Action>
asio::steady_timer after(asio::io_context& context, Clock::duration time, Action action) {
  asio::steady_timer timer(context, time);
  timer.async_wait([action = std::move(action)](const asio::error_code& cancelled) {
    if (!cancelled) action();
  });
  return timer;
}

std::uint32_t clock_us() {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

// For a frame that goes on to another router: whether it has come from one, too.
bool is_relayed(const relay::FrameHeader& header) {
  return header.hop > 0;
}

asio::steady_timer deadline_of(asio::io_context& context, const std::shared_ptr<Socket>& socket) {
  return after(context, kHandshakeTime, [socket] {
    asio::error_code ignored;
    socket->close(ignored);
  });
}

}  // namespace

std::uint16_t Router::listen(const std::string& address, std::uint16_t port) {
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address), port);
  tcp_acceptors_.push_back(listening<asio::ip::tcp::acceptor>(context_, endpoint));
  pacer_.watch(address);
  const auto serve = [this](SocketPtr socket, CallersPtr callers) {
    return admit(std::move(socket), std::move(callers), relay::Role::router);
  };
  asio::co_spawn(context_, accept_all(tcp_acceptors_.back(), serve), asio::detached);
  return tcp_acceptors_.back()->local_endpoint().port();
}

void Router::listen_locally(const std::string& path) {
  local_acceptors_.push_back(listening_at(context_, path));
  const auto serve = [this](SocketPtr socket, CallersPtr callers) {
    return admit(std::move(socket), std::move(callers), relay::Role::process);
  };
  asio::co_spawn(context_, accept_all(local_acceptors_.back(), serve), asio::detached);
}

void Router::serve_metrics(const std::string& path) {
  local_acceptors_.push_back(listening_at(context_, path));
  const auto serve = [this](SocketPtr socket, CallersPtr callers) {
    return answer_metrics(std::move(socket), std::move(callers));
  };
  asio::co_spawn(context_, accept_all(local_acceptors_.back(), serve), asio::detached);
}

void Router::add(Job job) {
  auto active = std::make_shared<ActiveJob>();
  active->job = std::move(job);
  jobs_[relay::job_of(active->job.key)] = active;
  collect_addresses();
  if (is_sweeping_) return;
  is_sweeping_ = true;
  asio::co_spawn(context_, sweep(), asio::detached);
}

void Router::remove(const relay::Key& key) {
  const auto found = jobs_.find(relay::job_of(key));
  if (found == jobs_.end()) return;
  found->second->close();
  jobs_.erase(found);
  collect_addresses();
}

void Router::collect_addresses() {
  addresses_of_hosts_.clear();
  for (const auto& [id, job] : jobs_) {
    for (const Peer& peer : job->job.peers) {
      asio::error_code failed;
      const auto address = asio::ip::make_address(peer.address, failed);
      if (!failed) addresses_of_hosts_.insert(address);
    }
  }
}

// Connections that are being admitted or made meanwhile are not added any more.
void Router::ActiveJob::close() {
  is_over = true;
  for (const auto& each : connections) {
    if (const ConnectionPtr connection = each.lock()) connection->close();
  }
}

// Each acceptor counts its own callers, so that those over TCP cannot exclude a process of this
// host.
template <class Acceptor>
asio::awaitable<void> Router::accept_all(std::shared_ptr<Acceptor> acceptor, Serve serve) {
  const auto callers = std::make_shared<Callers>(kMaxHandshakes);
  while (acceptor->is_open()) {
    asio::error_code failed;
    typename Acceptor::protocol_type::endpoint caller;
    auto token = asio::redirect_error(asio::use_awaitable, failed);
    const auto socket = std::make_shared<Socket>(co_await acceptor->async_accept(caller, token));
    if (!acceptor->is_open()) co_return;
    if (failed) {
      // Out of file descriptors, perhaps: try again when some have ended.
      asio::steady_timer pause(context_, kSweepInterval);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
      continue;
    }
    if (const auto gone = callers->add(socket, is_of_job(caller))) {
      counters_.drop(Drop::too_many_connections);
      asio::error_code ignored;
      (*gone)->close(ignored);
      if (*gone == socket) continue;
    }
    asio::co_spawn(context_, serve(socket, callers), asio::detached);
  }
}

template <class Endpoint>
bool Router::is_of_job(const Endpoint& caller) const {
  if constexpr (std::is_same_v<Endpoint, asio::ip::tcp::endpoint>) {
    return addresses_of_hosts_.contains(caller.address());
  } else {
    return true;
  }
}

asio::awaitable<void> Router::admit(SocketPtr socket, CallersPtr callers, relay::Role role) {
  std::uint32_t index = 0;
  const JobPtr job = co_await check_handshake(socket, role, index);
  callers->remove(socket);
  if (!job) co_return;
  relay::prepare_tcp(socket->native_handle());
  const auto connection = std::make_shared<Connection>(std::move(*socket), pipes_);
  if (!enlist(*job, connection)) co_return;
  ++counters_.accepted_connections;
  if (role == relay::Role::process) {
    pacer_.serve(connection);
    // A process that connects again has lost its first connection.
    if (const ConnectionPtr former = std::exchange(job->processes[index], connection)) {
      former->close();
    }
    start_writing(connection);
  }
  co_await read_all(job, connection, role, index);
  connection->close();
  if (role != relay::Role::process) co_return;
  // The process may have connected again, and ended again.
  const auto found = job->processes.find(index);
  if (found != job->processes.end() && found->second == connection) job->processes.erase(found);
}

// The job of the other end, if it has proved its key in time.
asio::awaitable<Router::JobPtr> Router::check_handshake(SocketPtr kept, relay::Role role,
                                                        std::uint32_t& index) {
  Socket& socket = *kept;
  const asio::steady_timer deadline = deadline_of(context_, kept);
  asio::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  relay::HelloBytes hello_bytes;
  co_await asio::async_read(socket, asio::buffer(hello_bytes), token);
  const auto hello = relay::parse_hello(hello_bytes);
  const bool is_known = !failed && hello && hello->role == role && jobs_.contains(hello->job);
  if (!is_known) {
    counters_.drop(Drop::bad_handshake);
    co_return nullptr;
  }
  const JobPtr job = jobs_.at(hello->job);
  const relay::AnswerBytes answer = relay::make_answer(hello_bytes, job->job.key);
  co_await asio::async_write(socket, asio::buffer(answer), token);
  relay::Proof proof{};
  if (!failed) co_await asio::async_read(socket, asio::buffer(proof), token);
  if (failed || !relay::check_proof(hello_bytes, answer, proof, job->job.key)) {
    counters_.drop(Drop::wrong_key);
    co_return nullptr;
  }
  index = hello->index;
  co_return job;
}

asio::awaitable<void> Router::read_all(JobPtr job, ConnectionPtr from, relay::Role role,
                                       std::uint32_t index) {
  while (true) {
    bool is_garbage = false;
    std::optional<relay::FrameHeader> header = co_await from->read_header(is_garbage);
    if (is_garbage || (header && !may_come_from(*job, *header, role, index))) {
      counters_.drop(Drop::bad_frame);
      co_return;
    }
    if (!header) co_return;
    if (role == relay::Role::router) relay::note_return(*header, clock_us());
    const ConnectionPtr next = next_connection(job, *header);
    if (!is_delivered(*job, *header)) relay::stamp_departure(*header, clock_us());
    // A process needs the whole frame in any case. A frame that arrives slowly would delay frames
    // that reach the process by faster paths.
    if (next && !is_delivered(*job, *header) && from->may_pass(*header, *next)) {
      if (!co_await from->pass(*header, *next)) co_return;
      count(*job, *header);
      continue;
    }
    std::optional<Frame> frame = co_await from->read_frame(*header);
    if (!frame) co_return;
    count(*job, *header);
    if (next && next->queue().is_full()) {
      ++counters_.pauses;
      if (!co_await next->wait_for_space()) {
        counters_.drop(Drop::queue_full);
        continue;
      }
    }
    if (!next || next->queue().is_closed()) {
      counters_.drop(Drop::unreachable);
      continue;
    }
    next->queue().push(std::move(*frame));
  }
}

// A process may send only under its own rank, a router only frames for this host.
bool Router::may_come_from(const ActiveJob& job, const relay::FrameHeader& header, relay::Role role,
                           std::uint32_t index) {
  if (role == relay::Role::process) return header.hop == 0 && header.src_rank == index;
  return header.hops[header.hop] == job.job.host;
}

// Advances past this host, which is the next hop of a frame from another router.
Router::ConnectionPtr Router::next_connection(const JobPtr& job, relay::FrameHeader& header) {
  while (header.hops[header.hop] == job->job.host) {
    if (header.hop + 1 == header.num_hops) {
      const auto found = job->processes.find(header.dst_rank);
      return found == job->processes.end() ? nullptr : found->second;
    }
    ++header.hop;
  }
  return connection_to(job, header);
}

// Whether the next hop is a process of this host, after this step.
bool Router::is_delivered(const ActiveJob& job, const relay::FrameHeader& header) {
  return header.hops[header.hop] == job.job.host;
}

void Router::count(const ActiveJob& job, const relay::FrameHeader& header) {
  if (is_delivered(job, header)) {
    ++counters_.delivered_frames;
    counters_.delivered_bytes += header.payload_bytes();
  } else {
    ++counters_.forwarded_frames;
    counters_.forwarded_bytes += header.payload_bytes();
    if (is_relayed(header)) pacer_.note_relayed();
  }
}

Router::ConnectionPtr Router::connection_to(const JobPtr& job, const relay::FrameHeader& header) {
  const std::uint16_t host = header.hops[header.hop];
  if (host >= job->job.peers.size()) return nullptr;
  ConnectionPtr& kept = job->routers[{host, header.hop, header.connection}];
  if (kept && !kept->queue().is_closed()) return kept;
  if (Clock::now() < job->unreachable_until[host]) return nullptr;
  const auto connection = std::make_shared<Connection>(Socket(context_), pipes_);
  if (!enlist(*job, connection)) {
    job->unreachable_until[host] = Clock::now() + kRetryTime;
    return nullptr;
  }
  kept = connection;
  if (is_relayed(header)) pacer_.add(kept);
  asio::co_spawn(context_, connect(job, kept, host), asio::detached);
  return kept;
}

// Frames may be queued before the other end answers; if it never does, they are lost.
asio::awaitable<void> Router::connect(JobPtr job, ConnectionPtr connection, std::uint16_t host) {
  const Peer& peer = job->job.peers[host];
  Socket& socket = connection->socket();
  asio::steady_timer deadline =
      after(context_, kHandshakeTime, [connection] { connection->close(); });
  asio::error_code failed;
  const auto address = asio::ip::make_address(peer.address, failed);
  const asio::ip::tcp::endpoint endpoint(address, peer.port);
  if (!failed) {
    co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, failed));
  }
  bool is_proved = false;
  if (!failed) {
    relay::prepare_tcp(socket.native_handle());
    const auto hello = relay::make_hello(relay::Role::router, job->job.host, job->job.key);
    is_proved = co_await shake_hands(socket, hello, job->job.key);
  }
  deadline.cancel();
  if (!is_proved || connection->queue().is_closed()) {
    counters_.drop(Drop::unreachable);
    job->unreachable_until[host] = Clock::now() + kRetryTime;
    connection->close();
    co_return;
  }
  start_writing(connection);
  // The other end sends nothing, so this ends with the connection.
  bool is_garbage = false;
  co_await connection->read_header(is_garbage);
  connection->close();
}

void Router::start_writing(const ConnectionPtr& connection) {
  asio::co_spawn(
      context_,
      [](ConnectionPtr kept) -> asio::awaitable<void> { co_await kept->write_all(); }(connection),
      asio::detached);
}

bool Router::enlist(ActiveJob& job, const ConnectionPtr& connection) {
  if (job.is_over) return false;
  std::erase_if(job.connections, [](const auto& each) { return each.expired(); });
  if (job.connections.size() >= max_connections_of_job_) {
    counters_.drop(Drop::too_many_connections);
    return false;
  }
  job.connections.push_back(connection);
  return true;
}

// Drops connections whose other end takes no bytes.
asio::awaitable<void> Router::sweep() {
  asio::error_code cancelled;
  while (!cancelled) {
    sweep_timer_.expires_after(kSweepInterval);
    co_await sweep_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    const auto now = Clock::now();
    for (const auto& [id, job] : jobs_) {
      for (const auto& each : job->connections) {
        const ConnectionPtr connection = each.lock();
        if (!connection || !connection->is_stalled(now)) continue;
        counters_.drop(Drop::stalled);
        connection->close();
      }
    }
  }
}

Levels Router::levels() const {
  Levels levels{.num_connections = 0, .num_jobs = jobs_.size(), .queued_bytes = 0};
  for (const auto& [id, job] : jobs_) {
    for (const auto& each : job->connections) {
      const ConnectionPtr connection = each.lock();
      if (!connection || connection->queue().is_closed()) continue;
      ++levels.num_connections;
      levels.queued_bytes += connection->queue().size_bytes();
    }
  }
  return levels;
}

// The request is read, since an unread one would reset the connection, and otherwise ignored.
asio::awaitable<void> Router::answer_metrics(SocketPtr kept, CallersPtr callers) {
  Socket& socket = *kept;
  const asio::steady_timer deadline = deadline_of(context_, kept);
  asio::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  std::string request;
  co_await asio::async_read_until(socket, asio::dynamic_buffer(request, kMaxRequestBytes),
                                  "\r\n\r\n", token);
  if (!failed) {
    const std::string body = metrics_text(counters_, levels());
    const std::string text =
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    co_await asio::async_write(socket, asio::buffer(text), token);
  }
  callers->remove(kept);
}

void Router::close() {
  asio::error_code ignored;
  for (const auto& acceptor : tcp_acceptors_) acceptor->close(ignored);
  for (const auto& acceptor : local_acceptors_) acceptor->close(ignored);
  sweep_timer_.cancel();
  pacer_.close();
  for (const auto& [id, job] : jobs_) job->close();
}

}  // namespace fairlead::router
