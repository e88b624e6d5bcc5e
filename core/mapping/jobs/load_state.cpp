// SPDX-License-Identifier: Apache-2.0
// Loads by class of streams; a swap changes only the servers of its two nodes and their receivers.
#include "mapping/jobs/load_state.hpp"

#include <algorithm>
#include <utility>

#include "sim/route.hpp"

namespace fairlead::sim {

JobStreams::JobStreams(const JobsProblem& problem)
    : classes_(problem.streams), streams_of_rank_(static_cast<std::size_t>(problem.num_ranks)) {
  const Machine& machine = problem.machine;
  const ServerNumbers servers(machine);
  // A core of each kind relative to core 0; without one, no message goes there.
  const auto route = [&](const RankStream& stream, std::int64_t dst_core) {
    return route_of(machine, servers, problem.options.nic,
                    MessageStream{.job = 0,
                                  .src_core = 0,
                                  .dst_core = dst_core,
                                  .message_bytes = stream.message_bytes,
                                  .num_messages = stream.num_messages,
                                  .period_ns = stream.period_ns,
                                  .first_ns = 0.0});
  };
  const std::int64_t other_socket = machine.cores_per_socket;
  const std::int64_t other_node = other_socket * machine.sockets_per_node;
  for (const RankStream& stream : problem.streams) {
    const Route inside = route(stream, 0);
    const bool is_cached = servers.is_cache(inside.first_server);
    ways_.push_back({.src = stream.src_rank,
                     .dst = stream.dst_rank,
                     .stream_class = classes_.of_stream(ways_.size()),
                     .between_nodes_ns = route(stream, other_node).service_ns,
                     .between_sockets_ns = route(stream, other_socket).service_ns,
                     .in_socket_ns = is_cached ? 0 : inside.service_ns});
    for (const std::int64_t rank : {stream.src_rank, stream.dst_rank}) {
      streams_of_rank_[static_cast<std::size_t>(rank)].push_back(ways_.size() - 1);
    }
  }
}

LoadState::LoadState(const JobsProblem& problem, const JobStreams& streams,
                     optimizing::Occupancy occupancy)
    : streams_(streams),
      occupancy_(std::move(occupancy)),
      model_(streams.classes(), problem.options.arrivals == Arrivals::periodic),
      nic_(problem.options.nic),
      num_nodes_(static_cast<std::size_t>(problem.machine.num_nodes)),
      sockets_per_node_(static_cast<std::size_t>(problem.machine.sockets_per_node)),
      num_classes_(streams.classes().size()),
      sent_(num_nodes_ * num_classes_),
      received_(num_nodes_ * num_classes_),
      memory_(num_nodes_ * sockets_per_node_ * num_classes_),
      sent_to_ns_(num_nodes_ * num_nodes_ * num_classes_),
      slowed_(num_nodes_, 1.0),
      times_of_server_(num_nodes_ * (2 + sockets_per_node_)),
      is_moving_(static_cast<std::size_t>(problem.num_ranks), 0) {
  for (const JobStreams::Ways& way : streams_.all()) add(way, 1);
  for (std::size_t node = 0; node < num_nodes_; ++node) refresh(node, sending(node));
  for (std::size_t node = 0; node < num_nodes_; ++node) {
    refresh(num_nodes_ + node, receiving(node));
  }
  for (std::size_t node = 0; node < num_nodes_; ++node) refresh_memories(node);
  before_.clear();
  for (const ServerTimes& times : times_of_server_) waiting_ns_ += times.waiting_ns;
}

double LoadState::swap(std::int32_t one, std::int32_t other) {
  pairs_.assign(1, {one, other});
  return apply();
}

double LoadState::swap_sockets(std::int32_t one, std::int32_t other) {
  pairs_.clear();
  const auto here = occupancy_.occupants(one), there = occupancy_.occupants(other);
  for (std::size_t slot = 0; slot < here.size(); ++slot) {
    pairs_.emplace_back(here[slot], there[slot]);
  }
  return apply();
}

double LoadState::apply() {
  before_.clear();
  waiting_before_ns_ = waiting_ns_;
  const std::size_t here = node_of(occupancy_.host_of(pairs_.front().first));
  const std::size_t there = node_of(occupancy_.host_of(pairs_.front().second));
  exchange();
  if (here != there) {
    for (const std::size_t node : {here, there}) refresh(node, sending(node));
    for (std::size_t node = 0; node < num_nodes_; ++node) {
      refresh(num_nodes_ + node, receiving(node));
    }
  }
  refresh_memories(here);
  if (there != here) refresh_memories(there);
  double change_ns = 0.0;
  for (const auto& [server, was] : before_) {
    change_ns += times_of_server_[server].waiting_ns - was.waiting_ns;
  }
  waiting_ns_ += change_ns;
  return change_ns;
}

void LoadState::undo() {
  exchange();
  for (const auto& [server, was] : before_) times_of_server_[server] = was;
  for (const std::int32_t occupant : {pairs_.front().first, pairs_.front().second}) {
    const std::size_t node = node_of(occupancy_.host_of(occupant));
    slowed_[node] = slowdown(node);
  }
  waiting_ns_ = waiting_before_ns_;
}

/// Loads move with their ranks: subtracted before the swap, and added at the new place after it.
void LoadState::exchange() {
  const auto mark = [this](char is_moving) {
    for (const auto& [one, other] : pairs_) {
      for (const std::int32_t occupant : {one, other}) {
        if (occupancy_.is_task(occupant))
          is_moving_[static_cast<std::size_t>(occupant)] = is_moving;
      }
    }
  };
  mark(1);
  count_moving(-1);
  for (const auto& [one, other] : pairs_) occupancy_.swap(one, other);
  count_moving(1);
  mark(0);
}

void LoadState::count_moving(std::int64_t sign) {
  for (const auto& [one, other] : pairs_) {
    for (const std::int32_t occupant : {one, other}) {
      if (!occupancy_.is_task(occupant)) continue;
      for (const std::size_t stream : streams_.of_rank(occupant)) {
        const JobStreams::Ways& way = streams_.way(stream);
        // Between two ranks that move, the sender's turn counts it.
        if (way.dst == occupant && is_moving_[static_cast<std::size_t>(way.src)] != 0) continue;
        add(way, sign);
      }
    }
  }
}

void LoadState::add(const JobStreams::Ways& way, std::int64_t sign) {
  const std::int32_t src = occupancy_.host_of(static_cast<std::int32_t>(way.src));
  const std::int32_t dst = occupancy_.host_of(static_cast<std::int32_t>(way.dst));
  const auto count = [&](std::vector<Load>& loads, std::size_t index, std::int64_t work_ns) {
    Load& load = loads[index * num_classes_ + way.stream_class];
    load.num_streams += sign;
    load.work_ns += sign * work_ns;
  };
  const std::size_t src_node = node_of(src), dst_node = node_of(dst);
  if (src_node == dst_node) {
    const std::int64_t work_ns = src == dst ? way.in_socket_ns : way.between_sockets_ns;
    if (work_ns > 0) count(memory_, static_cast<std::size_t>(src), work_ns);
    return;
  }
  count(sent_, src_node, way.between_nodes_ns);
  if (nic_ == Nic::shared) count(sent_, dst_node, way.between_nodes_ns);
  if (nic_ != Nic::separate) return;
  count(received_, dst_node, way.between_nodes_ns);
  sent_to_ns_[(dst_node * num_classes_ + way.stream_class) * num_nodes_ + src_node] +=
      sign * way.between_nodes_ns;
}

double LoadState::done_ns() const {
  double last_ns = 0.0;
  for (const ServerTimes& times : times_of_server_) last_ns = std::max(last_ns, times.done_ns);
  return last_ns;
}

void LoadState::refresh(std::size_t server, const ServerTimes& times) {
  if (times == times_of_server_[server]) return;
  before_.emplace_back(server, times_of_server_[server]);
  times_of_server_[server] = times;
}

void LoadState::refresh_memories(std::size_t node) {
  for (std::size_t local = 0; local < sockets_per_node_; ++local) {
    const std::size_t socket = node * sockets_per_node_ + local;
    refresh(2 * num_nodes_ + socket, queue(row(memory_, socket)));
  }
}

double LoadState::slowdown(std::size_t node) const {
  double load = 0.0;
  for (std::size_t stream_class = 0; stream_class < num_classes_; ++stream_class) {
    load += static_cast<double>(sent_[node * num_classes_ + stream_class].work_ns) /
            streams_.classes().period_ns(stream_class);
  }
  return std::max(1.0, load);
}

ServerTimes LoadState::sending(std::size_t node) {
  slowed_[node] = slowdown(node);
  return queue(row(sent_, node));
}

/// All messages sent at one moment arrive at once, and each waits for the others.
ServerTimes LoadState::queue(std::span<const Load> loads) {
  return model_.times([&](std::size_t stream_class) {
    const auto num_streams = static_cast<double>(loads[stream_class].num_streams);
    const auto work_ns = static_cast<double>(loads[stream_class].work_ns);
    return Demand{.num_streams = num_streams,
                  .work_ns = work_ns,
                  .own_burst_ns = num_streams > 0.0 ? work_ns - work_ns / num_streams : 0.0,
                  .burst_ns = work_ns};
  });
}

/// Messages from one node arrive one after the other, so only messages of a burst that come from
/// several nodes faster than they can be received have to wait. An overloaded sender passes on as
/// much as it can, for a longer time: the receiver's total work stays the same.
ServerTimes LoadState::receiving(std::size_t node) {
  const std::span<const Load> loads = row(received_, node);
  double work_of_all_ns = 0.0;
  for (std::size_t stream_class = 0; stream_class < num_classes_; ++stream_class) {
    work_of_all_ns += static_cast<double>(loads[stream_class].work_ns) *
                      streams_.classes().num_messages(stream_class);
  }
  ServerTimes times = model_.times([&](std::size_t stream_class) {
    if (loads[stream_class].work_ns == 0) return Demand{};
    const auto work_ns = static_cast<double>(loads[stream_class].work_ns);
    const std::int64_t* from =
        sent_to_ns_.data() + (node * num_classes_ + stream_class) * num_nodes_;
    double offered_ns = 0.0, sending_ns = 0.0;
    for (std::size_t sender = 0; sender < num_nodes_; ++sender) {
      if (from[sender] == 0) continue;
      const auto its_ns = static_cast<double>(from[sender]);
      offered_ns += its_ns / slowed_[sender];
      sending_ns +=
          its_ns * static_cast<double>(sent_[sender * num_classes_ + stream_class].work_ns);
    }
    const double burst_ns = std::max(0.0, work_ns - sending_ns / work_ns);
    return Demand{.num_streams = static_cast<double>(loads[stream_class].num_streams),
                  .work_ns = offered_ns,
                  .own_burst_ns = burst_ns,
                  .burst_ns = burst_ns};
  });
  times.done_ns = std::max(times.done_ns, work_of_all_ns);
  return times;
}

}  // namespace fairlead::sim
