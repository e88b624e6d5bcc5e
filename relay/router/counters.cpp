// SPDX-License-Identifier: Apache-2.0
// Writes the counters.
#include "router/counters.hpp"

#include <string_view>

namespace fairlead::router {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Drop::count_)> kReasons = {
    "bad_frame", "bad_handshake", "wrong_key", "too_many_connections",
    "stalled",   "unreachable",   "queue_full"};

void add(std::string& text, std::string_view name, std::string_view type, std::uint64_t value) {
  text.append("# TYPE fairlead_router_").append(name).append(" ").append(type);
  text.append("\nfairlead_router_").append(name).append(" ").append(std::to_string(value));
  text.append("\n");
}

}  // namespace

std::string metrics_text(const Counters& counters, const Levels& levels) {
  std::string text;
  add(text, "forwarded_frames_total", "counter", counters.forwarded_frames);
  add(text, "forwarded_bytes_total", "counter", counters.forwarded_bytes);
  add(text, "delivered_frames_total", "counter", counters.delivered_frames);
  add(text, "delivered_bytes_total", "counter", counters.delivered_bytes);
  add(text, "pauses_total", "counter", counters.pauses);
  add(text, "yields_total", "counter", counters.yields);
  add(text, "accepted_connections_total", "counter", counters.accepted_connections);
  text += "# TYPE fairlead_router_drops_total counter\n";
  for (std::size_t reason = 0; reason < kReasons.size(); ++reason) {
    text.append("fairlead_router_drops_total{reason=\"").append(kReasons[reason]).append("\"} ");
    text.append(std::to_string(counters.drops[reason])).append("\n");
  }
  add(text, "connections", "gauge", levels.num_connections);
  add(text, "jobs", "gauge", levels.num_jobs);
  add(text, "queued_bytes", "gauge", levels.queued_bytes);
  return text;
}

}  // namespace fairlead::router
