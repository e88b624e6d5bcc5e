// SPDX-License-Identifier: Apache-2.0
// Simulates a program: each message waits for its latency, then takes its fair share of the
// network.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "collectives/event_queue.hpp"
#include "collectives/fair_sharing.hpp"
#include "collectives/program.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

constexpr double kNsPerS = 1e9;

class Simulation {
 public:
  Simulation(const Program& program, const Links& links, double tolerance_ratio)
      : program_(program),
        links_(links),
        sharing_(links, program.transfers.size(), tolerance_ratio),
        events_(program.transfers.size()),
        states_(program.transfers.size()),
        first_later_(program.transfers.size() + 1, 0),
        num_sends_(links.num_hosts(), 0),
        waiting_(links.num_hosts()),
        not_received_(program.max_receives > 0 ? links.num_hosts() : 0) {
    sort_dependencies();
    hold_receives();
  }

  double run_s() {
    for (std::size_t index = 0; index < states_.size(); ++index) {
      if (states_[index].num_awaited == 0) make_ready(static_cast<std::int32_t>(index));
    }
    std::size_t num_done = 0;
    while (!events_.is_empty()) {
      now_ns_ = events_.next_ns();
      while (!events_.is_empty() && events_.next_ns() == now_ns_) {
        const std::int32_t transfer = events_.pop();
        if (states_[static_cast<std::size_t>(transfer)].is_flowing) {
          finish(transfer);
          ++num_done;
        } else {
          begin_flow(transfer);
        }
      }
      share();
    }
    if (num_done != states_.size()) throw Error("simulation: messages wait for one another");
    return static_cast<double>(now_ns_) / kNsPerS;
  }

 private:
  struct State {
    double left_bytes = 0.0;
    std::int64_t since_ns = 0;  // from when on `left_bytes` shrinks
    double rate_Bps = 0.0;
    std::int32_t num_awaited = 0;
    bool is_flowing = false;
  };

  void sort_dependencies() {
    for (const Dependency& dependency : program_.dependencies) {
      ++first_later_[static_cast<std::size_t>(dependency.earlier) + 1];
      ++states_[static_cast<std::size_t>(dependency.later)].num_awaited;
    }
    for (std::size_t index = 0; index + 1 < first_later_.size(); ++index) {
      first_later_[index + 1] += first_later_[index];
    }
    later_.resize(program_.dependencies.size());
    std::vector<std::uint32_t> next(first_later_.begin(), first_later_.end() - 1);
    for (const Dependency& dependency : program_.dependencies) {
      later_[next[static_cast<std::size_t>(dependency.earlier)]++] = dependency.later;
    }
  }

  /// All but the first at each host wait, each until one before it is done.
  void hold_receives() {
    if (program_.max_receives == 0) return;
    std::vector<std::int32_t> num_receives(links_.num_hosts(), 0);
    for (std::size_t index = 0; index < states_.size(); ++index) {
      const auto dst = static_cast<std::size_t>(program_.transfers[index].dst);
      if (num_receives[dst]++ < program_.max_receives) continue;
      not_received_[dst].push_back(static_cast<std::int32_t>(index));
      ++states_[index].num_awaited;
    }
  }

  void allow_next_receive(std::size_t host) {
    if (program_.max_receives == 0 || not_received_[host].empty()) return;
    const std::int32_t next = not_received_[host].front();
    not_received_[host].pop_front();
    awaits_one_less(next);
  }

  void awaits_one_less(std::int32_t index) {
    if (--states_[static_cast<std::size_t>(index)].num_awaited == 0) make_ready(index);
  }

  void make_ready(std::int32_t index) {
    const auto src =
        static_cast<std::size_t>(program_.transfers[static_cast<std::size_t>(index)].src);
    if (program_.max_sends > 0 && num_sends_[src] >= program_.max_sends) {
      waiting_[src].push_back(index);
    } else {
      start(index);
    }
  }

  void start(std::int32_t index) {
    const Transfer& transfer = program_.transfers[static_cast<std::size_t>(index)];
    const auto src = static_cast<std::size_t>(transfer.src);
    ++num_sends_[src];
    const double latency_s = links_.latency_s(src, static_cast<std::size_t>(transfer.dst));
    events_.set(index, now_ns_ + std::llround(latency_s * kNsPerS));
  }

  void begin_flow(std::int32_t index) {
    State& state = states_[static_cast<std::size_t>(index)];
    const Transfer& transfer = program_.transfers[static_cast<std::size_t>(index)];
    state.is_flowing = true;
    state.left_bytes = transfer.num_bytes;
    state.since_ns = now_ns_;
    if (transfer.num_bytes > 0.0) {
      sharing_.add(index, static_cast<std::size_t>(transfer.src),
                   static_cast<std::size_t>(transfer.dst));
    } else {
      events_.set(index, now_ns_);
    }
  }

  void finish(std::int32_t index) {
    const Transfer& transfer = program_.transfers[static_cast<std::size_t>(index)];
    if (transfer.num_bytes > 0.0) sharing_.remove(index);
    const auto src = static_cast<std::size_t>(transfer.src);
    --num_sends_[src];
    if (!waiting_[src].empty()) {
      const std::int32_t next = waiting_[src].front();
      waiting_[src].pop_front();
      start(next);
    }
    allow_next_receive(static_cast<std::size_t>(transfer.dst));
    const auto number = static_cast<std::size_t>(index);
    for (std::uint32_t entry = first_later_[number]; entry < first_later_[number + 1]; ++entry) {
      awaits_one_less(later_[entry]);
    }
  }

  /// Gives the flows their new rates and their new ends.
  void share() {
    for (const std::int32_t index : sharing_.update()) {
      State& state = states_[static_cast<std::size_t>(index)];
      const double passed_s = static_cast<double>(now_ns_ - state.since_ns) / kNsPerS;
      state.left_bytes = std::max(0.0, state.left_bytes - passed_s * state.rate_Bps);
      state.since_ns = now_ns_;
      state.rate_Bps = sharing_.rate_Bps(index);
      const double left_s = state.left_bytes / state.rate_Bps;
      events_.set(index, now_ns_ + static_cast<std::int64_t>(std::ceil(left_s * kNsPerS)));
    }
  }

  const Program& program_;
  const Links& links_;
  FairSharing sharing_;
  EventQueue events_;
  std::vector<State> states_;
  std::vector<std::uint32_t> first_later_;  // where those begin that wait for a transfer
  std::vector<std::int32_t> later_;
  std::vector<std::int32_t> num_sends_;
  std::vector<std::deque<std::int32_t>> waiting_;  // ready, but the host has its sends under way
  std::vector<std::deque<std::int32_t>> not_received_;  // at a host with a limit, in their order
  std::int64_t now_ns_ = 0;
};

}  // namespace

double simulate_s(const Program& program, const Links& links, double tolerance_ratio) {
  return Simulation(program, links, tolerance_ratio).run_s();
}

}  // namespace fairlead::collectives
