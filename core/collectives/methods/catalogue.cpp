// SPDX-License-Identifier: Apache-2.0
// All methods by name, and planning by one of them or by the fastest.
#include <algorithm>
#include <array>
#include <string>

#include "collectives/lower_bound.hpp"
#include "collectives/methods/methods.hpp"
#include "collectives/program.hpp"
#include "collectives/trees/tree_links.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

template <Form form>
bool is_for(Operation operation) {
  return is_supported(operation, form);
}

bool is_for_cmpi(Operation operation) {
  return has_root(operation);
}

/// A method with the function that plans by it.
struct Row {
  Method method;
  Schedule (*schedule)(const Problem&);
};

constexpr std::array kRows = std::to_array<Row>({
    {{"native", "the MPI's own algorithm on a communicator in a better order",
      is_for<Form::native>},
     plan_native},
    {{"cmpi", "the paper CMPI: the MPI's own in groups of near hosts, or a tree by distance",
      is_for_cmpi},
     plan_cmpi},
    {{"leader_tree", "a tree in which leaders of groups of near hosts are parents of the others",
      is_for<Form::split_tree>},
     plan_leader_tree},
    {{"pipeline", "segments down one tree, each host's fan-out as its NIC allows",
      is_for<Form::forest>},
     plan_pipeline},
    {{"forest", "segments down several trees at once, each host inside only one of them",
      is_for<Form::forest>},
     plan_forest},
    {{"ring", "blocks around a ring that crosses slow links as rarely as possible",
      is_for<Form::ring>},
     plan_ring},
    {{"linear", "each block in one message, all of them overlapped", is_for<Form::linear>},
     plan_linear},
    {{"doubling", "recursive doubling in an order whose rounds are short", is_for<Form::doubling>},
     plan_doubling},
    {{"dissemination", "dissemination (Bruck) in an order whose rounds are short",
      is_for<Form::dissemination>},
     plan_dissemination},
    {{"two_level", "each block once into each island, by another host, which sends it to all there",
      is_for<Form::two_level>},
     plan_two_level},
    // From about the longer size on MPIs send by rendezvous.
    {{"pipeline_8k", "pipeline with segments of at least 8 KiB", is_for<Form::forest>, "pipeline",
      8192},
     plan_pipeline},
    {{"pipeline_64k", "pipeline with segments of at least 64 KiB", is_for<Form::forest>, "pipeline",
      65536},
     plan_pipeline},
    {{"forest_8k", "forest with segments of at least 8 KiB", is_for<Form::forest>, "forest", 8192},
     plan_forest},
    {{"forest_64k", "forest with segments of at least 64 KiB", is_for<Form::forest>, "forest",
      65536},
     plan_forest},
});

constexpr std::array<Method, kRows.size()> kMethods = [] {
  std::array<Method, kRows.size()> methods_of_rows{};
  std::transform(kRows.begin(), kRows.end(), methods_of_rows.begin(),
                 [](const Row& row) { return row.method; });
  return methods_of_rows;
}();

constexpr std::string_view kFastest = "fastest";

void check_request(const Request& request, std::size_t num_hosts) {
  const bool is_there = request.root >= 0 && static_cast<std::size_t>(request.root) < num_hosts;
  if (has_root(request.operation) ? !is_there : request.root != kNoHost) {
    throw InputError("collectives: root: " + std::to_string(request.root) + " does not fit " +
                     std::string(name_of(request.operation)) + " on " + std::to_string(num_hosts) +
                     " hosts");
  }
  check_blocks(request.block_bytes, num_hosts);
}

Schedule make_schedule(const Row& row, Problem problem) {
  problem.segment_bytes = row.method.segment_bytes;
  Schedule schedule = row.schedule(problem);
  schedule.method = row.method.name;
  return schedule;
}

}  // namespace

std::span<const Method> methods() {
  return kMethods;
}

Schedule plan(const MeasuredNetwork& network, const Request& request, std::string_view method) {
  const Links links(network);
  check_request(request, links.num_hosts());
  const std::vector<std::int32_t> island_of_host = islands_of(links);
  const Problem problem{network, links, request, island_of_host, 0};
  Schedule best;
  bool is_known = method == kFastest;
  for (const Row& row : kRows) {
    const bool is_asked = method == row.method.name;
    is_known = is_known || is_asked;
    const bool is_tried = method == kFastest && row.method.variant_of.empty();
    if (!is_asked && !is_tried) continue;
    if (!row.method.is_for(request.operation)) {
      if (!is_asked) continue;
      throw InputError("collectives: the method '" + std::string(method) + "' is not for " +
                       std::string(name_of(request.operation)));
    }
    Schedule schedule = make_schedule(row, problem);
    if (best.num_hosts == 0 || schedule.predicted_s < best.predicted_s) best = std::move(schedule);
  }
  if (!is_known) {
    std::string names;
    for (const Method& known : kMethods) names += std::string(known.name) + ", ";
    throw InputError("collectives: unknown method '" + std::string(method) + "'; there are " +
                     names + std::string(kFastest));
  }
  if (has_fine_prediction(best)) best.predicted_s = predicted_s(best, links, request.block_bytes);
  best.lower_bound_s = lower_bound_s(links, request);
  return best;
}

double lower_bound_s(const MeasuredNetwork& network, const Request& request) {
  const Links links(network);
  check_request(request, links.num_hosts());
  return lower_bound_s(links, request);
}

Schedule begun(const Problem& problem, Form form) {
  Schedule schedule;
  schedule.operation = problem.request.operation;
  schedule.form = form;
  schedule.num_hosts = static_cast<std::int32_t>(problem.links.num_hosts());
  schedule.root = problem.request.root;
  schedule.message_bytes = problem.request.message_bytes;
  return schedule;
}

void keep_faster(const Problem& problem, Schedule candidate, Schedule& best) {
  candidate.predicted_s =
      predicted_s(candidate, problem.links, problem.request.block_bytes, kCoarseRatio);
  if (best.num_hosts == 0 || candidate.predicted_s < best.predicted_s) best = std::move(candidate);
}

double largest_block_bytes(const Request& request) {
  if (request.block_bytes.empty()) return static_cast<double>(request.message_bytes);
  return *std::max_element(request.block_bytes.begin(), request.block_bytes.end());
}

double unrooted_block_bytes(const Problem& problem) {
  const double bytes = largest_block_bytes(problem.request);
  return problem.request.operation == Operation::allreduce
             ? bytes / static_cast<double>(problem.links.num_hosts())
             : bytes;
}

}  // namespace fairlead::collectives
