// SPDX-License-Identifier: Apache-2.0
// The Python module fairlead._core: converts arrays and errors and forwards, no logic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives.hpp"
#include "fairlead/error.hpp"
#include "fairlead/mapping/metric_mapping.hpp"
#include "fairlead/mapping/optimize.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "fairlead/mapping/scotch_mapping.hpp"
#include "fairlead/mapping/tree_mapping.hpp"
#include "fairlead/network/tournament.hpp"
#include "jobs.hpp"
#include "network_arrays.hpp"
#include "search_limits.hpp"
#include "simulation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using IndexRows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IndexTable = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>, nb::c_contig>;

/// Sparse traffic in Python's form: row starts, columns, values.
struct Csr {
  Indices row_start, column;
  Values value;

  [[nodiscard]] fairlead::RankMatrix view() const {
    return {.row_start = {row_start.data(), row_start.size()},
            .column = {column.data(), column.size()},
            .value = {value.data(), value.size()}};
  }
};

std::span<const std::int64_t> view(const Indices& indices) {
  return {indices.data(), indices.size()};
}

IndexTable to_table(const std::vector<std::vector<std::int64_t>>& rows) {
  const std::size_t num_columns = rows.empty() ? 0 : rows.front().size();
  auto flat = std::make_unique<std::vector<std::int64_t>>();
  flat->reserve(rows.size() * num_columns);
  for (const auto& row : rows) flat->insert(flat->end(), row.begin(), row.end());
  std::int64_t* data = flat->data();
  const nb::capsule owner(flat.release(), [](void* vector) noexcept {
    std::unique_ptr<std::vector<std::int64_t>>(static_cast<std::vector<std::int64_t>*>(vector));
  });
  return IndexTable(data, {rows.size(), num_columns}, owner);
}

/// Raises the Python error of the same name, so that `except fairlead.InputError` catches both.
void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    const auto raise = [](const char* name, const std::exception& cause) {
      PyErr_SetString(nb::module_::import_("fairlead.errors").attr(name).ptr(), cause.what());
    };
    try {
      std::rethrow_exception(error);
    } catch (const fairlead::TopologyError& cause) {
      raise("TopologyError", cause);
    } catch (const fairlead::ShapeError& cause) {
      raise("ShapeError", cause);
    } catch (const fairlead::InputError& cause) {
      raise("InputError", cause);
    } catch (const fairlead::Error& cause) {
      raise("Error", cause);
    }
  });
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() =
      "The compiled core: costs of placements, placements by Scotch and optimize, simulations.";
  register_errors();
  bind_simulation(module);

  nb::class_<Csr>(module, "RankMatrix", "Sparse (T, T) matrix between ranks, [src, dst].")
      .def(nb::init<Indices, Indices, Values>(), "row_start"_a, "column"_a, "value"_a);

  nb::class_<NetworkArrays>(module, "NetworkArrays", "A measured network, [src, dst].")
      .def(nb::init<Square, Square, Values, Values, Indices, Indices, Indices, Values>(),
           "latency_s"_a, "bandwidth_Bps"_a, "nic_out_Bps"_a, "nic_in_Bps"_a, "group_of_pair"_a,
           "src_of_pair"_a, "dst_of_pair"_a, "capacity_Bps"_a);

  nb::class_<DemandArrays>(module, "DemandArrays", "Work of ranks, and speeds of hosts.")
      .def(nb::init<Values, Values, Values>(), "work_s"_a, "one_core_speed"_a, "all_cores_speed"_a);

  nb::class_<SearchLimits>(module, "SearchLimits",
                           "Bounds on the search of `optimize`, and its starts.")
      .def(nb::init<std::uint64_t, std::int64_t, double, int,
                    std::vector<std::vector<std::int64_t>>, Indices, std::int64_t,
                    std::function<bool(std::int64_t, std::int64_t)>, double>(),
           "seed"_a, "num_proposals"_a, "time_limit_s"_a, "num_threads"_a, "starts"_a,
           "fixed_host_of_rank"_a, "most_moves"_a, "on_progress"_a.none(),
           "deadline_s"_a = std::numeric_limits<double>::infinity());

  bind_jobs(module);
  bind_collectives(module);

  nb::class_<fairlead::PlacementCost>(module, "PlacementCost", "Costs of one placement.")
      .def_ro("inter_bytes", &fairlead::PlacementCost::inter_bytes)
      .def_ro("intra_bytes", &fairlead::PlacementCost::intra_bytes)
      .def_ro("comm_time_s", &fairlead::PlacementCost::comm_time_s)
      .def_ro("serial_time_s", &fairlead::PlacementCost::serial_time_s)
      .def_ro("bottleneck_s", &fairlead::PlacementCost::bottleneck_s)
      .def_ro("bottleneck_and_mean_s", &fairlead::PlacementCost::bottleneck_and_mean_s)
      .def_ro("weighted_sum_bytes", &fairlead::PlacementCost::weighted_sum_bytes)
      .def_ro("weighted_sum_messages", &fairlead::PlacementCost::weighted_sum_messages);

  module.def(
      "evaluate",
      [](const Csr& bytes, const Csr& messages, const NetworkArrays& network,
         const Indices& host_of_rank) {
        const nb::gil_scoped_release unlocked;
        return fairlead::evaluate(bytes.view(), messages.view(), network.view(),
                                  view(host_of_rank));
      },
      "bytes"_a, "messages"_a, "network"_a, "host_of_rank"_a,
      "Costs of a placement; nan where traffic crosses an unmeasured pair.");

  module.def(
      "slowest_rank_s",
      [](const Csr& bytes, const Csr& messages, const NetworkArrays& network,
         const DemandArrays& demand, const Indices& host_of_rank) {
        const nb::gil_scoped_release unlocked;
        return fairlead::slowest_rank_s(bytes.view(), messages.view(), network.view(),
                                        demand.view(), view(host_of_rank));
      },
      "bytes"_a, "messages"_a, "network"_a, "demand"_a, "host_of_rank"_a,
      "Time of the slowest rank, and the mean host's share of all messages.");

  module.def(
      "weighted_sum",
      [](const Csr& traffic, const Square& cost, const Indices& host_of_rank) {
        const nb::gil_scoped_release unlocked;
        return fairlead::weighted_sum(traffic.view(), view(cost), view(host_of_rank));
      },
      "traffic"_a, "cost"_a, "host_of_rank"_a,
      "Sum of traffic[src, dst] * cost[host of src, host of dst].");

  module.def(
      "scotch_placements",
      [](const Csr& traffic, const Square& cost, const Indices& slots, std::uint32_t seed,
         int num_tries, double largest_distance, bool is_as_published) {
        std::vector<std::vector<std::int64_t>> placements;
        {
          const nb::gil_scoped_release unlocked;
          placements = fairlead::scotch_placements(traffic.view(), view(cost), view(slots),
                                                   {.seed = seed,
                                                    .num_tries = num_tries,
                                                    .is_as_published = is_as_published,
                                                    .largest_distance = largest_distance});
        }
        return to_table(placements);
      },
      "traffic"_a, "cost"_a, "slots"_a, "seed"_a, "num_tries"_a,
      "largest_distance"_a = fairlead::kLargestDistance, "is_as_published"_a = false,
      "Placements by Scotch, one per row, each within the slots.");

  module.def(
      "tournament",
      [](int num_players) {
        std::vector<std::vector<std::int64_t>> rows;
        for (const auto& meeting : fairlead::Tournament(num_players).meetings()) {
          rows.push_back({meeting.round, meeting.low, meeting.high});
        }
        return to_table(rows);
      },
      "num_players"_a, "Round, lower and higher player of each meeting, shape (N, 3).");

  module.def(
      "scotch_metric_mapping",
      [](const Csr& traffic, const Square& weight, std::uint32_t seed) {
        const nb::gil_scoped_release unlocked;
        return fairlead::scotch_metric_mapping(traffic.view(), view(weight), seed);
      },
      "traffic"_a, "weight"_a, "seed"_a,
      "Core of each task by the complete graph of cores, by one call of Scotch.");

  module.def(
      "optimize_sum",
      [](const Csr& traffic, const Square& cost, const Indices& slots, const SearchLimits& limits) {
        const nb::gil_scoped_release unlocked;
        return fairlead::optimize_sum(traffic.view(), view(cost), view(slots), limits.options());
      },
      "traffic"_a, "cost"_a, "slots"_a, "limits"_a, "The placement of the smallest sum found.");

  module.def(
      "optimize_sum_on_tree",
      [](const Csr& traffic, const IndexRows& group_of_host, const Values& cost_of_level,
         const Indices& slots, const SearchLimits& limits) {
        const nb::gil_scoped_release unlocked;
        return fairlead::optimize_sum(
            traffic.view(),
            fairlead::HostTree{.num_hosts = slots.size(),
                               .group_of_host = {group_of_host.data(), group_of_host.size()},
                               .cost_of_level = {cost_of_level.data(), cost_of_level.size()}},
            view(slots), limits.options());
      },
      "traffic"_a, "group_of_host"_a, "cost_of_level"_a, "slots"_a, "limits"_a,
      "The same on a tree: groups (L, H), costs (L + 2,).");

  module.def(
      "optimize_bottleneck",
      [](const Csr& bytes, const Csr& messages, const NetworkArrays& network, const Indices& slots,
         bool with_mean, const SearchLimits& limits) {
        using enum fairlead::BottleneckObjective;
        const nb::gil_scoped_release unlocked;
        return fairlead::optimize_bottleneck(
            bytes.view(), messages.view(), network.view(), view(slots),
            with_mean ? bottleneck_and_mean : bottleneck, limits.options());
      },
      "bytes"_a, "messages"_a, "network"_a, "slots"_a, "with_mean"_a, "limits"_a,
      "The placement of the smallest bottleneck_s or bottleneck_and_mean_s found.");

  module.def(
      "optimize_slowest_rank",
      [](const Csr& bytes, const Csr& messages, const NetworkArrays& network,
         const DemandArrays& demand, const Indices& slots, const SearchLimits& limits) {
        const nb::gil_scoped_release unlocked;
        return fairlead::optimize_bottleneck(
            bytes.view(), messages.view(), network.view(), view(slots),
            fairlead::BottleneckObjective::bottleneck_and_mean, limits.options(), demand.view());
      },
      "bytes"_a, "messages"_a, "network"_a, "demand"_a, "slots"_a, "limits"_a,
      "The placement of the smallest slowest_rank_s found.");

  module.def(
      "scotch_tree_placement",
      [](const Csr& traffic, std::vector<std::int32_t> num_children,
         std::vector<std::int32_t> distances, const Indices& free_cores, std::uint32_t seed) {
        const nb::gil_scoped_release unlocked;
        return fairlead::scotch_tree_placement(
            traffic.view(),
            {.num_children = std::move(num_children), .distances = std::move(distances)},
            view(free_cores), seed);
      },
      "traffic"_a, "num_children"_a, "distances"_a, "free_cores"_a, "seed"_a,
      "Core of each rank on a tree of nodes, sockets and cores, by Scotch.");
}
