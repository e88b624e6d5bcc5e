// SPDX-License-Identifier: Apache-2.0
// The simulator's part of fairlead._core: converts and forwards, no logic.
#include "simulation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/sim/simulation.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace sim = fairlead::sim;

namespace {

using Integers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Rows of job, source core, destination core, message bytes and messages; and of period and first
/// time in ns.
std::vector<sim::MessageStream> to_streams(const Integers& integers, const Times& times_ns) {
  if (integers.shape(1) != 5 || times_ns.shape(1) != 2 || integers.shape(0) != times_ns.shape(0)) {
    throw nb::value_error("streams: expected shapes (S, 5) and (S, 2)");
  }
  std::vector<sim::MessageStream> streams;
  streams.reserve(integers.shape(0));
  for (std::size_t row = 0; row < integers.shape(0); ++row) {
    streams.push_back({.job = integers(row, 0),
                       .src_core = integers(row, 1),
                       .dst_core = integers(row, 2),
                       .message_bytes = integers(row, 3),
                       .num_messages = integers(row, 4),
                       .period_ns = times_ns(row, 0),
                       .first_ns = times_ns(row, 1)});
  }
  return streams;
}

void bind_inputs(nb::module_& module) {
  nb::enum_<sim::Nic>(module, "Nic", "Which server receives a node's messages.")
      .value("separate", sim::Nic::separate)
      .value("shared", sim::Nic::shared)
      .value("send_only", sim::Nic::send_only);
  nb::enum_<sim::Forwarding>(module, "Forwarding", "When receiving begins.")
      .value("store_and_forward", sim::Forwarding::store_and_forward)
      .value("cut_through", sim::Forwarding::cut_through);
  nb::enum_<sim::Arrivals>(module, "Arrivals", "When messages are sent.")
      .value("periodic", sim::Arrivals::periodic)
      .value("random_phase", sim::Arrivals::random_phase)
      .value("poisson", sim::Arrivals::poisson);

  nb::class_<sim::Machine>(module, "SimulatedMachine", "A cluster of equal nodes.")
      .def(
          "__init__",
          [](sim::Machine* machine, std::int64_t num_nodes, std::int64_t sockets_per_node,
             std::int64_t cores_per_socket, double nic_Bps, double memory_Bps,
             double remote_memory_ratio, double cache_Bps, std::int64_t largest_cache_bytes,
             std::int64_t switch_ns) {
            new (machine) sim::Machine{.num_nodes = num_nodes,
                                       .sockets_per_node = sockets_per_node,
                                       .cores_per_socket = cores_per_socket,
                                       .nic_Bps = nic_Bps,
                                       .memory_Bps = memory_Bps,
                                       .remote_memory_ratio = remote_memory_ratio,
                                       .cache_Bps = cache_Bps,
                                       .largest_cache_bytes = largest_cache_bytes,
                                       .switch_ns = switch_ns};
          },
          nb::kw_only(), "num_nodes"_a, "sockets_per_node"_a, "cores_per_socket"_a, "nic_Bps"_a,
          "memory_Bps"_a, "remote_memory_ratio"_a, "cache_Bps"_a, "largest_cache_bytes"_a,
          "switch_ns"_a);
}

void bind_results(nb::module_& module) {
  nb::class_<sim::ServerLoad>(module, "ServerLoad", "Load of one server.")
      .def_ro("num_messages", &sim::ServerLoad::num_messages)
      .def_ro("bytes", &sim::ServerLoad::bytes)
      .def_ro("busy_ns", &sim::ServerLoad::busy_ns)
      .def_ro("waiting_s", &sim::ServerLoad::waiting_s)
      .def_ro("longest_wait_ns", &sim::ServerLoad::longest_wait_ns)
      .def_ro("longest_queue", &sim::ServerLoad::longest_queue)
      .def_ro("offered_ratio", &sim::ServerLoad::offered_ratio);
  nb::class_<sim::JobOutcome>(module, "JobOutcome", "Result of one job.")
      .def_ro("finish_ns", &sim::JobOutcome::finish_ns)
      .def_ro("num_messages", &sim::JobOutcome::num_messages)
      .def_ro("waiting_s", &sim::JobOutcome::waiting_s);
}

}  // namespace

void bind_simulation(nb::module_& module) {
  bind_inputs(module);
  bind_results(module);
  nb::class_<sim::Simulator>(module, "Simulator", "First-come-first-served servers of a cluster.")
      .def(
          "__init__",
          [](sim::Simulator* simulator, const sim::Machine& machine, const Integers& integers,
             const Times& times_ns, std::int64_t num_jobs, sim::Nic nic, sim::Forwarding forwarding,
             sim::Arrivals arrivals, bool is_closed_loop, std::uint64_t seed) {
            new (simulator) sim::Simulator(machine, to_streams(integers, times_ns), num_jobs,
                                           {.nic = nic,
                                            .forwarding = forwarding,
                                            .arrivals = arrivals,
                                            .is_closed_loop = is_closed_loop,
                                            .seed = seed});
          },
          "machine"_a, "stream_integers"_a, "stream_times_ns"_a, "num_jobs"_a, nb::kw_only(),
          "nic"_a, "forwarding"_a, "arrivals"_a, "is_closed_loop"_a, "seed"_a)
      .def("advance", &sim::Simulator::advance, "num_messages"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Simulates about that many more messages; whether some are left.")
      .def("num_messages", &sim::Simulator::num_messages, "Number of messages of all streams.")
      .def("num_sent", &sim::Simulator::num_sent, "So far.")
      .def("servers", &sim::Simulator::servers,
           "Sending and receiving interface of each node, memory and cache of each socket.")
      .def("jobs", &sim::Simulator::jobs, "In their order.");
}
