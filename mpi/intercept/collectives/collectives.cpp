// SPDX-License-Identifier: Apache-2.0
// Begin and end of the feature: each rank reads the same rules and finds its host in the plan.
#include <cstdio>
#include <exception>
#include <string>

#include "collectives/communicator_schedules.hpp"
#include "collectives/current_network.hpp"
#include "collectives/drift_counts.hpp"
#include "collectives/tried_schedules.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "session/feature.hpp"

namespace fairlead::intercept {
namespace {

constexpr const char* kCollectivesFile = "collectives.json";

void complain(const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: collectives stay the MPI's own: %s\n", problem);
}

// The same text on all ranks gives the same plan or the same error; one rank reports it.
bool parse(const Session& session, CollectivesPlan& plan) noexcept try {
  const Plan& files = session.plan;
  const std::string network = files.network_of("collectives");
  plan = parse_collectives_plan({files.path(network), files.text(network)},
                                {files.path(kCollectivesFile), files.text(kCollectivesFile)},
                                session.num_ranks);
  return true;
} catch (const std::exception& error) {
  if (session.rank == 0) complain(error.what());
  return false;
}

}  // namespace

namespace collectives {

bool begin(const Session& session) noexcept try {
  if (!session.plan.has(kCollectivesFile)) return false;
  CollectivesState& state = collectives_state();
  if (!parse(session, state.plan)) return false;
  current_network().begin(state.plan.network, state.plan.drift.max_cost_ratio / 2);
  state.rank = session.rank;
  state.host_of_world_rank = find_hosts_of_world(state.plan.network, session, &complain);
  if (state.host_of_world_rank.empty()) return false;
  return true;
} catch (const std::exception& error) {
  complain(error.what());
  return false;
}

// Others are freed by the program.
void end() noexcept try {
  if (collectives_state().host_of_world_rank.empty()) return;
  forget_schedules(comm_world());
  forget_schedules(comm_self());
  const CollectivesState& state = collectives_state();
  if (!state.plan.drift.is_on()) return;
  write_drift_counts(state.rank);
  write_tried(state.rank);
} catch (...) {
  complain("what was kept of them cannot be freed");
}

}  // namespace collectives
}  // namespace fairlead::intercept
