// SPDX-License-Identifier: Apache-2.0
// The messages of one tree with splitting, of groups in levels, and of the MPI's own algorithms.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "collectives/programs/programs.hpp"

namespace fairlead::collectives {
namespace {

/// MPICH sends shorter messages down a binomial tree: Thakur, Rabenseifner, Gropp 2005,
/// section 4.2.
constexpr double kLongBcastBytes = 12288.0;
constexpr std::size_t kFewHosts = 8;
/// The same paper, section 4.1: longer ones go around a ring.
constexpr double kLongAllgatherBytes = 81920.0;
/// Section 4.3: shorter ones by recursive halving.
constexpr double kLongReduceScatterBytes = 524288.0;
/// Section 4.5: shorter ones by recursive doubling.
constexpr double kLongAllreduceBytes = 2048.0;

/// Messages after which a host has all that it waits for, one list for each host.
using AwaitedOfHost = std::vector<std::vector<std::int32_t>>;

void add_dependencies(Program& program, const std::vector<std::int32_t>& earlier,
                      std::int32_t later) {
  for (const std::int32_t transfer : earlier) program.add_dependency(transfer, later);
}

/// Binomial scatter of N parts, then a ring: van de Geijn's bcast of long messages.
void append_long_bcast(Program& program, std::span<const std::int32_t> order, double num_bytes,
                       AwaitedOfHost& awaited_of_host) {
  const std::size_t num_hosts = order.size();
  const double part_bytes = num_bytes / static_cast<double>(num_hosts);
  std::vector<std::int32_t> arrival(num_hosts, kNoTransfer);
  for (std::size_t step = std::bit_ceil(num_hosts) / 2; step > 0; step /= 2) {
    for (std::size_t position = 0; position + step < num_hosts; position += 2 * step) {
      const std::size_t peer = position + step;
      const auto num_parts = static_cast<double>(std::min(step, num_hosts - peer));
      const std::int32_t made = program.add(order[position], order[peer], num_parts * part_bytes);
      program.add_dependency(arrival[position], made);
      add_dependencies(program, awaited_of_host[static_cast<std::size_t>(order[position])], made);
      arrival[peer] = made;
    }
  }
  std::vector<std::int32_t> last = arrival;
  for (std::size_t step = 1; step < num_hosts; ++step) {
    std::vector<std::int32_t> received(num_hosts);
    for (std::size_t position = 0; position < num_hosts; ++position) {
      const std::size_t next = (position + 1) % num_hosts;
      const std::int32_t made = program.add(order[position], order[next], part_bytes);
      program.add_dependency(last[position], made);
      if (step == 1) {
        add_dependencies(program, awaited_of_host[static_cast<std::size_t>(order[position])], made);
      }
      received[next] = made;
    }
    last = received;
  }
  for (std::size_t position = 1; position < num_hosts; ++position) {
    awaited_of_host[static_cast<std::size_t>(order[position])] = {last[position]};
  }
}

/// A textbook bcast among the hosts of `order`, the first of which is the root.
void append_bcast(Program& program, std::span<const std::int32_t> order, double num_bytes,
                  AwaitedOfHost& awaited_of_host) {
  const std::size_t num_hosts = order.size();
  if (num_bytes >= kLongBcastBytes && num_hosts >= kFewHosts) {
    append_long_bcast(program, order, num_bytes, awaited_of_host);
    return;
  }
  for (std::size_t step = std::bit_ceil(num_hosts) / 2; step > 0; step /= 2) {
    for (std::size_t position = 0; position + step < num_hosts; position += 2 * step) {
      const std::int32_t made = program.add(order[position], order[position + step], num_bytes);
      add_dependencies(program, awaited_of_host[static_cast<std::size_t>(order[position])], made);
      awaited_of_host[static_cast<std::size_t>(order[position + step])] = {made};
    }
  }
}

ParentOfHost binomial_tree(std::span<const std::int32_t> order) {
  ParentOfHost parent_of_host(order.size(), kNoHost);
  for (std::size_t position = 1; position < order.size(); ++position) {
    // The parent's position lacks the lowest bit.
    parent_of_host[static_cast<std::size_t>(order[position])] = order[position & (position - 1)];
  }
  return parent_of_host;
}

std::vector<std::int32_t> from_root(const Schedule& schedule) {
  std::vector<std::int32_t> order = schedule.order;
  if (schedule.root != kNoHost) {
    std::rotate(order.begin(), std::find(order.begin(), order.end(), schedule.root), order.end());
  }
  return order;
}

}  // namespace

Program reversed(const Program& program) {
  Program back = program;
  for (Transfer& transfer : back.transfers) std::swap(transfer.src, transfer.dst);
  for (Dependency& dependency : back.dependencies) std::swap(dependency.earlier, dependency.later);
  return back;
}

Program split_tree_program(std::span<const std::int32_t> parent_of_host, const BlockBytes& blocks,
                           bool upwards) {
  Program program;
  const auto children = children_of_host(parent_of_host);
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < parent_of_host.size(); ++host) {
    if (parent_of_host[host] == kNoHost) hosts.push_back(host);
  }
  for (std::size_t next = 0; next < hosts.size(); ++next) {
    for (const std::int32_t child : children[hosts[next]]) {
      hosts.push_back(static_cast<std::size_t>(child));
    }
  }
  std::vector<double> bytes_below;
  for (std::size_t host = 0; host < parent_of_host.size(); ++host) {
    bytes_below.push_back(blocks[static_cast<std::int32_t>(host)]);
  }
  for (auto host = hosts.rbegin(); host != hosts.rend(); ++host) {
    if (parent_of_host[*host] == kNoHost) continue;
    bytes_below[static_cast<std::size_t>(parent_of_host[*host])] += bytes_below[*host];
  }
  std::vector<std::int32_t> arrival(parent_of_host.size(), kNoTransfer);
  for (const std::size_t host : hosts) {
    for (const std::int32_t child : children[host]) {
      const auto to = static_cast<std::size_t>(child);
      arrival[to] = program.add(static_cast<std::int32_t>(host), child, bytes_below[to]);
      program.add_dependency(arrival[host], arrival[to]);
    }
  }
  return upwards ? reversed(program) : program;
}

Program levels_program(const Schedule& schedule) {
  Program program;
  AwaitedOfHost awaited_of_host(static_cast<std::size_t>(schedule.num_hosts));
  for (const auto& groups : schedule.levels) {
    for (const Group& group : groups) {
      append_bcast(program, group, static_cast<double>(schedule.message_bytes), awaited_of_host);
    }
  }
  return schedule.operation == Operation::reduce ? reversed(program) : program;
}

Program native_program(const Schedule& schedule, const BlockBytes& blocks) {
  const std::vector<std::int32_t> order = from_root(schedule);
  const double num_bytes = static_cast<double>(schedule.message_bytes);
  Schedule textbook = schedule;
  textbook.num_parts = 1;
  textbook.window = 1;
  switch (schedule.operation) {
    case Operation::bcast:
    case Operation::reduce: {
      Program program;
      AwaitedOfHost awaited_of_host(order.size());
      append_bcast(program, order, num_bytes, awaited_of_host);
      return schedule.operation == Operation::reduce ? reversed(program) : program;
    }
    case Operation::scatter:
    case Operation::gather:
      return split_tree_program(binomial_tree(order), blocks,
                                schedule.operation == Operation::gather);
    case Operation::allgather:
      return num_bytes * static_cast<double>(order.size()) < kLongAllgatherBytes
                 ? dissemination_program(textbook, blocks)
                 : ring_program(textbook, blocks);
    case Operation::allreduce:
      return num_bytes < kLongAllreduceBytes ? doubling_program(textbook)
                                             : ring_program(textbook, blocks);
    case Operation::reduce_scatter:
      // Recursive halving sends as much, and as far, as Bruck's allgather backwards.
      return num_bytes * static_cast<double>(order.size()) < kLongReduceScatterBytes
                 ? dissemination_program(textbook, blocks)
                 : ring_program(textbook, blocks);
    case Operation::alltoall:
      return linear_program(textbook, blocks);
    case Operation::barrier:
      return dissemination_program(textbook, blocks);
  }
  return {};
}

Program program_of(const Schedule& schedule, std::span<const double> block_bytes) {
  const BlockBytes blocks(static_cast<double>(schedule.message_bytes), block_bytes);
  switch (schedule.form) {
    case Form::native:
      return native_program(schedule, blocks);
    case Form::levels:
      return levels_program(schedule);
    case Form::forest:
      return forest_program(schedule);
    case Form::ring:
      return ring_program(schedule, blocks);
    case Form::linear:
      return linear_program(schedule, blocks);
    case Form::doubling:
      return doubling_program(schedule);
    case Form::split_tree:
      return split_tree_program(schedule.trees.front(), blocks,
                                schedule.operation == Operation::gather);
    case Form::dissemination:
      return dissemination_program(schedule, blocks);
    case Form::two_level:
      return two_level_program(schedule, blocks);
  }
  return {};
}

}  // namespace fairlead::collectives
