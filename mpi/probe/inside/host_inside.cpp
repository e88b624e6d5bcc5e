// SPDX-License-Identifier: Apache-2.0
// Every process reports on its host; rank 0 gathers the reports.
#include "inside/host_inside.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "fairlead/node_name.hpp"
#include "inside/allowed_cpus.hpp"
#include "inside/cpu_times.hpp"
#include "inside/hwloc_library.hpp"

namespace fairlead::probe {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) && value > 0 ? Json(value) : Json(nullptr);
}

Json topology_of_host() {
  const HostTopology found = read_host_topology();
  return {{"node", node_name()},
          {"cpus", allowed_cpus()},
          {"xml", found.xml},
          {"is_own", found.is_own},
          {"problem", found.problem}};
}

Json measured_times(const InsideOptions::OfHost& asked, std::int64_t read_bytes) {
  Json pairs = Json::array();
  for (const auto& [first, second] : asked.pairs) {
    const CpuPairTimes times = time_cpu_pair(first, second);
    pairs.push_back({number(times.latency_s), number(times.bandwidth_Bps)});
  }
  Json memory = Json::array();
  for (const std::vector<int>& cpus : asked.memory) {
    memory.push_back(number(time_memory(cpus, read_bytes)));
  }
  return {{"pairs", pairs}, {"memory", memory}};
}

}  // namespace

std::string look_inside(const InsideOptions& options, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  const Json report = options.hosts.empty() ? topology_of_host()
                      : index < options.hosts.size()
                          ? measured_times(options.hosts[index], options.read_bytes)
                          : Json::object();
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void send_report(MPI_Comm comm, const std::string& report) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(report.data(), static_cast<int>(report.size()), MPI_CHAR, 0, inside_report_tag, comm,
            &request);
  MPI_Request_free(&request);
}

std::vector<std::string> collect_reports(MPI_Comm comm, std::string own, Outcome& outcome,
                                         ControlChannel& control) {
  std::vector<std::string> reports(outcome.node_names.size());
  reports.front() = std::move(own);
  for (int src = 1; src < static_cast<int>(reports.size()); ++src) {
    if (outcome.node_names[static_cast<std::size_t>(src)].empty()) continue;  // It is lost.
    const auto take = [&] {
      int has_arrived = 0;
      MPI_Status status;
      MPI_Iprobe(src, inside_report_tag, comm, &has_arrived, &status);
      if (has_arrived == 0) return false;
      int length = 0;
      MPI_Get_count(&status, MPI_CHAR, &length);
      std::string& report = reports[static_cast<std::size_t>(src)];
      report.resize(static_cast<std::size_t>(length));
      MPI_Recv(report.data(), length, MPI_CHAR, src, inside_report_tag, comm, MPI_STATUS_IGNORE);
      return true;
    };
    if (!control.wait(src, take)) {
      outcome.is_orderly = false;
      control.announce_silent(src);
    }
  }
  return reports;
}

}  // namespace fairlead::probe
