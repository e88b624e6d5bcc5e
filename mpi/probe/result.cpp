// SPDX-License-Identifier: Apache-2.0
// The result as JSON, a document a line; nan becomes null, because JSON has no nan.
#include "result.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fairlead::probe {
namespace {

// Fields keep their order: by the first, the format, Python finds a document in what is printed.
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

/// Rounded to nine digits, more than any clock resolves: all 17 would double what is printed.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::strtod(text, nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

void append(Json& row, const MedianEstimate& estimate) {
  row.push_back(number(estimate.median));
  row.push_back(number(estimate.low));
  row.push_back(number(estimate.high));
  row.push_back(estimate.num_samples);
}

Json pair_row(const PairResult& result) {
  Json row = {result.low, result.high};
  append(row, result.latency_s);
  append(row, result.low_to_high_Bps);
  append(row, result.high_to_low_Bps);
  return row;
}

Json host_row(const std::optional<MeasuredHost>& host) {
  if (!host) return nullptr;
  Json row = {host->num_cores};
  for (const RateEstimate& rate : host->rates) {
    row.push_back({number(rate.value), number(rate.low), number(rate.high)});
  }
  return row;
}

Json group(const BottleneckGroup& group) {
  return {{"sources", group.sources},
          {"destinations", group.destinations},
          {"capacity_Bps", number(group.capacity_Bps.median)},
          {"capacity_low_Bps", number(group.capacity_Bps.low)},
          {"capacity_high_Bps", number(group.capacity_Bps.high)},
          {"confidence_ratio", number(group.confidence_ratio)}};
}

template <typename Items, typename ToJson>
Json list(const Items& items, ToJson to_json) {
  Json all = Json::array();
  for (const auto& item : items) all.push_back(to_json(item));
  return all;
}

void print(const Json& document) {
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written || std::fflush(stdout) != 0) {
    throw std::runtime_error(std::string("the result cannot be printed: ") + std::strerror(errno));
  }
}

}  // namespace

void print_contention(const ContentionFindings& findings, double probing_s) {
  print({{"format", "fairlead-contention"},
         {"version", kVersion},
         {"num_steps", findings.num_steps},
         {"is_complete", findings.is_complete},
         {"probing_s", number(probing_s)},
         {"nic_out_Bps", numbers(findings.nic_out_Bps)},
         {"nic_in_Bps", numbers(findings.nic_in_Bps)},
         {"groups", list(findings.groups, group)}});
}

void print_rehearsal(const RehearsalFindings& findings, const SentBytes& sent) {
  print({{"format", "fairlead-rehearsal"},
         {"version", kVersion},
         {"num_steps", findings.num_steps},
         {"size_ratio", number(findings.size_ratio)},
         {"mpi_bytes", sent.by_mpi},
         {"tcp_bytes", sent.by_tcp},
         {"rounds_s", list(findings.rounds_s, numbers)}});
}

void print_inside(const std::vector<std::string>& reports) {
  const auto report = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json::parse(text);
  };
  print({{"format", "fairlead-inside"}, {"version", kVersion}, {"hosts", list(reports, report)}});
}

void print_result(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                  std::span<const std::optional<MeasuredHost>> hosts, double probing_s,
                  const SentBytes& sent) {
  print({{"format", "fairlead-probe"},
         {"version", kVersion},
         {"mode", options.mode},
         {"round_trip_bytes", options.recipe.round_trip_bytes},
         {"message_bytes", options.recipe.message_bytes},
         {"concurrency", behaviour.concurrency},
         {"num_rounds", outcome.num_rounds},
         {"probing_s", number(probing_s)},
         {"mpi_bytes", sent.by_mpi},
         {"tcp_bytes", sent.by_tcp},
         {"node_names", outcome.node_names},
         {"host_identities", outcome.host_identities},
         {"hosts", list(hosts, host_row)},
         {"pairs", list(outcome.results, pair_row)}});
}

}  // namespace fairlead::probe
