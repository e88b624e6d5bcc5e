// SPDX-License-Identifier: Apache-2.0
// Orders to measure a host, and the reports.
#include "hosts/host_runner.hpp"

#include <algorithm>
#include <system_error>

#include "fairlead/host/caches.hpp"
#include "fairlead/host/memory.hpp"
#include "hosts/throttling.hpp"
#include "inside/allowed_cpus.hpp"

namespace fairlead::probe {
namespace {

// A tenth of a second for all passes.
constexpr double kSlice_s = 0.004;
// Hosts of one machine are measured one after the other, as long as this together.
constexpr double kOfOneMachine_s = 0.6;
constexpr double kShortestSlice_s = 0.001, kLongestSlice_s = 0.008;
// A quota stops threads in each of its periods: hosts that have one are measured again, by slices
// of a few periods.
constexpr double kSliceOfQuota_s = 0.016;
// The hosts of a machine fill at most this part of its free memory with arrays, and usually much
// less: four times their caches. One thread fills about 1 GB a second.
constexpr std::uint64_t kPartsOfMemory = 4;
constexpr double kLongestFill_s = 0.5;

std::optional<ArrayBytes> array_bytes(const std::vector<int>& cpus, int num_sharing) {
  const auto caches = read_caches(cpus);
  const auto free_bytes = available_memory_bytes();
  if (!caches || !free_bytes) return std::nullopt;
  const auto num_parts = kPartsOfMemory * static_cast<std::uint64_t>(std::max(1, num_sharing));
  return choose_array_bytes(*caches, static_cast<int>(cpus.size()), *free_bytes / num_parts);
}

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
  HostOrder order{.slice_s = shares_machine ? slice_of_one_machine_s(num_ranks) : kSlice_s,
                  .num_sharing = shares_machine ? static_cast<std::int32_t>(num_ranks) : 1,
                  .num_passes = 0,
                  .is_last = 0};
  order_without_passes(ranks, order, num_ranks);
  const std::vector<int> all_ranks = ranks;
  std::vector<HostReport> reports = measure_all(ranks, order, num_ranks);
  std::erase_if(ranks, [&reports](int rank) {
    return reports[static_cast<std::size_t>(rank)].num_throttled == 0;
  });
  order.slice_s = kSliceOfQuota_s;
  const auto again = measure_all(ranks, order, num_ranks);
  for (const int rank : ranks) {
    reports[static_cast<std::size_t>(rank)] = again[static_cast<std::size_t>(rank)];
  }
  order.is_last = 1;
  order_without_passes(all_ranks, order, num_ranks);
  std::vector<std::optional<MeasuredHost>> hosts(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    if (reports[rank].num_passes < kNumHostPasses) continue;
    hosts[rank] = MeasuredHost{.num_cores = reports[rank].num_cores,
                               .rates = estimate_rates(reports[rank].passes)};
  }
  return hosts;
}

void HostRunner::order_without_passes(std::span<const int> ranks, const HostOrder& order,
                                      std::size_t num_ranks) {
  std::vector<HostReport> reports(num_ranks);
  measure(ranks, order, reports);
}

std::vector<HostReport> HostRunner::measure_all(std::span<const int> ranks, HostOrder order,
                                                std::size_t num_ranks) {
  std::vector<HostReport> reports(num_ranks);
  if (order.num_sharing == 1) {
    order.num_passes = kNumHostPasses;
    measure(ranks, order, reports);
    return reports;
  }
  order.num_passes = 1;
  for (int pass = 0; pass < kNumHostPasses; ++pass) {
    for (const int& rank : ranks) measure(std::span(&rank, 1), order, reports);
  }
  return reports;
}

void HostRunner::measure(std::span<const int> ranks, const HostOrder& order,
                         std::vector<HostReport>& reports) {
  for (const int rank : ranks) {
    if (rank != 0 && !silent_ranks_.contains(rank)) send(rank, order);
  }
  for (const int rank : ranks) {
    if (silent_ranks_.contains(rank)) continue;
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
  const std::vector<int>& cpus = with_job_cpus.cpus();
  HostReport report{.num_cores = static_cast<std::int32_t>(cpus.size())};
  if (order.is_last != 0 || cpus.empty()) {
    benchmark_.reset();
    return report;
  }
  try {
    if (!benchmark_) {
      benchmark_.emplace(report.num_cores, array_bytes(cpus, order.num_sharing), kLongestFill_s);
    }
  } catch (const std::system_error&) {  // A limit of the user on threads: without passes, unknown.
    return report;
  }
  const std::int64_t earlier = num_throttled_periods();
  for (; report.num_passes < order.num_passes; ++report.num_passes) {
    report.passes[static_cast<std::size_t>(report.num_passes)] = benchmark_->pass(order.slice_s);
  }
  report.num_throttled = num_throttled_periods() - earlier;
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
  silent_ranks_.insert(src);
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
