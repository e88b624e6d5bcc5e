// SPDX-License-Identifier: Apache-2.0
// The part of fairlead._core that places many jobs: converts and forwards, no logic.
#include "jobs.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/mapping/optimize_jobs.hpp"
#include "search_limits.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace sim = fairlead::sim;

namespace {

using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Periods = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Rows of source rank, destination rank, message bytes and messages; and the periods in ns.
std::vector<sim::RankStream> to_streams(const Rows& rows, const Periods& periods_ns) {
  if (rows.shape(1) != 4 || rows.shape(0) != periods_ns.shape(0)) {
    throw nb::value_error("streams: expected shapes (S, 4) and (S,)");
  }
  std::vector<sim::RankStream> streams;
  streams.reserve(rows.shape(0));
  for (std::size_t row = 0; row < rows.shape(0); ++row) {
    streams.push_back({.src_rank = rows(row, 0),
                       .dst_rank = rows(row, 1),
                       .message_bytes = rows(row, 2),
                       .num_messages = rows(row, 3),
                       .period_ns = periods_ns(row)});
  }
  return streams;
}

}  // namespace

void bind_jobs(nb::module_& module) {
  nb::class_<sim::PredictedPlacement>(module, "PredictedPlacement", "Result of one walk.")
      .def_ro("core_of_rank", &sim::PredictedPlacement::core_of_rank)
      .def_ro("waiting_s", &sim::PredictedPlacement::waiting_s);

  nb::class_<sim::JobsProblem>(module, "JobsProblem", "Jobs, and the machine that they share.")
      .def(
          "__init__",
          [](sim::JobsProblem* problem, const sim::Machine& machine, const Rows& stream_rows,
             const Periods& periods_ns, std::int64_t num_ranks, const Indices& free_cores,
             sim::Nic nic, sim::Arrivals arrivals) {
            new (problem) sim::JobsProblem{
                .machine = machine,
                .streams = to_streams(stream_rows, periods_ns),
                .num_ranks = num_ranks,
                .free_cores = {free_cores.data(), free_cores.data() + free_cores.size()},
                .options = {.nic = nic, .arrivals = arrivals}};
          },
          "machine"_a, "stream_rows"_a, "periods_ns"_a, "num_ranks"_a, "free_cores"_a,
          nb::kw_only(), "nic"_a, "arrivals"_a);

  module.def(
      "predicted_waiting_s",
      [](const sim::JobsProblem& problem, const Indices& core_of_rank) {
        const nb::gil_scoped_release unlocked;
        return sim::predicted_waiting_s(problem, {core_of_rank.data(), core_of_rank.size()});
      },
      "problem"_a, "core_of_rank"_a, "Total waiting time of all messages by the load model.");

  module.def(
      "optimize_jobs",
      [](const sim::JobsProblem& problem, const SearchLimits& limits) {
        const nb::gil_scoped_release unlocked;
        return sim::optimize_jobs(problem, limits.options());
      },
      "problem"_a, "limits"_a, "Results of all walks, the least predicted waiting first.");
}
