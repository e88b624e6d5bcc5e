// SPDX-License-Identifier: Apache-2.0
// The result as JSON; nan becomes null, because JSON has no nan.
#include "result.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace fairlead::probe {
namespace {

constexpr int kVersion = 1;

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') escaped += '\\';
    if (static_cast<unsigned char>(letter) >= 0x20) escaped += letter;
  }
  return escaped + "\"";
}

std::string cells(const MedianEstimate& estimate) {
  return ", " + number(estimate.median) + ", " + number(estimate.low) + ", " +
         number(estimate.high) + ", " + std::to_string(estimate.num_samples);
}

std::string row(const PairResult& result) {
  return "[" + std::to_string(result.low) + ", " + std::to_string(result.high) +
         cells(result.latency_s) + cells(result.low_to_high_Bps) + cells(result.high_to_low_Bps) +
         "]";
}

template <typename Items, typename ToText>
std::string joined(const Items& items, const char* separator, ToText to_text) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : separator) + to_text(item);
  return text;
}

std::string to_json(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                    double probing_s) {
  return "{\"format\": \"fairlead-probe\", \"version\": " + std::to_string(kVersion) +
         ",\n \"mode\": " + quoted(options.mode) +
         ",\n \"round_trip_bytes\": " + std::to_string(options.recipe.round_trip_bytes) +
         ",\n \"message_bytes\": " + std::to_string(options.recipe.message_bytes) +
         ",\n \"concurrency\": " + std::to_string(behaviour.concurrency) +
         ",\n \"probing_s\": " + number(probing_s) + ",\n \"node_names\": [" +
         joined(outcome.node_names, ", ", quoted) + "]" + ",\n \"pairs\": [\n  " +
         joined(outcome.results, ",\n  ", row) + "\n ]}\n";
}

std::string group_row(const BottleneckGroup& group) {
  const auto plain = [](int host) { return std::to_string(host); };
  return "{\"sources\": [" + joined(group.sources, ", ", plain) + "], \"destinations\": [" +
         joined(group.destinations, ", ", plain) +
         "], \"capacity_Bps\": " + number(group.capacity_Bps.median) +
         ", \"capacity_low_Bps\": " + number(group.capacity_Bps.low) +
         ", \"capacity_high_Bps\": " + number(group.capacity_Bps.high) +
         ", \"confidence_ratio\": " + number(group.confidence_ratio) + "}";
}

std::string to_json(const ContentionFindings& findings, double probing_s) {
  return "{\"format\": \"fairlead-contention\", \"version\": " + std::to_string(kVersion) +
         ",\n \"num_steps\": " + std::to_string(findings.num_steps) +
         ",\n \"is_complete\": " + (findings.is_complete ? "true" : "false") +
         ",\n \"probing_s\": " + number(probing_s) + ",\n \"nic_out_Bps\": [" +
         joined(findings.nic_out_Bps, ", ", number) + "],\n \"nic_in_Bps\": [" +
         joined(findings.nic_in_Bps, ", ", number) + "],\n \"groups\": [\n  " +
         joined(findings.groups, ",\n  ", group_row) + "\n ]}\n";
}

std::string to_json(const RehearsalFindings& findings) {
  const auto round = [](const std::vector<double>& round_s) {
    return "[" + joined(round_s, ", ", number) + "]";
  };
  return "{\"format\": \"fairlead-rehearsal\", \"version\": " + std::to_string(kVersion) +
         ",\n \"num_steps\": " + std::to_string(findings.num_steps) +
         ",\n \"size_ratio\": " + number(findings.size_ratio) + ",\n \"rounds_s\": [\n  " +
         joined(findings.rounds_s, ",\n  ", round) + "\n ]}\n";
}

void print(const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written || std::fflush(stdout) != 0) {
    throw std::runtime_error(std::string("the result cannot be printed: ") + std::strerror(errno));
  }
}

}  // namespace

void print_contention(const ContentionFindings& findings, double probing_s) {
  print(to_json(findings, probing_s));
}

void print_rehearsal(const RehearsalFindings& findings) {
  print(to_json(findings));
}

void print_result(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                  double probing_s) {
  print(to_json(options, behaviour, outcome, probing_s));
}

}  // namespace fairlead::probe
