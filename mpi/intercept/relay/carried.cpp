// SPDX-License-Identifier: Apache-2.0
#include "relay/carried.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "relay/relay.hpp"
#include "session/new_file.hpp"

namespace fairlead::intercept::relay {

void count_by_mpi(std::uint32_t dst_rank, std::uint64_t size_bytes) {
  Relay& relay = feature();
  if (size_bytes < relay.threshold_bytes) return;
  relay.mpi_bytes_of_host[relay.host_of_rank[dst_rank]] += size_bytes;
}

int write_carried(const std::string& folder) {
  Relay& relay = feature();
  auto by_mpi = nlohmann::ordered_json::array();
  auto paths = nlohmann::ordered_json::array();
  for (std::size_t index = 0; index < relay.mpi_bytes_of_host.size(); ++index) {
    const auto host = static_cast<std::uint16_t>(index);
    if (const std::uint64_t bytes = relay.mpi_bytes_of_host[index]; bytes > 0) {
      by_mpi.push_back({{"dst", host}, {"bytes", bytes}});
    }
    for (const PathState& path : relay.messenger->paths_to(host)) {
      if (path.sent_bytes == 0) continue;
      // That past all routers has none.
      const std::vector<std::uint16_t> straight{host};
      const auto& hops = path.route.hops.empty() ? straight : path.route.hops;
      paths.push_back({{"hops", hops}, {"bytes", path.sent_bytes}});
    }
  }
  if (relay.own_rank != 0 && by_mpi.empty() && paths.empty()) return 0;
  const nlohmann::ordered_json record = {
      {"src", relay.own_host}, {"by_mpi", by_mpi}, {"paths", paths}};
  const std::string text = record.dump() + "\n";
  NewFile file(folder + "/relay-" + std::to_string(relay.own_rank) + ".json");
  file.write(std::as_bytes(std::span(text)));
  return file.finish();
}

}  // namespace fairlead::intercept::relay
