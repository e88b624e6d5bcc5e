// SPDX-License-Identifier: Apache-2.0
// The predicted time of a schedule.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/program.hpp"
#include "fairlead/collectives/planning.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

/// Flows under way at once, beyond which each event changes too many rates.
constexpr std::size_t kMaxFlows = 1024;
/// Messages in two levels, whose simulation takes a tenth of a second.
constexpr std::size_t kMaxTransfersInTwoLevels = 30'000;
/// Maximum number of messages of a schedule whose reported time is a fine one.
constexpr std::size_t kMaxFineTransfers = 65'536;

/// All messages at once: the busiest NIC or group decides, or the slowest pair.
/// @param num_hops  of the longest way of a block
double load_s(const Program& program, const Links& links, double num_hops = 1.0) {
  const std::size_t num_hosts = links.num_hosts();
  std::vector<double> out_bytes(num_hosts, 0.0);
  std::vector<double> in_bytes(num_hosts, 0.0);
  std::vector<double> group_bytes(links.num_groups(), 0.0);
  double longest_s = 0.0;
  double longest_latency_s = 0.0;
  for (const Transfer& transfer : program.transfers) {
    const auto src = static_cast<std::size_t>(transfer.src);
    const auto dst = static_cast<std::size_t>(transfer.dst);
    out_bytes[src] += transfer.num_bytes;
    in_bytes[dst] += transfer.num_bytes;
    for (const std::int32_t group : links.groups(src, dst)) {
      group_bytes[static_cast<std::size_t>(group)] += transfer.num_bytes;
    }
    longest_s = std::max(longest_s, links.transfer_s(src, dst, transfer.num_bytes));
    longest_latency_s = std::max(longest_latency_s, links.latency_s(src, dst));
  }
  double busiest_s = 0.0;
  for (std::size_t host = 0; host < num_hosts; ++host) {
    busiest_s = std::max(
        {busiest_s, out_bytes[host] / links.out_Bps(host), in_bytes[host] / links.in_Bps(host)});
  }
  for (std::size_t group = 0; group < group_bytes.size(); ++group) {
    busiest_s = std::max(busiest_s, group_bytes[group] / links.group_Bps(group));
  }
  return std::max(longest_s, num_hops * longest_latency_s + busiest_s);
}

bool is_in_halves(const Schedule& schedule) {
  return schedule.operation == Operation::allreduce &&
         (schedule.form == Form::linear || schedule.form == Form::two_level);
}

/// As if no host began its second half before all have ended the first: a host needs a message
/// from every other one, so few can be much earlier.
double halves_s(const Schedule& schedule, const Links& links, double tolerance_ratio) {
  const auto num_hosts = static_cast<std::uint64_t>(schedule.num_hosts);
  Schedule half = schedule;
  half.message_bytes = (schedule.message_bytes + num_hosts - 1) / num_hosts;
  double sum_s = 0.0;
  for (const Operation operation : {Operation::reduce_scatter, Operation::allgather}) {
    half.operation = operation;
    sum_s += predicted_s(half, links, {}, tolerance_ratio);
  }
  return sum_s;
}

}  // namespace

void check_blocks(std::span<const double> block_bytes, std::size_t num_hosts) {
  if (block_bytes.empty() || block_bytes.size() == num_hosts) return;
  throw ShapeError("collectives: block_bytes: expected " + std::to_string(num_hosts) +
                   " values, got " + std::to_string(block_bytes.size()));
}

bool has_fine_prediction(const Schedule& schedule) {
  const std::size_t num_ways = schedule.operation == Operation::allreduce ? 2 : 1;
  const auto num_hosts = static_cast<std::size_t>(schedule.num_hosts);
  return num_ways * num_hosts * schedule.segments.size() <= kMaxFineTransfers;
}

double predicted_s(const Schedule& schedule, const Links& links,
                   std::span<const double> block_bytes, double tolerance_ratio) {
  if (is_in_halves(schedule)) return halves_s(schedule, links, tolerance_ratio);
  const Program program = program_of(schedule, block_bytes);
  const bool is_at_once = program.dependencies.empty() && program.max_sends == 0;
  if (is_at_once && program.transfers.size() > kMaxFlows) return load_s(program, links);
  if (schedule.form == Form::two_level && program.transfers.size() > kMaxTransfersInTwoLevels) {
    return load_s(program, links, 2.0);
  }
  return simulate_s(program, links, tolerance_ratio);
}

double predicted_s(const MeasuredNetwork& network, const Schedule& schedule,
                   std::span<const double> block_bytes) {
  const Links links(network);
  if (static_cast<std::size_t>(schedule.num_hosts) != links.num_hosts()) {
    throw InputError("collectives: the schedule is for " + std::to_string(schedule.num_hosts) +
                     " hosts, but the network has " + std::to_string(links.num_hosts()));
  }
  check_blocks(block_bytes, links.num_hosts());
  return predicted_s(schedule, links, block_bytes,
                     has_fine_prediction(schedule) ? kFineRatio : kCoarseRatio);
}

}  // namespace fairlead::collectives
