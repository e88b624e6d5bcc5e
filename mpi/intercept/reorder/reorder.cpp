// SPDX-License-Identifier: Apache-2.0
// Begin and end of the feature: each rank reads the same plan and finds its host in it.
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "plan/world_hosts.hpp"
#include "reorder/reorder_state.hpp"
#include "session/feature.hpp"
#include "session/run_record.hpp"

namespace fairlead::intercept {
namespace {

constexpr const char* kReorderFile = "reorder.json";

void complain(const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: ranks are not reordered: %s\n", problem);
}

// The same text on all ranks gives the same plan or the same error; one rank reports it.
bool parse(const Session& session, ReorderPlan& plan) noexcept try {
  const Plan& files = session.plan;
  plan = parse_reorder_plan({files.path(kNetworkFile), files.text(kNetworkFile)},
                            {files.path(kReorderFile), files.text(kReorderFile)});
  return true;
} catch (const std::exception& error) {
  if (session.rank == 0) complain(error.what());
  return false;
}

}  // namespace

ReorderState& reorder_state() {
  static ReorderState* const instance = new ReorderState;
  return *instance;
}

namespace reorder {

bool begin(const Session& session) noexcept try {
  if (!session.plan.has(kReorderFile)) return false;
  if (!parse(session, reorder_state().plan)) return false;
  reorder_state().world_rank = session.rank;
  reorder_state().host_of_world_rank =
      find_hosts_of_world(reorder_state().plan.network, session, &complain);
  return !reorder_state().host_of_world_rank.empty();
} catch (const std::exception& error) {
  complain(error.what());
  return false;
}

// What the ranks have sent is then not what they send where nothing is reordered.
void end() noexcept try {
  if (const int count = reorder_state().num_reordered.load(); count > 0) {
    write_record("reorder", reorder_state().world_rank, {{"topologies", count}},
                 "that topologies were reordered");
  }
} catch (const std::exception& error) {
  complain(error.what());
}

}  // namespace reorder
}  // namespace fairlead::intercept
