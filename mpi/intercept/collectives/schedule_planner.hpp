// SPDX-License-Identifier: Apache-2.0
// Plans for one communicator. Rank 0 plans for all and broadcasts the plan: computers may differ in
// the last digit of a prediction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/current_network.hpp"
#include "collectives/rules.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// What is planned: a class of calls, by the first of them.
struct PlanRequest {
  const CollectiveRule* rule = nullptr;
  int root = fairlead::collectives::kNoHost;  ///< a host of the communicator
  std::uint64_t bytes = 0;                    ///< as rules have it
};

class SchedulePlanner {
 public:
  static constexpr int kRank = 0;

  SchedulePlanner() = default;
  /// @param hosts  the plan's, ascending; each rank's host is an index of them
  /// @param ranks_of_host  of the communicator on each of the hosts
  SchedulePlanner(std::vector<std::int32_t> hosts, std::vector<std::int32_t> ranks_of_host)
      : hosts_(std::move(hosts)), ranks_of_host_(std::move(ranks_of_host)) {}

  [[nodiscard]] const std::vector<std::int32_t>& hosts() const { return hosts_; }

  /// The first schedule of each rule is planned in any case: it has been tuned. Further ones, for
  /// other roots, sizes and communicators, hold the program up until a process has planned for so
  /// long; then such calls stay the MPI's own. A reproducible plan has no such limit.
  static constexpr double kMaxPlanning_s = 2.0;

  /// The schedule, the same on all ranks; null where planning fails, which rank 0 says. Collective.
  /// @param current  read on rank 0 only
  /// @throws MpiFailure
  [[nodiscard]] std::unique_ptr<fairlead::collectives::Schedule> plan(
      const fairlead::collectives::Members& members, const PlanRequest& request,
      const CurrentNetwork& current) const;

  /// What this process has planned before, or plans now, within the limit above; else nothing.
  /// Local; threads may use it at the same time.
  [[nodiscard]] std::string planned(const PlanRequest& request,
                                    const CurrentNetwork& current) const;

  /// The schedule as text, which every rank can read; nothing where planning fails, which is said.
  /// Local.
  [[nodiscard]] std::string write(const PlanRequest& request,
                                  const NetworkPlan& network) const noexcept;
  [[nodiscard]] static fairlead::collectives::Schedule read(const std::string& text);
  /// What rank 0 has written; null where it is nothing. Collective.
  /// @param text  on rank 0
  /// @throws MpiFailure
  [[nodiscard]] static std::unique_ptr<fairlead::collectives::Schedule> share(
      const fairlead::collectives::Members& members, std::string text);

 private:
  std::vector<std::int32_t> hosts_;
  std::vector<std::int32_t> ranks_of_host_;
};

}  // namespace fairlead::intercept
