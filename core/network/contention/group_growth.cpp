// SPDX-License-Identifier: Apache-2.0
// Growth by one test per host, or by a sample of hosts that were alike so far.
#include "network/contention/group_growth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace fairlead {
namespace {

std::size_t index(int host) {
  return static_cast<std::size_t>(host);
}

std::vector<int> where(const std::vector<bool>& is_in) {
  std::vector<int> hosts;
  for (std::size_t host = 0; host < is_in.size(); ++host) {
    if (is_in[host]) hosts.push_back(static_cast<int>(host));
  }
  return hosts;
}

/// Hosts that are too slow for a test on one side follow from the other side if every tested host
/// is on exactly one side: a bottleneck between some hosts and all others.
Sides complete(const std::vector<Verdict>& as_source, const std::vector<Verdict>& as_destination) {
  Sides sides;
  bool is_one_or_other = true;
  for (std::size_t host = 0; host < as_source.size(); ++host) {
    sides.is_source.push_back(as_source[host] == Verdict::shared);
    sides.is_destination.push_back(as_destination[host] == Verdict::shared);
    if (as_source[host] == Verdict::apart && as_destination[host] == Verdict::apart) {
      is_one_or_other = false;
    }
  }
  for (std::size_t host = 0; is_one_or_other && host < as_source.size(); ++host) {
    if (as_source[host] == Verdict::unknown && as_destination[host] == Verdict::apart) {
      sides.is_source[host] = true;
    }
    if (as_destination[host] == Verdict::unknown && as_source[host] == Verdict::apart) {
      sides.is_destination[host] = true;
    }
  }
  return sides;
}

}  // namespace

std::vector<int> Sides::on_both() const {
  std::vector<bool> is_both = is_source;
  for (std::size_t host = 0; host < is_both.size(); ++host) {
    is_both[host] = is_source[host] && is_destination[host];
  }
  return where(is_both);
}

std::vector<int> Sides::sources() const {
  return where(is_source);
}
std::vector<int> Sides::destinations() const {
  return where(is_destination);
}

bool Sides::has(Flow flow) const {
  return is_source[index(flow.src)] && is_destination[index(flow.dst)];
}

void HostClasses::refine(const Sides& sides) {
  std::map<std::array<int, 3>, int> new_class;
  for (std::size_t host = 0; host < class_of_host_.size(); ++host) {
    const std::array<int, 3> traits = {class_of_host_[host], sides.is_source[host] ? 1 : 0,
                                       sides.is_destination[host] ? 1 : 0};
    const auto known = new_class.emplace(traits, static_cast<int>(new_class.size())).first;
    class_of_host_[host] = known->second;
  }
}

std::vector<std::vector<int>> HostClasses::members() const {
  std::vector<std::vector<int>> members;
  for (int host = 0; host < num_hosts(); ++host) {
    const std::size_t number = index((*this)[host]);
    if (number >= members.size()) members.resize(number + 1);
    members[number].push_back(host);
  }
  return members;
}

Sides GroupGrowth::grow(const FlowPair& seed, double capacity_Bps, bool is_expected) {
  const auto [a, x] = seed.first;
  const auto [c, y] = seed.second;
  const auto num_hosts = index(classes_.num_hosts());
  Verdicts as_source(num_hosts, Verdict::unknown);
  Verdicts as_destination(num_hosts, Verdict::unknown);
  as_source[index(a)] = as_source[index(c)] = Verdict::shared;
  as_source[index(x)] = as_source[index(y)] = Verdict::apart;
  as_destination[index(a)] = as_destination[index(c)] = Verdict::apart;
  as_destination[index(x)] = as_destination[index(y)] = Verdict::shared;

  const std::array in_seed = {a, x, c, y};
  for (std::vector<int>& members : classes_.members()) {
    const bool is_new = std::ranges::any_of(in_seed, [&members](int host) {
      return std::ranges::find(members, host) != members.end();
    });
    std::erase_if(members, [&](int h) { return std::ranges::find(in_seed, h) != in_seed.end(); });
    ask(std::move(members), is_new && !is_expected, as_source, [&](int host) {
      return sharing_.share({.first = seed.first, .second = {host, seed.second.dst}}, capacity_Bps);
    });
  }
  // Usually all hosts that do not send through it receive through it.
  std::vector<int> senders;
  std::vector<int> others;
  for (int host = 0; host < classes_.num_hosts(); ++host) {
    if (std::ranges::find(in_seed, host) != in_seed.end()) continue;
    (as_source[index(host)] == Verdict::shared ? senders : others).push_back(host);
  }
  for (std::vector<int>* members : {&senders, &others}) {
    ask(std::move(*members), false, as_destination, [&](int host) {
      return sharing_.share({.first = seed.first, .second = {seed.second.src, host}}, capacity_Bps);
    });
  }
  return complete(as_source, as_destination);
}

template <typename Test>
void GroupGrowth::ask(std::vector<int> hosts, bool is_each_asked, Verdicts& verdicts, Test test) {
  random_.shuffle(hosts);
  std::size_t num_asked = 0;
  const auto ask_up_to = [&](std::size_t end) {
    for (; num_asked < std::min(end, hosts.size()); ++num_asked) {
      verdicts[index(hosts[num_asked])] = test(hosts[num_asked]);
    }
  };
  const auto num_with = [&](Verdict verdict) {
    return std::ranges::count_if(hosts, [&](int host) { return verdicts[index(host)] == verdict; });
  };
  if (!is_each_asked) ask_up_to(num_samples());
  const bool is_any_shared = num_with(Verdict::shared) > 0;
  const bool is_any_apart = num_with(Verdict::apart) > 0;
  if (is_each_asked || is_any_shared == is_any_apart) {
    ask_up_to(hosts.size());
    return;
  }
  for (const int host : hosts) {
    verdicts[index(host)] = is_any_shared ? Verdict::shared : Verdict::apart;
  }
}

std::size_t GroupGrowth::num_samples() const {
  return static_cast<std::size_t>(std::bit_width(index(classes_.num_hosts()))) + 3;
}

}  // namespace fairlead
