// SPDX-License-Identifier: Apache-2.0
// The state machine of the rule `trials` is complete, and its page shows it.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mode_program.hpp"
#include "routing/trial_table_text.hpp"

using namespace fairlead::tests;

namespace {

constexpr std::array kStates{TrialState::trying, TrialState::awaiting, TrialState::settled,
                             TrialState::checking};

}  // namespace

TEST_CASE("trial table: there is one row for each event, and a step in it for each state") {
  for (std::size_t index = 0; index < kNumTrialEvents; ++index) {
    const TrialRow& row = trial_table()[index];
    CHECK(static_cast<std::size_t>(row.event) == index);
    for (const TrialState state : kStates) {
      const TrialStep step = step_of(state, row.event);
      INFO(index << " " << static_cast<int>(state));
      CHECK(static_cast<std::size_t>(step.next) < kNumTrialStates);
      CHECK((step.action != TrialAction::never || step.next == state));
    }
  }
}

TEST_CASE("trial table: each event matters in some state, and each action is used") {
  std::set<TrialAction> used;
  for (const TrialRow& row : trial_table()) {
    const auto matters = [&row](TrialState state) {
      const TrialStep step = step_of(state, row.event);
      if (step.action == TrialAction::never) return false;
      return step.action != TrialAction::none || step.next != state;
    };
    CHECK(std::ranges::any_of(kStates, matters));
    for (const TrialStep& step : row.steps) used.insert(step.action);
  }
  CHECK(used.size() == kNumTrialActions);
}

TEST_CASE("trial table: each state is reached from each other one") {
  for (const TrialState first : kStates) {
    std::vector<TrialState> reached{first};
    for (std::size_t index = 0; index < reached.size(); ++index) {
      for (const TrialRow& row : trial_table()) {
        const TrialStep step = step_of(reached[index], row.event);
        if (step.action == TrialAction::never) continue;
        if (std::ranges::count(reached, step.next) == 0) reached.push_back(step.next);
      }
    }
    CHECK(reached.size() == kNumTrialStates);
  }
}

TEST_CASE("trial table: whatever happens, all states are reached, and only trials are awaited") {
  std::mt19937 random(1);
  const auto below = [&random](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  TrialRule rule(planned(5e7, 1e8), kStart);
  Time now = kStart;
  std::set<TrialState> seen;
  constexpr std::array kModes{TransferMode::direct, TransferMode::parallel, TransferMode::relayed,
                              TransferMode::striped};
  for (int step = 0; step < 100000; ++step) {
    now += milliseconds(below(50));
    const TransferMode mode = kModes[static_cast<std::size_t>(below(4))];
    switch (below(8)) {
      case 0:
        if (below(20) == 0) rule.note_slowdown(now);
        break;
      case 1:
        if (below(20) == 0) rule.note_long_gap(now);
        break;
      case 2:
        rule.miss(mode, kBytes, now);
        break;
      case 3:
        (void)rule.leave_if_late(mode, kBytes, kBytes / 2, 0.001 * below(1000), now);
        break;
      case 4:
        if (below(50) == 0) (void)rule.resume(now);
        break;
      case 5:
        rule.learn(mode, kBytes, 0.001 * (1 + below(has_relay(mode) ? 30 : 300)), now);
        break;
      default:
        (void)rule.next(kBytes, now);
    }
    seen.insert(rule.state());
    const bool is_trying_any =
        std::ranges::any_of(kModes, [&rule](TransferMode each) { return rule.is_trying(each); });
    REQUIRE((rule.state() != TrialState::awaiting || is_trying_any));
  }
  CHECK(seen.size() == kNumTrialStates);
}

TEST_CASE("trial table: docs/design/relay-trials.md shows what print_trial_table prints") {
  std::ifstream file(FAIRLEAD_SOURCE_DIR "/docs/design/relay-trials.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  INFO(trial_table_text());
  CHECK(page.find(trial_table_text()) != std::string::npos);
}
