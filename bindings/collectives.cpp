// SPDX-License-Identifier: Apache-2.0
// The part of fairlead._core that plans collectives: converts and forwards, no logic.
#include "collectives.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/collectives/hierarchy.hpp"
#include "fairlead/collectives/host_sizes.hpp"
#include "fairlead/collectives/planning.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "fairlead/error.hpp"
#include "network_arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace fl = fairlead::collectives;

namespace {

using Hosts = std::vector<std::int32_t>;

std::vector<fl::Segment> to_segments(const Hosts& trees, const std::vector<double>& shares) {
  if (trees.size() != shares.size()) {
    throw fairlead::ShapeError("schedule: tree_of_segment and share_of_segment differ in length");
  }
  std::vector<fl::Segment> segments;
  for (std::size_t index = 0; index < trees.size(); ++index) {
    segments.push_back({.tree = trees[index], .share_ratio = shares[index]});
  }
  return segments;
}

template <typename Value>
std::vector<Value> column(const fl::Schedule& schedule, Value fl::Segment::* member) {
  std::vector<Value> values;
  for (const fl::Segment& segment : schedule.segments) values.push_back(segment.*member);
  return values;
}

fl::Request to_request(const std::string& operation, std::int32_t root, std::uint64_t message_bytes,
                       const Values& block_bytes) {
  return {.operation = fl::operation_of(operation),
          .root = root,
          .message_bytes = message_bytes,
          .block_bytes = {block_bytes.data(), block_bytes.size()}};
}

}  // namespace

void bind_collectives(nb::module_& module) {
  nb::class_<fl::Schedule>(module, "Schedule", "What a collective operation does.")
      .def(
          "__init__",
          [](fl::Schedule* schedule, const std::string& operation, const std::string& form,
             const std::string& method, std::int32_t num_hosts, std::int32_t root,
             std::uint64_t message_bytes, double predicted_s, double lower_bound_s,
             const Hosts& order, const std::vector<Hosts>& trees, const Hosts& tree_of_segment,
             const std::vector<double>& share_of_segment,
             const std::vector<std::vector<Hosts>>& levels, std::int32_t window,
             std::int32_t max_sends, std::int32_t num_parts) {
            new (schedule) fl::Schedule{.operation = fl::operation_of(operation),
                                        .form = fl::form_of(form),
                                        .method = method,
                                        .num_hosts = num_hosts,
                                        .root = root,
                                        .message_bytes = message_bytes,
                                        .predicted_s = predicted_s,
                                        .lower_bound_s = lower_bound_s,
                                        .order = order,
                                        .trees = trees,
                                        .segments = to_segments(tree_of_segment, share_of_segment),
                                        .levels = levels,
                                        .window = window,
                                        .max_sends = max_sends,
                                        .num_parts = num_parts};
          },
          nb::kw_only(), "operation"_a, "form"_a, "method"_a, "num_hosts"_a, "root"_a,
          "message_bytes"_a, "predicted_s"_a, "lower_bound_s"_a, "order"_a, "trees"_a,
          "tree_of_segment"_a, "share_of_segment"_a, "levels"_a, "window"_a, "max_sends"_a,
          "num_parts"_a)
      .def_prop_ro(
          "operation",
          [](const fl::Schedule& schedule) { return std::string(name_of(schedule.operation)); })
      .def_prop_ro("form",
                   [](const fl::Schedule& schedule) { return std::string(name_of(schedule.form)); })
      .def_ro("method", &fl::Schedule::method)
      .def_ro("num_hosts", &fl::Schedule::num_hosts)
      .def_ro("root", &fl::Schedule::root)
      .def_ro("message_bytes", &fl::Schedule::message_bytes)
      .def_ro("predicted_s", &fl::Schedule::predicted_s)
      .def_ro("lower_bound_s", &fl::Schedule::lower_bound_s)
      .def_ro("order", &fl::Schedule::order)
      .def_ro("trees", &fl::Schedule::trees)
      .def_prop_ro(
          "tree_of_segment",
          [](const fl::Schedule& schedule) { return column(schedule, &fl::Segment::tree); })
      .def_prop_ro(
          "share_of_segment",
          [](const fl::Schedule& schedule) { return column(schedule, &fl::Segment::share_ratio); })
      .def_ro("levels", &fl::Schedule::levels)
      .def_ro("window", &fl::Schedule::window)
      .def_ro("max_sends", &fl::Schedule::max_sends)
      .def_ro("num_parts", &fl::Schedule::num_parts)
      .def("check", &fl::check, "Raises InputError for the first thing no executor could follow.");

  module.def(
      "collective_methods",
      [] {
        std::vector<std::pair<std::string, std::string>> known;
        for (const fl::Method& method : fl::methods()) {
          known.emplace_back(method.name, method.summary);
        }
        return known;
      },
      "Names and summaries of all methods that plan collectives.");

  module.def(
      "is_collective_method_for",
      [](const std::string& name, const std::string& operation) {
        for (const fl::Method& method : fl::methods()) {
          if (method.name == name) return method.is_for(fl::operation_of(operation));
        }
        return false;
      },
      "name"_a, "operation"_a, "Whether the method plans the operation.");

  module.def(
      "collective_variants",
      [] {
        std::vector<std::pair<std::string, std::string>> known;
        for (const fl::Method& method : fl::methods()) {
          if (!method.variant_of.empty()) known.emplace_back(method.name, method.variant_of);
        }
        return known;
      },
      "Names of the methods that fix a size of segments, and of the method that searches it.");

  module.def(
      "host_sizes",
      [](const std::string& operation, std::uint64_t bytes, const Hosts& ranks_of_host) {
        fl::HostSizes sizes = fl::host_sizes(fl::operation_of(operation), bytes, ranks_of_host);
        return std::pair(sizes.message_bytes, std::move(sizes.block_bytes));
      },
      "operation"_a, "bytes"_a, "ranks_of_host"_a,
      "Size of a message between hosts, and of each host's block where these differ.");

  module.def(
      "plan_collective",
      [](const NetworkArrays& network, const std::string& operation, std::int32_t root,
         std::uint64_t message_bytes, const Values& block_bytes, const std::string& method,
         double factor, std::int32_t max_span) {
        const nb::gil_scoped_release unlocked;
        fl::Request request = to_request(operation, root, message_bytes, block_bytes);
        request.hierarchy_factor = factor;
        request.hierarchy_max_span = max_span;
        return fl::plan(network.view(), request, method);
      },
      "network"_a, "operation"_a, "root"_a, "message_bytes"_a, "block_bytes"_a, "method"_a,
      "factor"_a, "max_span"_a, "The method's schedule with predicted time and lower bound.");

  module.def(
      "predicted_s",
      [](const NetworkArrays& network, const fl::Schedule& schedule, const Values& block_bytes) {
        const nb::gil_scoped_release unlocked;
        return fl::predicted_s(network.view(), schedule, {block_bytes.data(), block_bytes.size()});
      },
      "network"_a, "schedule"_a, "block_bytes"_a, "Simulated time of a schedule.");

  module.def(
      "lower_bound_s",
      [](const NetworkArrays& network, const std::string& operation, std::int32_t root,
         std::uint64_t message_bytes, const Values& block_bytes) {
        const nb::gil_scoped_release unlocked;
        return fl::lower_bound_s(network.view(),
                                 to_request(operation, root, message_bytes, block_bytes));
      },
      "network"_a, "operation"_a, "root"_a, "message_bytes"_a, "block_bytes"_a,
      "No algorithm is faster.");

  nb::class_<fl::Hierarchy>(module, "Hierarchy", "CMPI's groups of hosts, level by level.")
      .def_ro("group_of_host", &fl::Hierarchy::group_of_host)
      .def_ro("transfer_s", &fl::Hierarchy::transfer_s)
      .def_ro("level_of_pair", &fl::Hierarchy::level_of_pair)
      .def_ro("latency_asymmetry_ratio", &fl::Hierarchy::latency_asymmetry_ratio)
      .def_ro("bandwidth_asymmetry_ratio", &fl::Hierarchy::bandwidth_asymmetry_ratio);

  module.def(
      "build_hierarchy",
      [](const NetworkArrays& network, double message_bytes, double factor, std::int32_t max_span) {
        const nb::gil_scoped_release unlocked;
        return fl::build_hierarchy(
            network.view(),
            {.message_bytes = message_bytes, .factor = factor, .max_span = max_span});
      },
      "network"_a, "message_bytes"_a, "factor"_a, "max_span"_a,
      "Groups by CMPI's Algorithms 1 and 2.");
}
