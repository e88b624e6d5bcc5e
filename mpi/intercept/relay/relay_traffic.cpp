// SPDX-License-Identifier: Apache-2.0
#include "relay/relay_traffic.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "relay/relay.hpp"
#include "session/run_record.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::LinkLatency;
using fairlead::relay::PathState;
using fairlead::relay::PathUse;

namespace {

constexpr const char* name_of(PathUse use) {
  return use == PathUse::standard ? "standard" : use == PathUse::open ? "open" : "found";
}

// The path table as it is at the end, for later runs (MCM, section 2: "its posterior usage").
nlohmann::ordered_json table_to(std::uint16_t host) {
  Messenger& messenger = *feature().messenger;
  const std::vector<PathState> paths = messenger.paths_to(host);
  const std::vector<PathUse> uses = messenger.uses_of_paths_to(host);
  auto table = nlohmann::ordered_json::array();
  for (std::size_t path = 0; path < uses.size(); ++path) {
    if (uses[path] == PathUse::none) continue;
    table.push_back({{"hops", paths[path].planned.hops}, {"use", name_of(uses[path])}});
  }
  return table;
}

nlohmann::ordered_json measured_links() {
  auto links = nlohmann::ordered_json::array();
  for (const LinkLatency& each : feature().messenger->measured_links()) {
    links.push_back({{"src", each.src}, {"dst", each.dst}, {"segment_s", each.latency_s}});
  }
  return links;
}

}  // namespace

void write_relay_traffic() {
  const Relay& relay = feature();
  auto by_mpi = nlohmann::ordered_json::array();
  auto paths = nlohmann::ordered_json::array();
  auto table = nlohmann::ordered_json::array();
  for (std::size_t index = 0; index < relay.mpi_bytes_of_host.size(); ++index) {
    const auto host = static_cast<std::uint16_t>(index);
    if (const std::uint64_t bytes = relay.mpi_bytes_of_host[index]; bytes > 0) {
      by_mpi.push_back({{"dst", host}, {"bytes", bytes}});
    }
    bool has_sent = false;
    for (const PathState& path : relay.messenger->paths_to(host)) {
      if (path.sent_bytes == 0) continue;
      has_sent = true;
      // That without routers has none, and is none of the plan's paths.
      const bool is_planned = !path.planned.hops.empty();
      const auto& hops = is_planned ? path.planned.hops : std::vector<std::uint16_t>{host};
      nlohmann::ordered_json facts = {{"hops", hops}, {"bytes", path.sent_bytes}};
      if (is_planned && path.has_learned) {
        facts["latency_s"] = path.latency_s;
        facts["rate_Bps"] = path.rate_Bps;
      }
      paths.push_back(std::move(facts));
    }
    // Nothing was learned of a host to which nothing was sent.
    if (has_sent) {
      for (auto& each : table_to(host)) table.push_back(std::move(each));
    }
  }
  if (relay.own_rank != 0 && by_mpi.empty() && paths.empty()) return;
  const nlohmann::ordered_json record = {{"src", relay.own_host},
                                         {"by_mpi", by_mpi},
                                         {"paths", paths},
                                         {"table", table},
                                         {"links", measured_links()}};
  write_record("relay", static_cast<int>(relay.own_rank), record, "what paths carried");
}

}  // namespace fairlead::intercept::relay
