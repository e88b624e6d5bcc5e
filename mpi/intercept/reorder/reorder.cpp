// SPDX-License-Identifier: Apache-2.0
// Begin and end of the feature: each rank reads the same plan and finds its host in it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "pmpi/mpi_symbols.hpp"
#include "reorder/own_names.hpp"
#include "reorder/site.hpp"
#include "session/feature.hpp"

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

int own_host(const ReorderPlan& plan) noexcept try {
  return find_host(plan.network, own_names());
} catch (const std::exception&) {
  return kUnknownHost;
}

// Whether every process has found its host; the first that has not reports it.
bool find_hosts(Site& site, const Session& session) {
  const std::int32_t own = own_host(site.plan);
  auto& hosts = site.host_of_world_rank;
  hosts.resize(static_cast<std::size_t>(session.num_ranks));
  mpi().Allgather(&own, sizeof own, byte_type(), hosts.data(), sizeof own, byte_type(),
                  comm_world());
  const auto unknown = std::find(hosts.begin(), hosts.end(), kUnknownHost);
  if (unknown == hosts.end()) return true;
  if (unknown - hosts.begin() == session.rank) {
    const std::vector<std::string> names = own_names();
    const std::string name = names.empty() ? "?" : names.front();
    complain(("host '" + name + "' is not in the plan").c_str());
  }
  return false;
}

}  // namespace

Site& site() {
  static Site* const instance = new Site;
  return *instance;
}

namespace reorder {

bool begin(const Session& session) noexcept try {
  if (!session.plan.has(kReorderFile)) return false;
  return parse(session, site().plan) && find_hosts(site(), session);
} catch (const std::exception& error) {
  complain(error.what());
  return false;
}

void end() noexcept {}

}  // namespace reorder
}  // namespace fairlead::intercept
