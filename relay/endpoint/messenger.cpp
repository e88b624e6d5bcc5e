// SPDX-License-Identifier: Apache-2.0
// The messenger's thread, and the functions that the program's threads call.
#include "endpoint/messenger.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

#include "fairlead/error.hpp"
#include "fairlead/without_signals.hpp"

namespace fairlead::relay {
namespace {
using std::chrono::milliseconds;

// A lost connection is opened again after this time.
constexpr milliseconds kCallInterval{200};
// A connection that takes no bytes for this time is closed; bytes that it may have taken are sent
// again.
constexpr std::chrono::seconds kStallTime{2};
// A connection whose other end has not proved the key after this time is closed.
constexpr std::chrono::seconds kHandshakeTime{2};
// How long new connections wait when the program has no file descriptor left.
constexpr milliseconds kAcceptInterval{100};
constexpr std::chrono::seconds kDrainTime{60};
constexpr int kPoll_ms = 50;

bool is_silent(const Connection& connection, Time now) {
  return !connection.is_open() && now - connection.opened() > kHandshakeTime;
}

}  // namespace

Messenger::Messenger(EndpointConfig config, const std::string& own_address, OnMatch on_match)
    : config_(std::move(config)),
      on_match_(std::move(on_match)),
      listener_(listen_at(own_address, port_)),
      wake_event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      send_buffer_(config_, Clock::now()),
      control_messages_(config_) {
  if (!wake_event_.is_open()) throw Error("no event file descriptor");
}

void Messenger::start(std::vector<Address> address_of_rank) {
  address_of_rank_ = std::move(address_of_rank);
  std::set<std::string> hosts;
  for (const Address& address : address_of_rank_) hosts.insert(address.host);
  for (const std::string& host : hosts) hosts_of_job_.insert(canonical(host));
  router_awaited_until_ = Clock::now() + kHandshakeTime;
  const WithoutSignals without_signals;
  thread_ = std::thread([this] { work(); });
}

bool Messenger::wait_for_router(const StartTimeouts& timeouts) {
  const int max_calls = timeouts.num_calls(kCallInterval);
  std::unique_lock guard(lock_);
  changed_.wait_until(guard, timeouts.until,
                      [&] { return has_router_ || num_failed_calls_ >= max_calls; });
  return has_router_;
}

Messenger::~Messenger() {
  is_ending_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void Messenger::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_event_.number(), &one, sizeof one);
}

std::unique_lock<std::mutex> Messenger::lock_state() {
  std::unique_lock guard(lock_);
  take_submitted();
  return guard;
}

// Called under the lock, before any other use of the send buffer. So the buffer has each message no
// later than if its thread had taken the lock.
void Messenger::take_submitted() {
  for (Submission& each : submissions_.take_all()) {
    const auto& [dst_rank, number, mode] = each.send;
    if (each.payload) {
      send_buffer_.add(dst_rank, number, std::move(each.payload), mode, Clock::now());
    } else {
      send_buffer_.give_up(dst_rank, number, each.bytes, mode, Clock::now());
    }
  }
}

std::optional<PendingSend> Messenger::begin_send(std::uint32_t dst_rank, std::uint64_t bytes,
                                                 std::optional<TransferMode> fixed,
                                                 bool must_use_routers) {
  const auto guard = lock_state();
  TransferMode mode = fixed ? *fixed : send_buffer_.mode_to(dst_rank, bytes, Clock::now());
  if (fixed && !send_buffer_.has_space(bytes)) mode = TransferMode::mpi;
  if (mode == TransferMode::mpi) {
    if (!must_use_routers) return std::nullopt;
    mode = TransferMode::direct;
  }
  return PendingSend{dst_rank, send_buffer_.reserve(dst_rank), mode};
}

void Messenger::post(const PendingSend& send, std::vector<std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  submissions_.add({send, size, std::make_shared<const std::vector<std::byte>>(std::move(bytes))});
  wake();
}

void Messenger::cancel(const PendingSend& send, std::uint64_t bytes) {
  submissions_.add({send, bytes});
}

std::uint64_t Messenger::reserve(std::uint32_t dst_rank) {
  const auto guard = lock_state();
  return send_buffer_.reserve(dst_rank);
}

bool Messenger::has(std::uint32_t src_rank, std::uint64_t message) {
  const auto guard = lock_state();
  return reassembly_buffer_.is_complete(src_rank, message);
}

Arrived Messenger::receive(std::uint32_t src_rank, std::uint64_t message) {
  match(src_rank, message);
  std::unique_lock guard(lock_);
  while (true) {
    if (auto arrived = reassembly_buffer_.take(src_rank, message)) return std::move(*arrived);
    changed_.wait(guard);
  }
}

void Messenger::match(std::uint32_t src_rank, std::uint64_t message) {
  send_control_message(src_rank, message, FrameKind::match);
}

void Messenger::reject(std::uint32_t src_rank, std::uint64_t message) {
  {
    const auto guard = lock_state();
    reassembly_buffer_.reject(src_rank, message);
  }
  send_control_message(src_rank, message, FrameKind::reject);
}

void Messenger::begin_extraction(std::uint32_t src_rank) {
  const auto guard = lock_state();
  questions_.begin_extraction(src_rank);
}

void Messenger::end_extraction(std::uint32_t src_rank, std::optional<std::uint64_t> extracted) {
  {
    const auto guard = lock_state();
    answer(questions_.end_extraction(src_rank, extracted));
  }
  wake();
}

void Messenger::note_receive(std::uint32_t src_rank, std::uint64_t message) {
  {
    const auto guard = lock_state();
    answer(questions_.note_receive(src_rank, message));
  }
  wake();
}

// Under the lock.
void Messenger::answer(const std::vector<MatchQuestions::Key>& questions) {
  for (const auto& [rank, number] : questions) {
    control_messages_.add(rank, number, FrameKind::match);
  }
}

void Messenger::send_control_message(std::uint32_t rank, std::uint64_t message, FrameKind kind) {
  {
    const auto guard = lock_state();
    control_messages_.add(rank, message, kind);
  }
  wake();
}

bool Messenger::drain(const std::function<void()>& meanwhile) {
  std::unique_lock guard = lock_state();
  auto last = Clock::now();
  std::uint64_t num_answers = num_answers_;
  while (!send_buffer_.is_empty() || !control_messages_.is_empty()) {
    changed_.wait_for(guard, milliseconds(20));
    guard.unlock();
    meanwhile();
    guard.lock();
    take_submitted();
    if (num_answers != num_answers_) {
      num_answers = num_answers_;
      last = Clock::now();
    }
    if (Clock::now() - last > kDrainTime) return false;
  }
  return true;
}

bool Messenger::is_striping_worth(std::uint16_t host, std::uint64_t bytes) {
  const auto guard = lock_state();
  return send_buffer_.is_striping_worth(host, bytes);
}

std::vector<PathState> Messenger::paths_to(std::uint16_t host) {
  const auto guard = lock_state();
  return send_buffer_.paths_to(host);
}

std::vector<PathUse> Messenger::uses_of_paths_to(std::uint16_t host) {
  const auto guard = lock_state();
  return send_buffer_.uses_of_paths_to(host);
}

std::vector<LinkLatency> Messenger::measured_links() {
  const auto guard = lock_state();
  return send_buffer_.links().measured();
}

void Messenger::work() {
  while (!is_ending_) poll_once();
}

void Messenger::connect_router(Time now) {
  if (router_ && router_->is_stalled(now, kStallTime)) router_->close();
  if (router_ && !router_->is_closed()) return;
  if (router_) {
    router_.reset();
    count_failed_call();
    const auto guard = lock_state();
    send_buffer_.lose_router();
  }
  if (now < next_call_) return;
  next_call_ = now + kCallInterval;
  FileDescriptor socket = connect_locally(config_.socket);
  if (!socket.is_open()) return count_failed_call();
  router_ = std::make_unique<Connection>(
      Connection::calling(std::move(socket), config_.rank, config_.key));
}

void Messenger::count_failed_call() {
  {
    const auto guard = lock_state();
    ++num_failed_calls_;
  }
  changed_.notify_all();
}

Connection* Messenger::connection_to(std::uint32_t rank) {
  std::unique_ptr<Connection>& kept = called_[rank];
  if (!kept) {
    FileDescriptor socket = connect_to(address_of_rank_[rank]);
    kept = std::make_unique<Connection>(
        Connection::calling(std::move(socket), config_.rank, config_.key));
  }
  return kept->is_closed() ? nullptr : kept.get();
}

// Segments that were sent over connections that have ended are sent again, over new ones.
void Messenger::drop_called(Time now) {
  for (auto& [rank, connection] : called_) {
    if (!connection) continue;
    if (is_silent(*connection, now)) connection->close();
    if (!connection->is_closed() || now - connection->opened() < kCallInterval) continue;
    connection.reset();
    const auto guard = lock_state();
    send_buffer_.lose_connection(rank);
  }
}

// Frames for a connection that is not open are lost, as on any path, and sent again.
void Messenger::put(const FrameHeader& header, Payload payload, bool bypasses_routers) {
  const bool has_router = router_ && router_->is_open();
  Connection* const connection =
      has_router && !bypasses_routers ? router_.get() : connection_to(header.dst_rank);
  if (connection != nullptr) connection->put(header, std::move(payload));
}

void Messenger::fill_connections(Time now) {
  const bool has_router = router_ && router_->is_open();
  const bool is_called = router_ && !router_->is_closed();
  // At the start the router is about to answer. One that hangs may answer later.
  if (is_called && !has_router && now < router_awaited_until_) return;
  std::vector<ControlMessage> messages;
  bool is_answered = false;
  {
    const auto guard = lock_state();
    messages = control_messages_.due(now);
    send_buffer_.expire(now);
    send_buffer_.leave_late(now);
    is_answered = has_router && !has_router_;
    has_router_ = has_router;
  }
  if (is_answered) changed_.notify_all();
  for (ControlMessage& message : messages) {
    message.header.digest = digest_of(message.header, {}, config_.key);
    put(message.header, nullptr, message.bypasses_routers);
  }
  while (true) {
    const OwnRouter router = !has_router          ? OwnRouter::absent
                             : router_->is_full() ? OwnRouter::busy
                                                  : OwnRouter::ready;
    std::optional<Departure> departure;
    {
      const auto guard = lock_state();
      departure = send_buffer_.next(now, router);
    }
    if (!departure) return;
    departure->header.digest = digest_of(departure->header, departure->bytes(), config_.key);
    put(departure->header, departure->payload, departure->bypasses_routers);
  }
}

void Messenger::accept_caller(Time now) {
  FileDescriptor socket = accept_from(listener_);
  if (!socket.is_open()) {
    next_accept_ = now + kAcceptInterval;
    return;
  }
  const bool is_of_job = hosts_of_job_.contains(host_of_peer(socket));
  callers_.push_back(
      std::make_unique<Connection>(Connection::answering(std::move(socket), config_.key)));
  if (const auto gone = unproved_.add(callers_.back().get(), is_of_job)) (*gone)->close();
}

void Messenger::drop_callers(Time now) {
  std::erase_if(callers_, [&](const auto& caller) {
    const bool is_dropped = caller->is_closed() || is_silent(*caller, now);
    if (is_dropped || caller->is_open()) unproved_.remove(caller.get());
    return is_dropped;
  });
}

void Messenger::poll_once() {
  const Time now = Clock::now();
  connect_router(now);
  drop_called(now);
  fill_connections(now);

  const short accepting = now < next_accept_ ? 0 : POLLIN;
  std::vector<pollfd> waits{{wake_event_.number(), POLLIN, 0}, {listener_.number(), accepting, 0}};
  std::vector<Connection*> connections;
  const auto add = [&](Connection& connection) {
    if (connection.is_closed()) return;
    connection.write();
    if (connection.is_closed()) return;
    const auto events = static_cast<short>(connection.has_to_write() ? POLLIN | POLLOUT : POLLIN);
    waits.push_back({connection.descriptor(), events, 0});
    connections.push_back(&connection);
  };
  if (router_) add(*router_);
  for (auto& [rank, connection] : called_) {
    if (connection) add(*connection);
  }
  drop_callers(now);
  for (const auto& caller : callers_) add(*caller);

  if (poll(waits.data(), waits.size(), kPoll_ms) < 0) return;
  if ((waits[0].revents & POLLIN) != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(wake_event_.number(), &count, sizeof count);
  }
  if ((waits[1].revents & POLLIN) != 0) accept_caller(now);
  for (std::size_t index = 0; index < connections.size(); ++index) {
    if (waits[index + 2].revents == 0) continue;
    Connection& connection = *connections[index];
    const bool is_router = router_.get() == &connection;
    connection.read([&](const FrameHeader& header, std::span<const std::byte> payload) {
      auto answer = take_frame(header, payload);
      if (!answer) return;
      answer->digest = digest_of(*answer, {}, config_.key);
      // A frame that came without routers is answered on the same connection.
      if (is_router) {
        put(*answer, nullptr, false);
      } else {
        connection.put(*answer, nullptr);
      }
    });
  }
}

bool Messenger::is_meant(const FrameHeader& header, std::span<const std::byte> payload) const {
  return header.dst_rank == config_.rank && header.src_rank < config_.host_of_rank.size() &&
         header.digest == digest_of(header, payload, config_.key);
}

std::optional<FrameHeader> Messenger::take_frame(const FrameHeader& header,
                                                 std::span<const std::byte> payload) {
  if (!is_meant(header, payload)) return std::nullopt;
  if (header.kind == FrameKind::data) {
    if (!take_data(header, payload)) return std::nullopt;
    return answer_to(header, FrameKind::ack);
  }
  take_control(header);
  if (!is_control_message(header.kind)) return std::nullopt;
  return answer_to(header, ack_of(header.kind));
}

bool Messenger::take_data(const FrameHeader& header, std::span<const std::byte> payload) {
  bool is_complete = false;
  {
    const auto guard = lock_state();
    if (!reassembly_buffer_.add(header, payload)) return false;
    is_complete = reassembly_buffer_.is_complete(header.src_rank, header.message);
    if (is_complete && header.message_bytes == kQuestionBytes) {
      if (const auto question = reassembly_buffer_.take(header.src_rank, header.message)) {
        answer(questions_.ask({header.src_rank, header.message}, question->span()));
      }
    }
  }
  if (is_complete) changed_.notify_all();
  return true;
}

// Frames without a payload.
void Messenger::take_control(const FrameHeader& header) {
  const std::uint32_t rank = header.src_rank;
  {
    const auto guard = lock_state();
    ++num_answers_;
    if (header.kind == FrameKind::ack) {
      send_buffer_.acknowledge(header, Clock::now());
    } else if (header.kind == FrameKind::match) {
      send_buffer_.match(rank, header.message);
    } else if (header.kind == FrameKind::reject) {
      send_buffer_.reject(rank, header.message, Clock::now());
    } else {
      control_messages_.end(header);
    }
  }
  if (is_control_message(header.kind)) on_match_(rank, header.message);
  changed_.notify_all();
}

// Reverses the hops.
FrameHeader Messenger::answer_to(const FrameHeader& header, FrameKind kind) const {
  FrameHeader answer = header;
  answer.kind = kind;
  answer.src_rank = config_.rank;
  answer.dst_rank = header.src_rank;
  answer.hop = 0;
  answer.hops = {};
  // Without the last hop, which is this host; the sender's host is the last one now.
  const std::size_t num_between = header.num_hops - std::size_t{1};
  std::reverse_copy(header.hops.begin(), header.hops.begin() + static_cast<long>(num_between),
                    answer.hops.begin());
  answer.hops[num_between] = config_.host_of_rank[header.src_rank];
  return answer;
}

}  // namespace fairlead::relay
