// SPDX-License-Identifier: Apache-2.0
// The main flow of the contention probe.
#include "fairlead/network/contention.hpp"

#include <limits>

#include "network/contention/group_search.hpp"
#include "network/contention/nic_capacity.hpp"

namespace fairlead {

ContentionFindings find_contention(int num_hosts, const MeasureFlows& measure,
                                   const ContentionOptions& options) {
  const std::vector<double> unmeasured(static_cast<std::size_t>(num_hosts),
                                       std::numeric_limits<double>::quiet_NaN());
  ContentionFindings findings{.groups = {}, .nic_out_Bps = unmeasured, .nic_in_Bps = unmeasured};
  FlowSteps steps(measure);
  Sharing sharing(steps, options.is_one_machine);
  RandomOrder random(options.seed);
  try {
    GroupSearch(num_hosts, steps, sharing, random).run(findings.groups);
    for (int host = 0; host < num_hosts; ++host) {
      const auto capacity_Bps = [&](Direction direction) {
        return nic_capacity_Bps(host, direction, num_hosts, options.max_nic_flows, findings.groups,
                                steps, random);
      };
      findings.nic_out_Bps[static_cast<std::size_t>(host)] = capacity_Bps(Direction::out);
      findings.nic_in_Bps[static_cast<std::size_t>(host)] = capacity_Bps(Direction::in);
    }
  } catch (const NoMoreSteps&) {
    findings.is_complete = false;
  }
  findings.num_steps = steps.num_steps();
  return findings;
}

}  // namespace fairlead
