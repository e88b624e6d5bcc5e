// SPDX-License-Identifier: Apache-2.0
#include "routing/mcm_rule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "routing/message_class.hpp"

namespace fairlead::relay {
namespace {

double transfer_s(const HostPath& path, std::uint64_t bytes) {
  return path.latency_s + static_cast<double>(bytes) / path.bandwidth_Bps;
}

}  // namespace

// The first message goes by the best path of the table (section 2), or by that of an earlier run.
McmRule::McmRule(std::vector<HostPath> planned, const Zones& zones,
                 std::shared_ptr<const LinkTable> links, std::uint16_t host, std::uint32_t seed)
    : planned_(std::move(planned)),
      zones_(zones),
      links_(std::move(links)),
      host_(host),
      random_(seed),
      use_of_path_(planned_.size(), PathUse::none) {
  if (planned_.empty()) return;
  std::optional<std::size_t> kept;
  for (std::size_t path = 0; path < planned_.size(); ++path) {
    use_of_path_[path] = planned_[path].use;
    if (planned_[path].use == PathUse::standard) kept = path;
    if (latency_s(path) < latency_s(standard_)) standard_ = path;
  }
  set_standard(kept.value_or(standard_));
}

// Exactly one path is the standard one.
void McmRule::set_standard(std::size_t path) {
  std::ranges::replace(use_of_path_, PathUse::standard, PathUse::open);
  use_of_path_[path] = PathUse::standard;
  standard_ = path;
}

double McmRule::latency_s(std::size_t path) const {
  return links_->path_s(host_, planned_[path].hops);
}

// Relative to the best path, so that thresholds are the same for all paths of a pair.
double McmRule::unloaded_s(std::uint64_t bytes) const {
  double least_s = std::numeric_limits<double>::infinity();
  for (const HostPath& path : planned_) least_s = std::min(least_s, transfer_s(path, bytes));
  return least_s;
}

Zone McmRule::zone_of(double ratio) const {
  if (ratio >= zones_.high_ratio) return Zone::high;
  return ratio >= zones_.medium_ratio ? Zone::medium : Zone::low;
}

// All messages go by routers, also on the standard path. Otherwise no latency would be known.
TransferMode McmRule::next(std::uint64_t /*bytes*/, Time /*now*/) {
  return TransferMode::striped;
}

bool McmRule::is_striping_worth(std::uint64_t /*bytes*/) const {
  return !planned_.empty();
}

std::optional<std::size_t> McmRule::choose(std::span<PathState> paths, TransferMode /*mode*/,
                                           std::uint64_t /*bytes*/, Time now,
                                           std::optional<std::size_t>& taken) {
  if (taken && paths[*taken].is_open(now)) return taken;
  const bool is_acceptable = zone_ != Zone::high;
  if (is_acceptable && paths[standard_].is_open(now)) {
    taken = standard_;
  } else {
    taken = draw(paths, now);
  }
  if (!taken) taken = any_that_answers(paths, now);
  return taken;
}

// Randomly, with weights 1 / latency, as in DRB.
std::optional<std::size_t> McmRule::draw(std::span<const PathState> paths, Time now) {
  std::vector<double> weights(paths.size(), 0.0);
  bool has_any = false;
  for (std::size_t path = 0; path < paths.size(); ++path) {
    if (!is_taken(path) || !paths[path].is_open(now)) continue;
    weights[path] = 1.0 / latency_s(path);
    has_any = true;
  }
  if (!has_any) return std::nullopt;
  std::discrete_distribution<std::size_t> drawn(weights.begin(), weights.end());
  return drawn(random_);
}

// A path that does not answer counts as above all thresholds.
std::optional<std::size_t> McmRule::any_that_answers(std::span<const PathState> paths, Time now) {
  std::optional<std::size_t> best;
  for (std::size_t path = 0; path < paths.size(); ++path) {
    if (!paths[path].is_open(now)) continue;
    if (!best || latency_s(path) < latency_s(*best)) best = path;
  }
  if (best) use_of_path_[*best] = std::max(use_of_path_[*best], PathUse::open);
  return best;
}

// Only a communication that repeats itself is controlled (section 2).
void McmRule::learn(TransferMode /*mode*/, std::uint64_t bytes, double seconds, Time /*now*/) {
  const std::uint8_t size_class = MessageClass::of(0, bytes).size_class;
  if (planned_.size() < 2 || known_sizes_.insert(size_class).second) return;
  const Zone zone = zone_of(seconds / unloaded_s(bytes));
  const Zone former = std::exchange(zone_, zone);
  if (zone > former) search();
  if (zone == Zone::high) open_found();
  if (zone != Zone::high && former == Zone::high) settle();
}

// A transition to medium or high: the best path that is not in use yet, if it has lower latency
// than the current one (section 2: that is mandatory).
void McmRule::search() {
  std::optional<std::size_t> best;
  for (std::size_t path = 0; path < planned_.size(); ++path) {
    if (use_of_path_[path] != PathUse::none) continue;
    if (!best || latency_s(path) < latency_s(*best)) best = path;
  }
  if (best && latency_s(*best) < latency_s(standard_)) use_of_path_[*best] = PathUse::found;
}

// A path that was found in the zone medium is opened only here: "in low and medium latency areas we
// do not open new paths" (section 2.1).
void McmRule::open_found() {
  std::ranges::replace(use_of_path_, PathUse::found, PathUse::open);
}

// Latency is acceptable again: the open path that is now the best is the standard one.
void McmRule::settle() {
  std::size_t best = standard_;
  for (std::size_t path = 0; path < planned_.size(); ++path) {
    if (is_taken(path) && latency_s(path) < latency_s(best)) best = path;
  }
  set_standard(best);
}

}  // namespace fairlead::relay
