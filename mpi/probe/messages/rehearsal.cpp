// SPDX-License-Identifier: Apache-2.0
// Sends orders, runs one trial on all hosts, collects reports; then the next pattern.
#include "messages/rehearsal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "messages/mpi_itself.hpp"

namespace fairlead::probe {
namespace {

// Long enough to average over the scheduling of a busy machine, short enough for many turns.
constexpr double kTrial_s = 0.08;
constexpr int kMostSteps = 500;
// Far longer than processes begin one after the other.
constexpr double kLongStep_s = 0.02;
// Far longer than opening the connections of a step.
constexpr double kLongFirstStep_s = 0.1;
// Flows that share a bottleneck may take ten times as long as their pairs suggest.
constexpr double kFirstSizeRatio = 0.125;
// Fewer rounds would say nothing, so this many are run even when late.
constexpr int kFewestRounds = 3;
// A late message of an earlier trial must not be mistaken for one of the next.
constexpr int kFirstTrialTag = 1000;
constexpr int kNumTrialTags = 1000;

MessageCalls calls(bool is_seen) {
  return is_seen ? seen_calls() : unseen_calls();
}

}  // namespace

Rehearsal::Rehearsal(MPI_Comm comm, const Options& options, ControlChannel& control, bool yields)
    : comm_(comm),
      silence_timeout_s_(options.silence_timeout_s),
      control_(control),
      yields_(yields) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &num_ranks_);
  std::int64_t out_bytes = 0;
  std::int64_t in_bytes = 0;
  if (!options.rehearsal) return;
  least_bytes_ = options.rehearsal->least_bytes;
  require_ranks(options.rehearsal->patterns, num_ranks_);
  for (const Pattern& pattern : options.rehearsal->patterns) {
    Part& part = parts_.emplace_back();
    for (const PatternFlow& flow : pattern) {
      if (flow.src == rank_ || flow.dst == rank_) part.is_seen = part.is_seen || flow.is_seen;
      if (flow.src == rank_) {
        part.sent.push_back(flow);
        part.largest_sent_bytes = std::max(part.largest_sent_bytes, flow.bytes);
      }
      if (flow.dst == rank_) {
        part.received.push_back(flow);
        part.received_bytes += flow.bytes;
      }
    }
    out_bytes = std::max(out_bytes, part.largest_sent_bytes);
    in_bytes = std::max(in_bytes, part.received_bytes);
  }
  out_.resize(static_cast<std::size_t>(out_bytes), std::byte{1});
  in_.resize(static_cast<std::size_t>(in_bytes));
}

RehearsalFindings Rehearsal::conduct(const RehearsalOptions& options, Outcome& outcome) {
  RehearsalFindings findings;
  if (!outcome.is_orderly) return findings;
  last_begin_s_ = now_s() + options.most_s;
  const auto scale = find_scale(outcome);
  if (!scale) return findings;
  findings.num_steps = scale->num_steps;
  findings.size_ratio = scale->size_ratio;
  const double end_s = now_s() + options.time_s;
  const auto is_over = [&](int round) {
    return round >= options.max_rounds || (round >= kFewestRounds && now_s() >= end_s);
  };
  for (int round = 0; !is_over(round); ++round) {
    const auto round_s = try_all(*scale, round, outcome);
    if (!round_s) break;
    findings.rounds_s.push_back(*round_s);
  }
  return findings;
}

std::optional<Rehearsal::Scale> Rehearsal::find_scale(Outcome& outcome) {
  Scale scale{.num_steps = 1, .size_ratio = kFirstSizeRatio, .is_first_timed = true};
  // The first step opens connections, which counts for nothing where it is that long anyway. Whole
  // messages are timed only if parts of them suggest that this does not take too long.
  auto trials_s = try_all(scale, 0, outcome);
  if (!trials_s) return std::nullopt;
  scale.is_first_timed = least_bytes_ > 1 && std::ranges::min(*trials_s) > kLongFirstStep_s;
  if (!scale.is_first_timed) {
    trials_s = try_all(scale, 0, outcome);
    if (!trials_s) return std::nullopt;
  }
  double step_s = std::ranges::max(*trials_s) / kFirstSizeRatio;
  if (step_s > kTrial_s) {
    scale.size_ratio = kTrial_s / step_s;
    // Messages that may not be shortened so far take as long as they take.
    scale.is_first_timed = least_bytes_ > 1 && std::ranges::min(*trials_s) > kLongStep_s;
    return scale;
  }
  scale.size_ratio = 1;
  trials_s = try_all(scale, 0, outcome);
  if (!trials_s) return std::nullopt;
  step_s = std::max(std::ranges::max(*trials_s), 1e-6);
  scale.num_steps = std::clamp(static_cast<int>(kTrial_s / step_s), 1, kMostSteps);
  return scale;
}

std::optional<std::vector<double>> Rehearsal::try_all(Scale scale, int shift, Outcome& outcome) {
  // The order rotates, so that no pattern always runs after the same other one.
  const int num_patterns = static_cast<int>(parts_.size());
  std::vector<double> round_s(parts_.size());
  for (int turn = 0; turn < num_patterns; ++turn) {
    const int pattern = (turn + shift) % num_patterns;
    if (now_s() > last_begin_s_) return std::nullopt;
    const auto trial_s = try_out(pattern, scale, outcome);
    if (!trial_s) return std::nullopt;
    round_s[static_cast<std::size_t>(pattern)] = *trial_s;
  }
  return round_s;
}

std::optional<double> Rehearsal::try_out(int pattern, Scale scale, Outcome& outcome) {
  const TrialOrder order{.trial = ++trial_,
                         .pattern = pattern,
                         .num_steps = scale.num_steps,
                         .is_first_timed = scale.is_first_timed ? 1 : 0,
                         .size_ratio = scale.size_ratio};
  for (int dst = 1; dst < num_ranks_; ++dst) {
    MPI_Request request = MPI_REQUEST_NULL;
    // An order is small enough to be sent at once; it must not move until then.
    MPI_Isend(&order, sizeof order, MPI_BYTE, dst, trial_order_tag, comm_, &request);
    requests_.push_back(request);
  }
  if (!complete_all(true)) {
    outcome.is_orderly = false;
    return std::nullopt;
  }
  double longest_s = 0;
  const auto add = [&](const TrialReport& report) {
    longest_s = std::max(longest_s, report.elapsed_s);
    if (report.has_given_up != 0) outcome.is_orderly = false;
  };
  add(run(order));
  for (int src = 1; src < num_ranks_; ++src) {
    const auto take = [&] {
      int has_arrived = 0;
      MPI_Iprobe(src, trial_report_tag, comm_, &has_arrived, MPI_STATUS_IGNORE);
      if (has_arrived == 0) return false;
      TrialReport report{};
      MPI_Recv(&report, sizeof report, MPI_BYTE, src, trial_report_tag, comm_, MPI_STATUS_IGNORE);
      add(report);
      return true;
    };
    if (!control_.wait(src, take)) {
      outcome.is_orderly = false;
      control_.announce_silent(src);
    }
  }
  return outcome.is_orderly ? std::optional(longest_s) : std::nullopt;
}

void Rehearsal::serve() {
  int has_arrived = 0;
  if (MPI_Iprobe(0, trial_order_tag, comm_, &has_arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      has_arrived == 0) {
    return;
  }
  TrialOrder order{};
  if (MPI_Recv(&order, sizeof order, MPI_BYTE, 0, trial_order_tag, comm_, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS) {
    return;
  }
  // Only the last report may still be in transit: rank 0 waits for each.
  if (reports_.size() > 1) reports_.pop_front();
  reports_.push_back(run(order));
  control_.heard(0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&reports_.back(), sizeof(TrialReport), MPI_BYTE, 0, trial_report_tag, comm_, &request);
  MPI_Request_free(&request);
}

TrialReport Rehearsal::run(const TrialOrder& order) {
  const Part& part = parts_[static_cast<std::size_t>(order.pattern)];
  const int tag = kFirstTrialTag + order.trial % kNumTrialTags;
  TrialReport report{.trial = order.trial, .has_given_up = 0, .elapsed_s = 0};
  if (part.sent.empty() && part.received.empty()) return report;
  // No process can finish the first step before its neighbours have begun, so a short one is not
  // timed.
  bool is_answered = order.is_first_timed != 0 || step(part, order.size_ratio, tag);
  const double begin_s = now_s();
  for (int i = 0; is_answered && i < order.num_steps; ++i)
    is_answered = step(part, order.size_ratio, tag);
  report.elapsed_s = now_s() - begin_s;
  report.has_given_up = is_answered ? 0 : 1;
  has_given_up_ = has_given_up_ || !is_answered;
  return report;
}

bool Rehearsal::step(const Part& part, double size_ratio, int tag) {
  if (has_given_up_) return false;
  const auto bytes = [this, size_ratio](const PatternFlow& flow) {
    const auto shortened = static_cast<std::int64_t>(static_cast<double>(flow.bytes) * size_ratio);
    return static_cast<int>(std::max(shortened, std::min(flow.bytes, least_bytes_)));
  };
  std::byte* place = in_.data();
  for (const PatternFlow& flow : part.received) {
    calls(flow.is_seen)
        .irecv(place, bytes(flow), MPI_BYTE, flow.src, tag, comm_,
               &requests_.emplace_back(MPI_REQUEST_NULL));
    place += flow.bytes;
  }
  for (const PatternFlow& flow : part.sent) {
    calls(flow.is_seen)
        .isend(out_.data(), bytes(flow), MPI_BYTE, flow.dst, tag, comm_,
               &requests_.emplace_back(MPI_REQUEST_NULL));
    sent_bytes_ += static_cast<std::uint64_t>(bytes(flow));
  }
  return complete_all(part.is_seen);
}

bool Rehearsal::complete_all(bool is_seen) {
  const auto test_all = calls(is_seen).testall;
  constexpr double kLookInterval_s = 0.01;
  const double begin_s = now_s();
  double looked_s = begin_s;
  for (;;) {
    int are_complete = 0;
    if (test_all(static_cast<int>(requests_.size()), requests_.data(), &are_complete,
                 MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      return false;
    }
    if (are_complete != 0) break;
    if (yields_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    const double time_s = now_s();
    if (time_s - begin_s > silence_timeout_s_) return false;
    if (time_s - looked_s < kLookInterval_s) continue;
    control_.poll();
    looked_s = time_s;
  }
  requests_.clear();
  return true;
}

}  // namespace fairlead::probe
