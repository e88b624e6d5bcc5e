// SPDX-License-Identifier: Apache-2.0
#include "relay/messenger/phase_memory.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace fairlead::intercept::relay {
namespace {

// A class that was not seen while the others came so many times is no longer part of the phase.
constexpr std::uint64_t kGoneRounds = 3;

}  // namespace

MessageClass MessageClass::of(std::uint32_t dst_rank, std::uint64_t bytes) {
  return {dst_rank, static_cast<std::uint8_t>(std::bit_width(bytes))};
}

PhaseMemory::Step PhaseMemory::note(MessageClass message, Time now) {
  Step step;
  const bool is_new = !seen_.contains(message);
  const bool is_foreign = present_ && std::ranges::count(kept_.at(*present_).classes, message) == 0;
  if (is_new && (is_whole() || seen_.size() >= kMaxClasses)) {
    leave(now, step);
    begin({message}, now);
  } else if (is_new && is_foreign) {
    // It began like a phase of before, and goes on otherwise.
    present_.reset();
  }
  if (order_.empty()) began_ = now;
  if (!seen_.contains(message)) order_.push_back(message);
  Seen& seen = seen_[message];
  ++seen.num_messages;
  seen.last = ++num_messages_;

  const std::uint64_t rounds = kGoneRounds * seen_.size();
  const bool is_smaller = std::ranges::any_of(
      seen_, [&](const auto& each) { return num_messages_ - each.second.last > rounds; });
  if (is_smaller && is_repeated()) {
    const std::vector<MessageClass> rest = classes_since(num_messages_ - rounds);
    leave(now, step);
    begin(rest, now);
    if (const auto found = recognised(rest, true)) enter(*found, step);
  } else if (is_new && !present_) {
    if (const auto found = recognised(order_, false)) enter(*found, step);
  }
  return step;
}

// Whether all classes of the phase are known: then a new one is of another phase. Either every
// class came again, or it is a phase of before and all of it came.
bool PhaseMemory::is_whole() const {
  if (present_ && kept_.at(*present_).classes.size() == seen_.size()) return true;
  return is_repeated();
}

bool PhaseMemory::is_repeated() const {
  return !seen_.empty() &&
         std::ranges::all_of(seen_, [](const auto& each) { return each.second.num_messages > 1; });
}

std::vector<MessageClass> PhaseMemory::classes_since(std::uint64_t message) const {
  std::vector<MessageClass> classes;
  std::ranges::copy_if(order_, std::back_inserter(classes),
                       [&](const MessageClass& each) { return seen_.at(each).last > message; });
  return classes;
}

void PhaseMemory::begin(const std::vector<MessageClass>& classes, Time now) {
  order_ = classes;
  seen_.clear();
  num_messages_ = 0;
  for (const MessageClass& each : classes) seen_[each] = {};
  present_.reset();
  began_ = now;
}

void PhaseMemory::leave(Time now, Step& step) {
  if (now - began_ < kLeastTime || seen_.size() >= kMaxClasses) {
    former_.reset();
    return;
  }
  std::optional<PhaseId> id = present_;
  if (!id || kept_.at(*id).classes.size() != order_.size()) id = recognised(order_, true);
  if (!id) {
    id = ++last_id_;
    if (kept_.size() >= kMaxPhases) {
      kept_.erase(std::ranges::min_element(kept_, {},
                                           [](const auto& each) { return each.second.last_left; }));
    }
  }
  kept_[*id] = {.classes = order_, .last_left = now, .former = former_};
  step.left = id;
  former_ = id;
}

// A phase of before with these classes, or that began with them; rather the one that followed the
// phase before, then the latest.
std::optional<PhaseMemory::PhaseId> PhaseMemory::recognised(
    const std::vector<MessageClass>& classes, bool is_whole) const {
  std::optional<PhaseId> best;
  const auto rank = [&](PhaseId phase) {
    const Kept& kept = kept_.at(phase);
    return std::pair(kept.former == former_, kept.last_left);
  };
  for (const auto& [id, kept] : kept_) {
    const std::vector<MessageClass>& known = kept.classes;
    const bool has_all = std::ranges::all_of(classes, [&known](const MessageClass& each) {
      return std::ranges::count(known, each) > 0;
    });
    if (!has_all || (is_whole && known.size() != classes.size())) continue;
    if (!best || rank(id) > rank(*best)) best = id;
  }
  return best;
}

void PhaseMemory::enter(PhaseId phase, Step& step) {
  present_ = phase;
  step.entered = phase;
}

}  // namespace fairlead::intercept::relay
