// SPDX-License-Identifier: Apache-2.0
// The objectives `bottleneck_s`, `bottleneck_and_mean_s` and `slowest_rank_s`, smoothed.
#include "mapping/anneal/bottleneck_state.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "mapping/anneal/powers.hpp"

namespace fairlead::optimizing {
namespace {

// Sums of eighth powers lose their small terms after large ones were added and removed.
constexpr std::int32_t kStepsPerSum = 256;

// The exact times are computed if the energy is within this factor of the smallest one.
constexpr double kWorthALook = 1.1;

}  // namespace

Resources::Resources(const MeasuredNetwork& network)
    : num_hosts_(static_cast<std::int32_t>(network.latency_s.num_hosts)),
      first_pair_(2 * network.latency_s.num_hosts + network.groups.capacity_Bps.size()),
      latency_s_(network.latency_s.values.begin(), network.latency_s.values.end()) {
  const std::size_t num_hosts = network.latency_s.num_hosts;
  const auto add = [this](double rate_Bps) {
    seconds_per_byte_.push_back(rate_Bps > 0.0 ? 1.0 / rate_Bps : 0.0);
  };
  std::ranges::for_each(sending_capacities_Bps(network), add);
  std::ranges::for_each(receiving_capacities_Bps(network), add);
  std::ranges::for_each(network.groups.capacity_Bps, add);
  std::ranges::for_each(network.bandwidth_Bps.values, add);
  for (std::size_t host = 0; host < num_hosts; ++host) add(network.bandwidth_Bps(host, host));

  std::vector<std::vector<std::int32_t>> groups_of_pair(num_hosts * num_hosts);
  for (std::size_t entry = 0; entry < network.groups.group_of_pair.size(); ++entry) {
    const auto src = static_cast<std::size_t>(network.groups.src_of_pair[entry]);
    const auto dst = static_cast<std::size_t>(network.groups.dst_of_pair[entry]);
    groups_of_pair[src * num_hosts + dst].push_back(static_cast<std::int32_t>(
        2 * num_hosts + static_cast<std::size_t>(network.groups.group_of_pair[entry])));
  }
  first_.push_back(0);
  for (std::size_t pair = 0; pair < groups_of_pair.size(); ++pair) {
    const std::size_t src = pair / num_hosts, dst = pair % num_hosts;
    if (src == dst) {
      on_way_.push_back(static_cast<std::int32_t>(first_inside() + src));
    } else {
      on_way_.push_back(static_cast<std::int32_t>(first_pair_ + pair));
      on_way_.push_back(static_cast<std::int32_t>(src));
      on_way_.push_back(static_cast<std::int32_t>(num_hosts + dst));
      on_way_.insert(on_way_.end(), groups_of_pair[pair].begin(), groups_of_pair[pair].end());
    }
    first_.push_back(on_way_.size());
  }
  std::vector<std::set<std::int32_t>> hosts_of_group(network.groups.capacity_Bps.size());
  for (std::size_t entry = 0; entry < network.groups.group_of_pair.size(); ++entry) {
    auto& hosts = hosts_of_group[static_cast<std::size_t>(network.groups.group_of_pair[entry])];
    hosts.insert(static_cast<std::int32_t>(network.groups.src_of_pair[entry]));
    hosts.insert(static_cast<std::int32_t>(network.groups.dst_of_pair[entry]));
  }
  for (const auto& hosts : hosts_of_group) hosts_of_group_.emplace_back(hosts.begin(), hosts.end());
}

BottleneckState::BottleneckState(const TaskGraph& bytes, const TaskGraph& messages,
                                 const Resources& resources, const HostCosts& costs,
                                 BottleneckObjective objective, Occupancy occupancy,
                                 const ComputeDemand& demand)
    : bytes_(bytes),
      messages_(messages),
      partners_(bytes.num_exchanges() > 0 ? bytes : messages),
      resources_(resources),
      costs_(costs),
      mean_share_(objective == BottleneckObjective::bottleneck_and_mean
                      ? 1.0 / std::min(resources.num_hosts(), bytes.num_tasks())
                      : 0.0),
      occupancy_(std::move(occupancy)),
      load_s_(resources.size() + 2 * static_cast<std::size_t>(bytes.num_tasks()), 0.0),
      change_s_(load_s_.size(), 0.0),
      is_touched_(load_s_.size(), 0),
      host_then_(static_cast<std::size_t>(bytes.num_tasks()), -1),
      demand_(demand) {
  if (demand_.is_known()) hosts_.emplace(resources.num_hosts());
  for (std::int32_t task = 0; task < bytes_.num_tasks(); ++task) {
    const std::int32_t host = occupancy_.host_of(task);
    for (const Exchange& exchange : bytes_.of(task)) {
      add_load(host, occupancy_.host_of(exchange.peer), exchange.out);
    }
    add_load(host, host, bytes_.to_itself(task));
    for (const Exchange& exchange : messages_.of(task)) {
      add_latency(task, exchange.peer,
                  exchange.out * resources_.latency_s(host, occupancy_.host_of(exchange.peer)));
    }
    if (messages_.to_itself(task) > 0.0F) {
      add_latency(task, task, messages_.to_itself(task) * resources_.latency_s(host, host));
    }
  }
  apply();
  sum_up();
  keep_if_best();
}

void BottleneckState::keep_if_best() {
  const double energy = energy_s();
  if (energy > best_energy_s_ * kWorthALook) return;
  best_energy_s_ = std::min(best_energy_s_, energy);
  const auto place = [this](std::size_t index) {
    return load_s_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const double busiest_s = hosts_ ? slowest_host_s()
                                  : *std::max_element(place(0), place(resources_.first_inside())) +
                                        *std::max_element(place(resources_.size()), load_s_.end());
  const double exact_s = busiest_s + sums_.all_s * mean_share_;
  if (exact_s >= best_s_) return;
  best_s_ = exact_s;
  const auto hosts = occupancy_.host_of_task();
  best_.assign(hosts.begin(), hosts.end());
}

double BottleneckState::energy_of(const Sums& sums) const {
  if (hosts_) return eighth_root(sums.hosts) + sums.all_s * mean_share_;
  return eighth_root(sums.transfer) + eighth_root(sums.latency) + sums.all_s * mean_share_;
}

BottleneckState::Sums BottleneckState::after(const Sums& change) const {
  return {.transfer = sums_.transfer + change.transfer,
          .latency = sums_.latency + change.latency,
          .all_s = sums_.all_s + change.all_s,
          .hosts = sums_.hosts + change.hosts};
}

void BottleneckState::count(std::size_t place, double before_s, double after_s, Sums& sums) const {
  const std::size_t first_sent = resources_.size();
  const std::size_t first_received = first_sent + static_cast<std::size_t>(bytes_.num_tasks());
  // Each transfer counts once, with its pair, and each latency once, where it is sent.
  if (place >= resources_.first_pair() && place < first_received) {
    sums.all_s += after_s - before_s;
  }
  if (place >= first_sent) {
    sums.latency += eighth_power(after_s) - eighth_power(before_s);
  } else if (place < resources_.first_inside()) {
    sums.transfer += eighth_power(after_s) - eighth_power(before_s);
  }
}

void BottleneckState::change(std::int32_t place, double seconds) {
  const auto index = static_cast<std::size_t>(place);
  if (is_touched_[index] == 0) {
    is_touched_[index] = 1;
    touched_.push_back(place);
  }
  change_s_[index] += seconds;
}

void BottleneckState::add_load(std::int32_t src, std::int32_t dst, double bytes) {
  for (const std::int32_t resource : resources_.on_way(src, dst)) {
    change(resource, bytes * resources_.seconds_per_byte(resource));
  }
}

void BottleneckState::add_latency(std::int32_t src_task, std::int32_t dst_task, double seconds) {
  const auto first_sent = static_cast<std::int32_t>(resources_.size());
  change(first_sent + src_task, seconds);
  change(first_sent + bytes_.num_tasks() + dst_task, seconds);
}

void BottleneckState::move(std::int32_t occupant, std::int32_t host) {
  if (!occupancy_.is_task(occupant)) return;
  moved_.push_back(occupant);
  host_then_[static_cast<std::size_t>(occupant)] = host;
}

BottleneckState::Sums BottleneckState::collect() {
  for (const std::int32_t task : moved_) {
    const std::int32_t now = occupancy_.host_of(task), then = host_then(task);
    for (const Exchange& exchange : bytes_.of(task)) {
      const std::int32_t peer_now = occupancy_.host_of(exchange.peer);
      const std::int32_t peer_then = host_then(exchange.peer);
      if (peer_then != peer_now && exchange.peer < task) continue;  // counted from there
      if (exchange.out > 0.0F) {
        add_load(now, peer_now, -exchange.out);
        add_load(then, peer_then, exchange.out);
      }
      if (exchange.in > 0.0F) {
        add_load(peer_now, now, -exchange.in);
        add_load(peer_then, then, exchange.in);
      }
    }
    if (bytes_.to_itself(task) > 0.0F) {
      add_load(now, now, -bytes_.to_itself(task));
      add_load(then, then, bytes_.to_itself(task));
    }
    for (const Exchange& exchange : messages_.of(task)) {
      const std::int32_t peer_now = occupancy_.host_of(exchange.peer);
      const std::int32_t peer_then = host_then(exchange.peer);
      if (peer_then != peer_now && exchange.peer < task) continue;
      add_latency(task, exchange.peer,
                  exchange.out * (resources_.latency_s(then, peer_then) -
                                  resources_.latency_s(now, peer_now)));
      add_latency(exchange.peer, task,
                  exchange.in * (resources_.latency_s(peer_then, then) -
                                 resources_.latency_s(peer_now, now)));
    }
    if (messages_.to_itself(task) > 0.0F) {
      add_latency(task, task,
                  messages_.to_itself(task) *
                      (resources_.latency_s(then, then) - resources_.latency_s(now, now)));
    }
  }
  Sums change;
  for (const std::int32_t place : touched_) {
    const auto index = static_cast<std::size_t>(place);
    count(index, load_s_[index], load_s_[index] + change_s_[index], change);
  }
  if (hosts_) change.hosts = collect_hosts(*hosts_);
  return change;
}

double BottleneckState::collect_hosts(HostTimes& hosts) {
  for (const std::int32_t task : moved_) {
    hosts.touch(occupancy_.host_of(task));
    hosts.touch(host_then(task));
  }
  const auto num_resources = static_cast<std::int32_t>(resources_.size());
  for (const std::int32_t place : touched_) {
    const auto index = static_cast<std::size_t>(place);
    if (place >= num_resources) {
      const std::int32_t task = (place - num_resources) % bytes_.num_tasks();
      hosts.touch(occupancy_.host_of(task));
      hosts.touch(host_then(task));
      continue;
    }
    const double change =
        eighth_power(load_s_[index] + change_s_[index]) - eighth_power(load_s_[index]);
    resources_.for_each_host(place, [&](std::int32_t host) { hosts.add_load(host, change); });
  }
  return hosts.change([this](std::int32_t host) { return own_power_then(host); });
}

double BottleneckState::own_power_then(std::int32_t host) const {
  // Few tasks move in a step, so those that come are looked for among them.
  const auto comes = [this, host](std::int32_t task) {
    return host_then(task) == host && occupancy_.host_of(task) != host;
  };
  const auto stays = [this, host](std::int32_t occupant) {
    return occupancy_.is_task(occupant) && host_then(occupant) == host;
  };
  const auto occupants = occupancy_.occupants(host);
  const auto num_tasks =
      std::ranges::count_if(occupants, stays) + std::ranges::count_if(moved_, comes);
  const double seconds_per_work =
      demand_.seconds_per_work(static_cast<std::size_t>(host), static_cast<double>(num_tasks));
  double power = 0.0;
  for (const std::int32_t occupant : occupants) {
    if (stays(occupant)) power += eighth_power(task_time_then_s(occupant, seconds_per_work));
  }
  for (const std::int32_t task : moved_) {
    if (comes(task)) power += eighth_power(task_time_then_s(task, seconds_per_work));
  }
  return power;
}

double BottleneckState::task_time_then_s(std::int32_t task, double seconds_per_work) const {
  const auto sent = resources_.size() + static_cast<std::size_t>(task);
  const auto received = sent + static_cast<std::size_t>(bytes_.num_tasks());
  return demand_.work_s[static_cast<std::size_t>(task)] * seconds_per_work +
         std::max(load_s_[sent] + change_s_[sent], load_s_[received] + change_s_[received]);
}

double BottleneckState::slowest_host_s() const {
  // What is left of loads that cancelled out is no traffic.
  constexpr double kNoLoad = 1e-9;
  const auto first_inside = static_cast<std::ptrdiff_t>(resources_.first_inside());
  const double least_s =
      kNoLoad * *std::max_element(load_s_.begin(), load_s_.begin() + first_inside);
  std::vector<double> busiest_s(static_cast<std::size_t>(resources_.num_hosts()), 0.0);
  const auto raise = [&busiest_s](std::int32_t host, double seconds) {
    double& busiest = busiest_s[static_cast<std::size_t>(host)];
    busiest = std::max(busiest, seconds);
  };
  for (std::int32_t src = 0; src < resources_.num_hosts(); ++src) {
    for (std::int32_t dst = 0; dst < resources_.num_hosts(); ++dst) {
      const auto pair = resources_.on_way(src, dst);
      if (src == dst || load_s_[static_cast<std::size_t>(pair[0])] <= least_s) continue;
      for (const std::int32_t resource : pair) {
        const double seconds = load_s_[static_cast<std::size_t>(resource)];
        if (resource != resources_.num_hosts() + dst) raise(src, seconds);
        if (resource != src) raise(dst, seconds);
      }
    }
  }
  double slowest_s = 0.0;
  for (std::int32_t host = 0; host < resources_.num_hosts(); ++host) {
    const auto tasks = [this](std::int32_t occupant) { return occupancy_.is_task(occupant); };
    const auto num_tasks = std::ranges::count_if(occupancy_.occupants(host), tasks);
    const double seconds_per_work =
        demand_.seconds_per_work(static_cast<std::size_t>(host), static_cast<double>(num_tasks));
    for (const std::int32_t occupant : occupancy_.occupants(host)) {
      if (!occupancy_.is_task(occupant)) continue;
      slowest_s = std::max(slowest_s, task_time_then_s(occupant, seconds_per_work) +
                                          busiest_s[static_cast<std::size_t>(host)]);
    }
  }
  return slowest_s;
}

void BottleneckState::clear_step() {
  for (const std::int32_t place : touched_) {
    change_s_[static_cast<std::size_t>(place)] = 0.0;
    is_touched_[static_cast<std::size_t>(place)] = 0;
  }
  touched_.clear();
  for (const std::int32_t task : moved_) host_then_[static_cast<std::size_t>(task)] = -1;
  moved_.clear();
  if (hosts_) hosts_->clear();
}

void BottleneckState::apply() {
  for (const std::int32_t place : touched_) {
    const auto index = static_cast<std::size_t>(place);
    load_s_[index] += change_s_[index];
  }
  if (hosts_) hosts_->apply();
  clear_step();
}

void BottleneckState::sum_up() {
  sums_ = {};
  for (std::size_t place = 0; place < load_s_.size(); ++place) {
    load_s_[place] = std::max(load_s_[place], 0.0);  // what is left of sums that cancelled out
    count(place, 0.0, load_s_[place], sums_);
  }
  if (hosts_) sum_up_hosts(*hosts_);
  num_since_sum_ = 0;
}

void BottleneckState::sum_up_hosts(HostTimes& hosts) {
  hosts.reset();
  for (std::size_t place = 0; place < resources_.first_inside(); ++place) {
    resources_.for_each_host(static_cast<std::int32_t>(place), [&](std::int32_t host) {
      hosts.add_load(host, eighth_power(load_s_[place]));
    });
  }
  for (std::int32_t host = 0; host < resources_.num_hosts(); ++host) hosts.touch(host);
  sums_.hosts = hosts.change([this](std::int32_t host) { return own_power_then(host); });
  hosts.apply();
  hosts.clear();
}

float BottleneckState::swap_change(std::int32_t task, std::int32_t occupant, float /*limit*/) {
  move(task, occupancy_.host_of(occupant));
  move(occupant, occupancy_.host_of(task));
  const Sums change = collect();
  clear_step();
  return static_cast<float>(energy_of(after(change)) - energy_s());
}

void BottleneckState::swap(std::int32_t task, std::int32_t occupant) {
  move(task, occupancy_.host_of(occupant));
  move(occupant, occupancy_.host_of(task));
  sums_ = after(collect());
  apply();
  occupancy_.swap(task, occupant);
  if (++num_since_sum_ >= kStepsPerSum) sum_up();
}

float BottleneckState::swap_hosts_change(std::int32_t one, std::int32_t other) {
  for (const std::int32_t occupant : occupancy_.occupants(one)) move(occupant, other);
  for (const std::int32_t occupant : occupancy_.occupants(other)) move(occupant, one);
  const Sums change = collect();
  clear_step();
  return static_cast<float>(energy_of(after(change)) - energy_s());
}

void BottleneckState::swap_hosts(std::int32_t one, std::int32_t other) {
  for (const std::int32_t occupant : occupancy_.occupants(one)) move(occupant, other);
  for (const std::int32_t occupant : occupancy_.occupants(other)) move(occupant, one);
  collect();
  apply();
  for (std::size_t slot = 0; slot < occupancy_.occupants(one).size(); ++slot) {
    occupancy_.swap(occupancy_.occupants(one)[slot], occupancy_.occupants(other)[slot]);
  }
  sum_up();
}

}  // namespace fairlead::optimizing
