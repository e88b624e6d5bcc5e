// SPDX-License-Identifier: Apache-2.0
// Orders to measure a host, and the reports.
#include "hosts/host_runner.hpp"

#include <algorithm>

#include "hosts/throttling.hpp"
#include "inside/allowed_cpus.hpp"

namespace fairlead::probe {
namespace {

// A tenth of a second for all passes, and arrays larger than most caches.
constexpr double kSlice_s = 0.004;
constexpr std::int64_t kMemoryBytes = std::int64_t{48} << 20;
// Hosts of one machine are measured one after the other, as long as this together, and all of them
// keep their arrays.
constexpr double kOfOneMachine_s = 0.6;
constexpr double kShortestSlice_s = 0.001, kLongestSlice_s = 0.008;
// A quota stops threads in each of its periods: hosts that have one are measured again, by slices
// of a few periods.
constexpr double kSliceOfQuota_s = 0.016;
constexpr std::int64_t kMemoryOfOneMachine = std::int64_t{12} << 20;

double slice_of_one_machine_s(std::size_t num_hosts) {
  const auto num_slices = static_cast<double>(num_hosts * kNumHostRates) * kNumHostPasses;
  return std::clamp(kOfOneMachine_s / num_slices, kShortestSlice_s, kLongestSlice_s);
}

}  // namespace

std::vector<std::optional<MeasuredHost>> HostRunner::conduct(const Outcome& outcome,
                                                             bool shares_machine) {
  const std::size_t num_ranks = outcome.node_names.size();
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    if (!outcome.node_names[rank].empty()) ranks.push_back(static_cast<int>(rank));
  }
  const double slice_s = shares_machine ? slice_of_one_machine_s(num_ranks) : kSlice_s;
  std::vector<HostReport> reports = measure_all(ranks, shares_machine, slice_s, num_ranks);
  std::erase_if(ranks, [&reports](int rank) {
    return reports[static_cast<std::size_t>(rank)].num_throttled == 0;
  });
  const auto again = measure_all(ranks, shares_machine, kSliceOfQuota_s, num_ranks);
  for (const int rank : ranks) {
    reports[static_cast<std::size_t>(rank)] = again[static_cast<std::size_t>(rank)];
  }
  std::vector<std::optional<MeasuredHost>> hosts(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    if (reports[rank].num_passes < kNumHostPasses) continue;
    hosts[rank] = MeasuredHost{.num_cores = reports[rank].num_cores,
                               .rates = estimate_rates(reports[rank].passes)};
  }
  return hosts;
}

std::vector<HostReport> HostRunner::measure_all(std::span<const int> ranks, bool shares_machine,
                                                double slice_s, std::size_t num_ranks) {
  std::vector<HostReport> reports(num_ranks);
  if (!shares_machine) {
    measure(ranks,
            {.slice_s = slice_s,
             .memory_bytes = kMemoryBytes,
             .num_passes = kNumHostPasses,
             .is_last = 1},
            reports);
    return reports;
  }
  for (int pass = 1; pass <= kNumHostPasses; ++pass) {
    const HostOrder order{.slice_s = slice_s,
                          .memory_bytes = kMemoryOfOneMachine,
                          .num_passes = 1,
                          .is_last = pass == kNumHostPasses ? 1 : 0};
    for (const int& rank : ranks) measure(std::span(&rank, 1), order, reports);
  }
  return reports;
}

void HostRunner::measure(std::span<const int> ranks, const HostOrder& order,
                         std::vector<HostReport>& reports) {
  for (const int rank : ranks) {
    if (rank != 0) send(rank, order);
  }
  for (const int rank : ranks) {
    const std::optional<HostReport> report = rank == 0 ? carry_out(order) : receive(rank);
    if (!report) continue;
    HostReport& all = reports[static_cast<std::size_t>(rank)];
    all.num_cores = report->num_cores;
    all.num_throttled += report->num_throttled;
    for (int pass = 0; pass < report->num_passes && all.num_passes < kNumHostPasses; ++pass) {
      all.passes[static_cast<std::size_t>(all.num_passes++)] =
          report->passes[static_cast<std::size_t>(pass)];
    }
  }
}

HostReport HostRunner::carry_out(const HostOrder& order) {
  const WithJobCpus with_job_cpus;
  const auto num_cores = static_cast<std::int32_t>(std::max(std::size_t{1}, with_job_cpus.cpus().size()));
  HostReport report{.num_cores = num_cores, .num_passes = order.num_passes};
  if (!benchmark_) {
    benchmark_.emplace(report.num_cores, static_cast<std::size_t>(order.memory_bytes));
  }
  const std::int64_t earlier = num_throttled_periods();
  for (std::size_t pass = 0; pass < static_cast<std::size_t>(order.num_passes); ++pass) {
    report.passes[pass] = benchmark_->pass(order.slice_s);
  }
  report.num_throttled = num_throttled_periods() - earlier;
  if (order.is_last != 0) benchmark_.reset();
  return report;
}

void HostRunner::send(int rank, const HostOrder& order) {
  orders_.push_back(order);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&orders_.back(), sizeof order, MPI_BYTE, rank, host_order_tag, comm_, &request);
  MPI_Request_free(&request);
}

std::optional<HostReport> HostRunner::receive(int src) {
  HostReport& report = reports_.emplace_back();  // stays, should it arrive too late
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&report, sizeof report, MPI_BYTE, src, host_report_tag, comm_, &request);
  int is_complete = 0;
  const auto is_done = [&] {
    MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    return is_complete != 0;
  };
  if (control_.wait(src, is_done)) return report;
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  is_orderly_ = false;
  control_.announce_silent(src);
  return std::nullopt;
}

void HostRunner::serve() {
  int has_arrived = 0;
  if (MPI_Iprobe(0, host_order_tag, comm_, &has_arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      has_arrived == 0) {
    return;
  }
  HostOrder order{};
  if (MPI_Recv(&order, sizeof order, MPI_BYTE, 0, host_order_tag, comm_, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS) {
    return;
  }
  reports_.push_back(carry_out(order));
  control_.heard(0);  // measuring took a while
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&reports_.back(), sizeof(HostReport), MPI_BYTE, 0, host_report_tag, comm_, &request);
  MPI_Request_free(&request);
}

}  // namespace fairlead::probe
