// SPDX-License-Identifier: Apache-2.0
// A measured network in Python's form.
#pragma once

#include <nanobind/ndarray.h>

#include <span>

#include "fairlead/mapping/compute_demand.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "search_limits.hpp"

using Values =
    nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Square =
    nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

inline fairlead::HostMatrix view(const Square& matrix) {
  return {.num_hosts = matrix.shape(0), .values = {matrix.data(), matrix.size()}};
}

/// A network in Python's form; arrays that were not measured are empty.
struct NetworkArrays {
  Square latency_s, bandwidth_Bps;
  Values nic_out_Bps, nic_in_Bps;
  Indices group_of_pair, src_of_pair, dst_of_pair;
  Values capacity_Bps;

  [[nodiscard]] fairlead::MeasuredNetwork view() const {
    const auto look = [](const auto& array) { return std::span(array.data(), array.size()); };
    return {.latency_s = ::view(latency_s),
            .bandwidth_Bps = ::view(bandwidth_Bps),
            .nic_out_Bps = look(nic_out_Bps),
            .nic_in_Bps = look(nic_in_Bps),
            .groups = {.group_of_pair = look(group_of_pair),
                       .src_of_pair = look(src_of_pair),
                       .dst_of_pair = look(dst_of_pair),
                       .capacity_Bps = look(capacity_Bps)}};
  }
};

/// What ranks compute and how fast hosts do it, in Python's form.
struct DemandArrays {
  Values work_s, one_core_speed, all_cores_speed;

  [[nodiscard]] fairlead::ComputeDemand view() const {
    const auto look = [](const Values& array) { return std::span(array.data(), array.size()); };
    return {.work_s = look(work_s),
            .one_core_speed = look(one_core_speed),
            .all_cores_speed = look(all_cores_speed)};
  }
};
