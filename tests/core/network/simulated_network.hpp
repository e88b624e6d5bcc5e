// SPDX-License-Identifier: Apache-2.0
// A network in which flows get their max-min fair share of every link on their way.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fairlead/network/contention.hpp"

namespace fairlead::test {

/// Racks of hosts behind uplinks; a rack of -1 is no rack: its hosts are connected to the core
/// directly.
struct Racks {
  std::vector<int> rack_of_host;
  std::vector<double> up_Bps;
  std::vector<double> down_Bps;
};

class SimulatedNetwork {
 public:
  SimulatedNetwork(std::vector<double> nic_Bps, Racks racks, double noise_ratio = 0,
                   unsigned seed = 1)
      : nic_Bps_(std::move(nic_Bps)),
        racks_(std::move(racks)),
        noise_(0, noise_ratio),
        random_(seed) {}

  /// Rates of single pairs, [src][dst].
  void limit_pairs(std::vector<std::vector<double>> pair_Bps) { pair_Bps_ = std::move(pair_Bps); }
  /// What all flows carry together: the processor of one machine that plays all hosts.
  void limit_processor(double processor_Bps) { processor_Bps_ = processor_Bps; }
  /// After so many steps there are no more.
  void end_after(int num_steps) { steps_left_ = num_steps; }
  /// This host answers no more.
  void silence(int host) { silent_host_ = host; }

  [[nodiscard]] int num_hosts() const { return static_cast<int>(nic_Bps_.size()); }
  [[nodiscard]] int num_steps() const { return num_steps_; }
  [[nodiscard]] int most_flows() const { return most_flows_; }

  std::optional<std::vector<double>> measure(std::span<const Flow> flows, Precision precision) {
    if (steps_left_-- <= 0) return std::nullopt;
    ++num_steps_;
    most_flows_ = std::max(most_flows_, static_cast<int>(flows.size()));
    std::vector<double> rates_Bps = share(flows);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      rates_Bps[flow] *= std::exp(noise_(random_) * (precision == Precision::exact ? 0.5 : 1));
      if (flows[flow].src == silent_host_ || flows[flow].dst == silent_host_) {
        rates_Bps[flow] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    return rates_Bps;
  }

  [[nodiscard]] MeasureFlows measurer() {
    return [this](std::span<const Flow> flows, Precision precision) {
      return measure(flows, precision);
    };
  }

 private:
  struct Link {
    double free_Bps;
    std::vector<std::size_t> flows;
  };

  /// Fills all flows alike until a link is full, fixes its flows, and goes on with the others.
  std::vector<double> share(std::span<const Flow> flows) const {
    std::map<std::string, Link> links;
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      for (const auto& [name, capacity_Bps] : way(flows[flow])) {
        links.try_emplace(name, Link{capacity_Bps, {}}).first->second.flows.push_back(flow);
      }
    }
    std::vector<double> rates_Bps(flows.size(), -1);
    for (;;) {
      double least_Bps = std::numeric_limits<double>::infinity();
      const Link* fullest = nullptr;
      for (const auto& [name, link] : links) {
        const auto [open, used_Bps] = usage(link, rates_Bps);
        if (open == 0 || (link.free_Bps - used_Bps) / open >= least_Bps) continue;
        least_Bps = (link.free_Bps - used_Bps) / open;
        fullest = &link;
      }
      if (fullest == nullptr) return rates_Bps;
      for (const std::size_t flow : fullest->flows) {
        if (rates_Bps[flow] < 0) rates_Bps[flow] = least_Bps;
      }
    }
  }

  struct Usage {
    int num_open;
    double used_Bps;
  };

  static Usage usage(const Link& link, const std::vector<double>& rates_Bps) {
    Usage usage{0, 0};
    for (const std::size_t flow : link.flows) {
      rates_Bps[flow] < 0 ? void(++usage.num_open) : void(usage.used_Bps += rates_Bps[flow]);
    }
    return usage;
  }

  [[nodiscard]] std::vector<std::pair<std::string, double>> way(Flow flow) const {
    const auto src = static_cast<std::size_t>(flow.src);
    const auto dst = static_cast<std::size_t>(flow.dst);
    std::vector<std::pair<std::string, double>> links = {
        {"out" + std::to_string(src), nic_Bps_[src]}, {"in" + std::to_string(dst), nic_Bps_[dst]}};
    const int from = racks_.rack_of_host[src];
    const int to = racks_.rack_of_host[dst];
    if (from != to && from >= 0) {
      links.emplace_back("up" + std::to_string(from),
                         racks_.up_Bps[static_cast<std::size_t>(from)]);
    }
    if (from != to && to >= 0) {
      links.emplace_back("down" + std::to_string(to),
                         racks_.down_Bps[static_cast<std::size_t>(to)]);
    }
    if (!pair_Bps_.empty()) {
      links.emplace_back("pair" + std::to_string(src) + "-" + std::to_string(dst),
                         pair_Bps_[src][dst]);
    }
    if (std::isfinite(processor_Bps_)) links.emplace_back("processor", processor_Bps_);
    return links;
  }

  std::vector<double> nic_Bps_;
  Racks racks_;
  std::vector<std::vector<double>> pair_Bps_;
  double processor_Bps_ = std::numeric_limits<double>::infinity();
  std::normal_distribution<double> noise_;
  std::mt19937 random_;
  int steps_left_ = std::numeric_limits<int>::max();
  int silent_host_ = -1;
  int num_steps_ = 0;
  int most_flows_ = 0;
};

/// Hosts in racks of these sizes, in an order drawn with the seed: names do not show racks.
inline std::vector<int> hidden_racks(const std::vector<int>& sizes, unsigned seed) {
  std::vector<int> rack_of_host;
  for (std::size_t rack = 0; rack < sizes.size(); ++rack) {
    rack_of_host.insert(rack_of_host.end(), static_cast<std::size_t>(sizes[rack]),
                        static_cast<int>(rack));
  }
  std::mt19937 random(seed);
  std::shuffle(rack_of_host.begin(), rack_of_host.end(), random);
  return rack_of_host;
}

}  // namespace fairlead::test
