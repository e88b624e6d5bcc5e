// SPDX-License-Identifier: Apache-2.0
// Plans a collective operation on a measured network: which messages, how long they take, and how
// long any algorithm takes at least.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/collectives/schedule.hpp"
#include "fairlead/mapping/placement_cost.hpp"

namespace fairlead::collectives {

/// What is to be done. Hosts are the network's, in its order.
struct Request {
  Operation operation = Operation::bcast;
  std::int32_t root = kNoHost;
  /// Whole vector (bcast, reduce, allreduce) or one block (the others).
  std::uint64_t message_bytes = 0;
  /// Block of each host where they differ (gatherv, scatterv, allgatherv, reduce_scatter), length
  /// H; else empty. `message_bytes` is then their mean.
  std::span<const double> block_bytes{};
  double hierarchy_factor = 4.0;        ///< k of `cmpi`; no other method has one
  std::int32_t hierarchy_max_span = 1;  ///< T_span of `cmpi`
};

/// A way of planning. Each is a file in core/collectives/methods.
struct Method {
  std::string_view name;
  std::string_view summary;
  bool (*is_for)(Operation operation);
  /// The method from which it differs by a fixed size of segments, which by prediction is hardly
  /// ever faster; else empty.
  std::string_view variant_of{};
  std::uint64_t segment_bytes = 0;  ///< the fixed size, of which segments have at least so much
};

[[nodiscard]] std::span<const Method> methods();

/// The method's schedule with its predicted time and the lower bound.
/// @param method  name of a method, or "fastest": of all those for the operation but variants the
///     one with the least predicted time
/// @throws InputError  unknown method, one that is not for the operation, or a root out of range
/// @throws ShapeError  block_bytes has another length
/// @throws TopologyError  a pair of hosts was not measured
[[nodiscard]] Schedule plan(const MeasuredNetwork& network, const Request& request,
                            std::string_view method);

/// Time that the simulation says; docs/design/collectives.md.
/// @param block_bytes  as in Request
/// @throws InputError  the schedule is for another number of hosts
/// @throws ShapeError  block_bytes has another length
[[nodiscard]] double predicted_s(const MeasuredNetwork& network, const Schedule& schedule,
                                 std::span<const double> block_bytes = {});

/// No algorithm is faster on this network, one-port full duplex: each NIC sends and receives at
/// once, and what must pass a NIC or a shared group takes its time.
[[nodiscard]] double lower_bound_s(const MeasuredNetwork& network, const Request& request);

}  // namespace fairlead::collectives
