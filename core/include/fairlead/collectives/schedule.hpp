// SPDX-License-Identifier: Apache-2.0
// What a collective operation does on a network: one of a small set of forms, each with a simple
// executor. docs/design/collective-forms.md says what each form's executor does, message by
// message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::collectives {

enum class Operation : std::uint8_t {
  bcast,
  reduce,
  gather,
  scatter,
  allgather,
  allreduce,
  reduce_scatter,
  alltoall,
  barrier,
};

enum class Form : std::uint8_t {
  native,         ///< the MPI's own, on a communicator in `order`
  levels,         ///< the MPI's own in groups, from the top level to the lowest; CMPI Algorithm 3
  forest,         ///< segments along spanning trees
  ring,           ///< blocks around a ring in `order`
  linear,         ///< each block in one message, overlapped
  doubling,       ///< recursive doubling between positions of `order`
  split_tree,     ///< one tree; blocks of a subtree in one message; CMPI Algorithm 4
  dissemination,  ///< round r: p sends to p + 2^r (barrier), p - 2^r (Bruck), or that backwards
  two_level,      ///< each block once into each island, then to all there; or that backwards
};

inline constexpr std::int32_t kNoHost = -1;

/// Part of a message that travels along one tree.
struct Segment {
  std::int32_t tree = 0;     ///< index in `Schedule::trees`
  double share_ratio = 1.0;  ///< of the whole message, > 0; all segments add up to 1
};

/// Maximum number of parts of a ring's block.
inline constexpr std::int32_t kMaxParts = 64;

/// Parent of each host, kNoHost at the tree's root.
using ParentOfHost = std::vector<std::int32_t>;

/// Hosts of a group, its leader first.
using Group = std::vector<std::int32_t>;

/// One collective operation on hosts 0 .. num_hosts - 1. What a form does not use is empty or 0.
struct Schedule {
  Operation operation = Operation::bcast;
  Form form = Form::native;
  std::string method{};  ///< name in the catalogue of methods
  std::int32_t num_hosts = 0;
  std::int32_t root = kNoHost;  ///< kNoHost: the operation has none
  /// Whole vector (bcast, reduce, allreduce) or one block (the others), for which it was planned.
  std::uint64_t message_bytes = 0;
  double predicted_s = 0.0;
  double lower_bound_s = 0.0;

  /// Host at each position: all forms but those with trees or levels.
  std::vector<std::int32_t> order{};
  std::vector<ParentOfHost> trees{};  ///< forest: one or several; split_tree: one
  std::vector<Segment> segments{};    ///< forest: in the order of the message
  /// levels: top level first; two_level: one, the islands, whose hosts have no leader
  std::vector<std::vector<Group>> levels{};
  /// forest, ring: messages under way on one edge of the form; two_level: from one host to other
  /// islands; >= 1
  std::int32_t window = 0;
  /// forest, linear: sends under way at one host, or receives of a reduce or gather; two_level:
  /// sends inside its island, or receives of a reduce_scatter; 0: no limit
  std::int32_t max_sends = 0;
  std::int32_t num_parts = 0;  ///< ring: parts in which a block is cut, 1 to kMaxParts
};

[[nodiscard]] std::string_view name_of(Operation operation);
[[nodiscard]] std::string_view name_of(Form form);
/// @throws InputError  no such name
[[nodiscard]] Operation operation_of(std::string_view name);
[[nodiscard]] Form form_of(std::string_view name);

[[nodiscard]] bool has_root(Operation operation);

/// Whether there is an executor of this form for this operation.
[[nodiscard]] bool is_supported(Operation operation, Form form);

/// @throws InputError  for the first thing that no executor could follow: a host out of range or
/// missing from an order, a cycle, shares that do not add up to 1
void check(const Schedule& schedule);

/// Children of each host in the order in which they are served: the highest subtree first, of equal
/// ones the lower number.
[[nodiscard]] std::vector<std::vector<std::int32_t>> children_of_host(
    std::span<const std::int32_t> parent_of_host);

/// First element of each segment and the end of the last, length segments + 1, by rounding the sum
/// of the shares before it: the same on all ranks, for any number of elements.
[[nodiscard]] std::vector<std::uint64_t> segment_starts(std::span<const Segment> segments,
                                                        std::uint64_t num_elements);

/// First element of each of the equal blocks of a vector, length num_blocks + 1; the first blocks
/// are the longer ones.
[[nodiscard]] std::vector<std::uint64_t> block_starts(std::int32_t num_blocks,
                                                      std::uint64_t num_elements);

/// First element of a part of a ring's block, or its end for part `num_parts`. The lengths are as
/// 1 to 2 to 3 and so on: equal parts would share an edge all the way and arrive together.
[[nodiscard]] std::uint64_t part_start(std::int32_t part, std::int32_t num_parts,
                                       std::uint64_t num_elements);

}  // namespace fairlead::collectives
