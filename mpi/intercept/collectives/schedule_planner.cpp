// SPDX-License-Identifier: Apache-2.0
#include "collectives/schedule_planner.hpp"

#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>

#include "collectives/communicator_schedules.hpp"
#include "collectives/planned_schedules.hpp"
#include "fairlead/collectives/host_sizes.hpp"
#include "fairlead/collectives/planning.hpp"
#include "json/value.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "schedule_json.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;

void broadcast(std::string& text, MPI_Comm comm) {
  auto size = static_cast<int>(text.size());
  require_success(mpi().Bcast(&size, sizeof size, byte_type(), SchedulePlanner::kRank, comm));
  text.resize(static_cast<std::size_t>(size));
  require_success(mpi().Bcast(text.data(), size, byte_type(), SchedulePlanner::kRank, comm));
}

}  // namespace

std::unique_ptr<executors::Schedule> SchedulePlanner::plan(const executors::Members& members,
                                                           const PlanRequest& request,
                                                           const CurrentNetwork& current) const {
  return share(members, members.rank() == kRank ? planned(request, current) : std::string());
}

std::string SchedulePlanner::planned(const PlanRequest& request,
                                     const CurrentNetwork& current) const {
  static PlannedSchedules schedules;
  static std::once_flag has_warned;
  const PlannedBy by{.rule = request.rule,
                     .hosts = hosts_,
                     .ranks_of_host = ranks_of_host_,
                     .root = request.root,
                     .bytes = request.bytes,
                     .network_version = current.version()};
  const double limit_s = collectives_state().plan.is_reproducible
                             ? std::numeric_limits<double>::infinity()
                             : kMaxPlanning_s;
  const auto plan_now = [&] { return write(request, current.select(hosts_)); };
  // In a simulation planning takes no time, and to read the clock lets other processes run.
  const auto clock_s = [] { return kIsSimulated ? 0.0 : now_s(); };
  if (auto text = schedules.text(by, plan_now, clock_s, limit_s)) return *text;
  std::call_once(has_warned, [] {
    std::fprintf(stderr,
                 "fairlead: planning has taken %g s: calls with further roots, sizes or "
                 "communicators are the MPI's\n",
                 kMaxPlanning_s);
  });
  return {};
}

executors::Schedule SchedulePlanner::read(const std::string& text) {
  const json::Document document("schedule", text);
  return executors::read_schedule(document.root());
}

std::unique_ptr<executors::Schedule> SchedulePlanner::share(const executors::Members& members,
                                                            std::string text) {
  broadcast(text, members.comm());
  if (text.empty()) return nullptr;
  return std::make_unique<executors::Schedule>(read(text));
}

std::string SchedulePlanner::write(const PlanRequest& request,
                                   const NetworkPlan& network) const noexcept try {
  const CollectiveRule& rule = *request.rule;
  const executors::HostSizes sizes =
      executors::host_sizes(rule.operation, request.bytes, ranks_of_host_);
  std::string text = write_schedule(executors::plan(network.measured(),
                                                    {.operation = rule.operation,
                                                     .root = request.root,
                                                     .message_bytes = sizes.message_bytes,
                                                     .block_bytes = sizes.block_bytes},
                                                    rule.method));
  (void)read(text);  // What this rank cannot read, no other can.
  return text;
} catch (const std::exception& error) {
  const CollectiveRule& rule = *request.rule;
  std::fprintf(stderr, "fairlead: no schedule for %s by %s: %s\n",
               std::string(name_of(rule.operation)).c_str(), rule.method.c_str(), error.what());
  return {};
}

}  // namespace fairlead::intercept
