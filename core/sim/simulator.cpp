// SPDX-License-Identifier: Apache-2.0
// The event loop: the server with the earliest event passes its message on.
// A server has the earliest next message of each of its streams, so it needs no queue to find the
// next one to serve. A message exists only while it is passed from one server to the next. The
// event of a sending interface is the moment at which the receiver may begin. All messages pass the
// switch in the same time, so receivers get them in the order of events.
#include <algorithm>
#include <utility>

#include "fairlead/sim/simulation.hpp"
#include "sim/arrivals.hpp"
#include "sim/checks.hpp"
#include "sim/event_queue.hpp"
#include "sim/route.hpp"
#include "sim/server.hpp"

namespace fairlead::sim {

class Simulator::Engine {
 public:
  Engine(const Machine& machine, const std::vector<MessageStream>& streams, std::size_t num_jobs,
         const Options& options)
      : machine_(machine),
        options_(options),
        numbers_(machine),
        servers_(numbers_.count()),
        event_queue_(numbers_.count()),
        jobs_(num_jobs) {
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      servers_[server].has_queue = !numbers_.is_cache(server);
    }
    streams_.reserve(streams.size());
    for (std::size_t index = 0; index < streams.size(); ++index) enter(streams[index], index);
    for (std::size_t server = 0; server < servers_.size(); ++server) reschedule(server);
  }

  bool advance(std::int64_t num_messages) {
    for (; num_messages > 0 && !event_queue_.is_empty(); --num_messages) {
      const std::size_t server = event_queue_.next_server();
      if (servers_[server].serves_incoming()) {
        receive_shared(server);
      } else {
        send(server);
      }
      reschedule(server);
    }
    return !event_queue_.is_empty();
  }

  [[nodiscard]] std::int64_t num_messages() const { return num_messages_; }
  [[nodiscard]] std::int64_t num_sent() const { return num_sent_; }

  [[nodiscard]] std::vector<ServerLoad> servers() const {
    std::vector<ServerLoad> loads;
    loads.reserve(servers_.size());
    for (const Server& server : servers_) loads.push_back(server.load());
    return loads;
  }

  [[nodiscard]] std::vector<JobOutcome> jobs() const {
    std::vector<JobOutcome> outcomes;
    outcomes.reserve(jobs_.size());
    for (const Job& job : jobs_) {
      outcomes.push_back(job.outcome);
      outcomes.back().waiting_s = to_seconds(job.waiting_ns);
    }
    return outcomes;
  }

 private:
  struct ActiveStream {
    Route route;
    ArrivalTimes arrivals;
    std::size_t job;
    std::int64_t message_bytes;
  };
  struct Job {
    JobOutcome outcome;
    SumOfNs waiting_ns = 0;
  };

  void enter(const MessageStream& stream, std::size_t index) {
    streams_.push_back({.route = route_of(machine_, numbers_, options_.nic, stream),
                        .arrivals = ArrivalTimes(stream, index, options_),
                        .job = static_cast<std::size_t>(stream.job),
                        .message_bytes = stream.message_bytes});
    num_messages_ += stream.num_messages;
    const ActiveStream& active = streams_.back();
    const Route& route = active.route;
    const double ratio = static_cast<double>(route.service_ns) / stream.period_ns;
    servers_[route.first_server].add_offered_ratio(ratio);
    if (is_received(route)) servers_[route.receiving_server].add_offered_ratio(ratio);
    servers_[route.first_server].pending.push(
        {.arrival_ns = active.arrivals.next_ns(), .stream = index});
  }

  [[nodiscard]] bool is_received(const Route& route) const {
    return route.leaves_node && options_.nic != Nic::send_only;
  }

  /// When the server's next message may be passed on: at its start with cut-through.
  void reschedule(std::size_t index) {
    const Server& server = servers_[index];
    if (server.is_idle()) {
      event_queue_.set(index, kNever);
      return;
    }
    const std::int64_t start_ns = server.start_ns(server.next_arrival_ns());
    if (server.serves_incoming()) {
      const Incoming& message = server.incoming.front();
      const std::int64_t end_ns = start_ns + streams_[message.stream].route.service_ns;
      event_queue_.set(index, std::max(end_ns, message.sent_ns));
      return;
    }
    const Route& route = streams_[server.pending.first().stream].route;
    const bool waits_for_end =
        !route.leaves_node || options_.forwarding == Forwarding::store_and_forward;
    event_queue_.set(index, waits_for_end ? start_ns + route.service_ns : start_ns);
  }

  void send(std::size_t index) {
    Server& server = servers_[index];
    const auto [arrival_ns, stream_index] = server.pending.first();
    ActiveStream& stream = streams_[stream_index];
    const Service sent = serve(server, stream, arrival_ns, 0);
    ++num_sent_;
    stream.arrivals.advance();
    std::int64_t there_ns = sent.end_ns;
    if (stream.route.leaves_node) {
      const bool cuts_through = options_.forwarding == Forwarding::cut_through;
      const Incoming message{
          .arrival_ns = (cuts_through ? sent.start_ns : sent.end_ns) + machine_.switch_ns,
          .sent_ns = sent.end_ns + machine_.switch_ns,
          .stream = stream_index};
      if (options_.nic == Nic::shared) {
        queue_at_shared(message, server);
        return;
      }
      there_ns = receive(message);
    }
    deliver(stream, there_ns);
    if (stream.arrivals.is_over()) {
      server.pending.pop();
    } else {
      server.pending.replace_first(
          {.arrival_ns = next_arrival_ns(stream, there_ns), .stream = stream_index});
    }
  }

  /// Passes the message through the receiver. @return its arrival
  std::int64_t receive(const Incoming& message) {
    ActiveStream& stream = streams_[message.stream];
    if (!is_received(stream.route)) return message.sent_ns;
    Server& receiver = servers_[stream.route.receiving_server];
    return serve(receiver, stream, message.arrival_ns, message.sent_ns).end_ns;
  }

  /// Passes the message to an interface that also sends; there it may be served before later sends.
  /// In a closed loop its stream waits until it has been received.
  void queue_at_shared(const Incoming& message, Server& sender) {
    const ActiveStream& stream = streams_[message.stream];
    if (options_.is_closed_loop || stream.arrivals.is_over()) {
      sender.pending.pop();
    } else {
      sender.pending.replace_first(
          {.arrival_ns = stream.arrivals.next_ns(), .stream = message.stream});
    }
    servers_[stream.route.receiving_server].incoming.push_back(message);
    reschedule(stream.route.receiving_server);
  }

  void receive_shared(std::size_t index) {
    Server& server = servers_[index];
    const Incoming message = server.incoming.front();
    server.incoming.pop_front();
    ActiveStream& stream = streams_[message.stream];
    const std::int64_t there_ns = serve(server, stream, message.arrival_ns, message.sent_ns).end_ns;
    deliver(stream, there_ns);
    if (!options_.is_closed_loop || stream.arrivals.is_over()) return;
    servers_[stream.route.first_server].pending.push(
        {.arrival_ns = next_arrival_ns(stream, there_ns), .stream = message.stream});
    reschedule(stream.route.first_server);
  }

  Service serve(Server& server, const ActiveStream& stream, std::int64_t arrival_ns,
                std::int64_t earliest_end_ns) {
    const Service service =
        server.serve(arrival_ns, stream.route.service_ns, stream.message_bytes, earliest_end_ns);
    jobs_[stream.job].waiting_ns += service.start_ns - arrival_ns;
    return service;
  }

  void deliver(const ActiveStream& stream, std::int64_t there_ns) {
    JobOutcome& outcome = jobs_[stream.job].outcome;
    ++outcome.num_messages;
    outcome.finish_ns = std::max(outcome.finish_ns, there_ns);
  }

  [[nodiscard]] std::int64_t next_arrival_ns(const ActiveStream& stream,
                                             std::int64_t there_ns) const {
    const std::int64_t next_ns = stream.arrivals.next_ns();
    return options_.is_closed_loop ? std::max(next_ns, there_ns) : next_ns;
  }

  Machine machine_;
  Options options_;
  ServerNumbers numbers_;
  std::vector<Server> servers_;
  EventQueue event_queue_;
  std::vector<Job> jobs_;
  std::vector<ActiveStream> streams_;
  std::int64_t num_messages_ = 0;
  std::int64_t num_sent_ = 0;
};

Simulator::Simulator(const Machine& machine, const std::vector<MessageStream>& streams,
                     std::int64_t num_jobs, const Options& options) {
  check(machine);
  check(machine, streams, num_jobs);
  engine_ = std::make_unique<Engine>(machine, streams, static_cast<std::size_t>(num_jobs), options);
}

Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

bool Simulator::advance(std::int64_t num_messages) {
  return engine_->advance(num_messages);
}

std::int64_t Simulator::num_messages() const {
  return engine_->num_messages();
}

std::int64_t Simulator::num_sent() const {
  return engine_->num_sent();
}

std::vector<ServerLoad> Simulator::servers() const {
  return engine_->servers();
}

std::vector<JobOutcome> Simulator::jobs() const {
  return engine_->jobs();
}

}  // namespace fairlead::sim
