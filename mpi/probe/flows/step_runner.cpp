// SPDX-License-Identifier: Apache-2.0
// One step: orders out, rank 0's own part, reports in.
#include "flows/step_runner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

namespace fairlead::probe {
namespace {

// Processes that wait look for orders every 3 ms at most, and the lab's token buckets are empty
// sooner than the lead ends. A window of 80 ms was too short on a busy machine: a receiver that
// was not running finds 10 ms of messages at once.
constexpr FlowTiming kGlance = {.lead_s = 0.03, .window_s = 0.12, .tail_s = 0.03};
constexpr FlowTiming kExact = {.lead_s = 0.05, .window_s = 0.4, .tail_s = 0.05};
// Messages take this long at the pair's own rate: short enough for many of them, long enough that
// each costs little.
constexpr double kMessage_s = 0.002;
constexpr double kLeastBytes = 4 << 10;
constexpr double kMostBytes = 1 << 20;
// Steps of a search on usual clusters, for the progress bar.
constexpr int kStepsPerHost = 10;

}  // namespace

StepRunner::StepRunner(MPI_Comm comm, const Options& options, const Outcome& outcome, double end_s,
                       ControlChannel& control, FlowRunner& runner)
    : comm_(comm),
      num_ranks_(static_cast<int>(outcome.node_names.size())),
      end_s_(end_s),
      usual_Bps_(options.interfaces.value_or(InterfacesOptions{}).pair_Bps),
      control_(control),
      runner_(runner),
      bandwidth_Bps_(outcome.node_names.size() * outcome.node_names.size(),
                     std::numeric_limits<double>::quiet_NaN()) {
  const auto store = [this](int src, int dst, double Bps) {
    if (std::isfinite(Bps)) bandwidth_Bps_[static_cast<std::size_t>(src * num_ranks_ + dst)] = Bps;
  };
  for (const PairResult& pair : outcome.results) {
    store(pair.low, pair.high, pair.low_to_high_Bps.median);
    store(pair.high, pair.low, pair.high_to_low_Bps.median);
    // If a partner was given up, its flows would only cost more of the silence timeout. Pairs that
    // the budget left out do not count.
    const bool is_measured = pair.latency_s.num_samples > 0;
    if (!outcome.is_orderly && !is_measured && std::isinf(options.budget_s)) {
      dead_flows_.insert({pair.low, pair.high});
      dead_flows_.insert({pair.high, pair.low});
    }
  }
  for (int rank = 0; rank < num_ranks_; ++rank) {
    if (outcome.node_names[static_cast<std::size_t>(rank)].empty()) dead_hosts_.insert(rank);
  }
}

std::optional<std::vector<double>> StepRunner::measure(std::span<const Flow> flows,
                                                       Precision precision) {
  if (now_s() >= end_s_) return std::nullopt;
  show_progress();
  std::vector<Flow> alive;
  std::ranges::copy_if(flows, std::back_inserter(alive), [this](Flow f) { return !is_dead(f); });
  const std::vector<double> alive_Bps = run(alive, precision);
  std::vector<double> rates_Bps;
  for (const Flow flow : flows) {
    const auto place = std::ranges::find(alive, flow) - alive.begin();
    const bool is_run = place < static_cast<std::ptrdiff_t>(alive.size());
    rates_Bps.push_back(is_run ? alive_Bps[static_cast<std::size_t>(place)]
                               : std::numeric_limits<double>::quiet_NaN());
  }
  return rates_Bps;
}

std::vector<double> StepRunner::run(std::span<const Flow> flows, Precision precision) {
  ++step_;
  const FlowTiming& timing = precision == Precision::exact ? kExact : kGlance;
  orders_.clear();
  reports_.clear();
  std::vector<std::size_t> place_at_receiver;
  for (const Flow flow : flows) {
    const std::int64_t bytes = message_bytes(flow);
    add_end(flow.src, {.peer = flow.dst, .is_sender = 1, .message_bytes = bytes}, timing);
    add_end(flow.dst, {.peer = flow.src, .is_sender = 0, .message_bytes = bytes}, timing);
    place_at_receiver.push_back(static_cast<std::size_t>(orders_.at(flow.dst).num_flows - 1));
  }
  send_orders();
  if (orders_.contains(0)) reports_[0] = runner_.run(orders_.at(0));
  gather_reports();
  std::vector<double> rates_Bps;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto report = reports_.find(flows[i].dst);
    rates_Bps.push_back(report == reports_.end() ? std::numeric_limits<double>::quiet_NaN()
                                                 : report->second.rates_Bps[place_at_receiver[i]]);
    if (std::isnan(rates_Bps.back())) dead_flows_.insert(flows[i]);
  }
  return rates_Bps;
}

bool StepRunner::is_dead(Flow flow) const {
  return dead_flows_.contains(flow) || dead_hosts_.contains(flow.src) ||
         dead_hosts_.contains(flow.dst);
}

std::int64_t StepRunner::message_bytes(Flow flow) const {
  const double known = bandwidth_Bps_[static_cast<std::size_t>(flow.src * num_ranks_ + flow.dst)];
  const double Bps = std::isfinite(known) ? known : usual_Bps_;
  return static_cast<std::int64_t>(std::clamp(Bps * kMessage_s, kLeastBytes, kMostBytes));
}

void StepRunner::add_end(int rank, const FlowEnd& end, const FlowTiming& timing) {
  const FlowOrder empty{.step = step_, .num_flows = 0, .timing = timing, .ends = {}};
  FlowOrder& order = orders_.try_emplace(rank, empty).first->second;
  order.ends[static_cast<std::size_t>(order.num_flows++)] = end;
}

void StepRunner::send_orders() {
  std::erase_if(sent_, [](Sent& sent) {
    int is_sent = 0;
    return MPI_Test(&sent.request, &is_sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_sent != 0;
  });
  for (const auto& [rank, order] : orders_) {
    if (rank == 0) continue;
    Sent& sent = sent_.emplace_back(Sent{.order = order, .request = MPI_REQUEST_NULL});
    MPI_Isend(&sent.order, sizeof(FlowOrder), MPI_BYTE, rank, order_tag, comm_, &sent.request);
  }
}

void StepRunner::gather_reports() {
  for (const auto& [rank, order] : orders_) {
    const int src = rank;
    if (src != 0 && !control_.wait(src, [&] { return take_report(src); })) {
      is_orderly_ = false;
      dead_hosts_.insert(src);
      control_.announce_silent(src);
    }
  }
  for (const auto& [rank, report] : reports_) {
    if (report.has_given_up != 0) is_orderly_ = false;
  }
}

bool StepRunner::take_report(int src) {
  int has_arrived = 0;
  MPI_Iprobe(src, flow_report_tag, comm_, &has_arrived, MPI_STATUS_IGNORE);
  if (has_arrived != 0) {
    FlowReport report{};
    MPI_Recv(&report, sizeof report, MPI_BYTE, src, flow_report_tag, comm_, MPI_STATUS_IGNORE);
    // A report of an earlier step is late: its host had been given up.
    if (report.step == step_) reports_[src] = report;
  }
  return reports_.contains(src);
}

void StepRunner::show_progress() {
  if (now_s() - shown_s_ < 0.1) return;
  shown_s_ = now_s();
  const auto doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(num_ranks_)));
  const int total = kStepsPerHost * num_ranks_ * doublings;
  std::fprintf(stderr, "fairlead-probe: progress %d %d\n", std::min(step_, total), total);
}

}  // namespace fairlead::probe
