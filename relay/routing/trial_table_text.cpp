// SPDX-License-Identifier: Apache-2.0
#include "routing/trial_table_text.hpp"

#include <array>
#include <cstddef>
#include <ostream>
#include <sstream>

#include "routing/trial_table.hpp"

namespace fairlead::relay {
namespace {

constexpr std::array<const char*, kNumTrialStates> kStateNames{"trying", "awaiting", "settled",
                                                               "checking"};
struct EventText {
  const char* name;
  const char* when;
};
constexpr std::array<EventText, kNumTrialEvents> kEventTexts{{
    {"message due", "a message is to be sent"},
    {"check due",
     "the same; routers carry the messages, and the direct path was not tried for the interval of "
     "checks"},
    {"comparison due",
     "the program has become slower or the MPI may be slow, and the interval of comparisons is "
     "over"},
    {"contention expired",
     "nothing was heard of the contention for long, and all paths may be faster again"},
    {"trials sent", "the last message of a comparison or of a check is sent"},
    {"sample", "the time of a message is known, and none of the next two holds"},
    {"direct faster", "the direct path was faster than what is taken"},
    {"direct unsure",
     "another mode than the MPI has become the best one by more messages than the direct path had"},
    {"inconclusive", "the time of a trial, or of a message by the relay, cannot be used"},
    {"relay silent",
     "nine messages by the relay that is taken alone gave no time, one after the other"},
    {"late", "messages on the direct path have not arrived in time"},
    {"parallel late", "the same on its several connections"},
    {"undecided", "the comparison or the check needs more messages"},
    {"decided", "the comparison needs no more messages"},
    {"slowdown", "the program sends more slowly than before"},
    {"long gap", "the program has waited for one message far longer than for those before"},
    {"contention ends", "others no longer fill what relays need"},
    {"resumed", "messages follow after a time without any"},
}};
constexpr std::array<const char*, kNumTrialActions> kActionNames{"",
                                                                 "",
                                                                 "send in the best mode",
                                                                 "send the next trial",
                                                                 "send a check",
                                                                 "evaluate",
                                                                 "repeat or evaluate",
                                                                 "compare",
                                                                 "compare the direct path",
                                                                 "compare at once",
                                                                 "request a comparison",
                                                                 "forget the relay",
                                                                 "forget stripes",
                                                                 "settle",
                                                                 "postpone trials"};

std::string name_of(TrialState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

// Empty where nothing is done and the state stays.
std::string cell_of(TrialState state, const TrialStep& step) {
  if (step.action == TrialAction::never) return "-";
  std::string action = kActionNames[static_cast<std::size_t>(step.action)];
  if (step.next == state) return action;
  const std::string next = "**" + name_of(step.next) + "**";
  return action.empty() ? next : action + ", " + next;
}

std::string events_between(TrialState from, TrialState to) {
  std::string events;
  for (std::size_t event = 0; event < kNumTrialEvents; ++event) {
    const TrialStep& step = trial_table()[event].steps[static_cast<std::size_t>(from)];
    if (step.next != to || step.action == TrialAction::never) continue;
    events += (events.empty() ? "" : ", ") + std::string(kEventTexts[event].name);
  }
  return events;
}

void print_transitions(std::ostream& out) {
  constexpr std::size_t kWidth = 9;
  for (std::size_t from = 0; from < kNumTrialStates; ++from) {
    for (std::size_t to = 0; to < kNumTrialStates; ++to) {
      const std::string events =
          events_between(static_cast<TrialState>(from), static_cast<TrialState>(to));
      if (from == to || events.empty()) continue;
      std::string first = kStateNames[from];
      std::string last = kStateNames[to];
      first.resize(kWidth, ' ');
      last.resize(kWidth, ' ');
      out << "    " << first << "──▶ " << last << events << '\n';
    }
  }
}

void print_steps(std::ostream& out) {
  out << "| event |";
  for (const char* name : kStateNames) out << ' ' << name << " |";
  out << "\n|---|---|---|---|---|\n";
  for (const TrialRow& row : trial_table()) {
    out << "| " << kEventTexts[static_cast<std::size_t>(row.event)].name << " |";
    for (std::size_t state = 0; state < kNumTrialStates; ++state) {
      const std::string cell = cell_of(static_cast<TrialState>(state), row.steps[state]);
      out << (cell.empty() ? "" : " ") << cell << " |";
    }
    out << '\n';
  }
}

void print_events(std::ostream& out) {
  out << "| event | when |\n|---|---|\n";
  for (const EventText& event : kEventTexts) {
    out << "| " << event.name << " | " << event.when << " |\n";
  }
}

}  // namespace

std::string trial_table_text() {
  std::ostringstream text;
  print_transitions(text);
  text << '\n';
  print_steps(text);
  text << '\n';
  print_events(text);
  return text.str();
}

}  // namespace fairlead::relay
