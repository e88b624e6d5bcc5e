// SPDX-License-Identifier: Apache-2.0
#include "routing/trial_table.hpp"

namespace fairlead::relay {
namespace {

using enum TrialState;
using enum TrialAction;
using Event = TrialEvent;

// clang-format off
constexpr std::array<TrialRow, kNumTrialEvents> kTable{{
    // event                    trying                          awaiting                        settled                        checking
    {Event::message_due,        {{{trying, send_next_trial},    {awaiting, send_in_best_mode},  {settled, send_in_best_mode},  {checking, send_next_trial}}}},
    {Event::check_due,          {{{trying, never},              {awaiting, never},              {settled, send_check},         {checking, never}}}},
    {Event::comparison_due,     {{{trying, never},              {trying, compare},              {trying, compare},             {checking, never}}}},
    {Event::contention_expired, {{{trying, never},              {awaiting, never},              {trying, compare},             {trying, compare}}}},
    {Event::trials_sent,        {{{awaiting, none},             {awaiting, never},              {settled, never},              {settled, none}}}},
    {Event::sample,             {{{trying, none},               {awaiting, evaluate},           {settled, none},               {checking, none}}}},
    {Event::direct_faster,      {{{trying, never},              {awaiting, never},              {trying, compare},             {trying, compare}}}},
    {Event::direct_unsure,      {{{trying, never},              {awaiting, never},              {awaiting, evaluate},          {trying, none}}}},
    {Event::inconclusive,       {{{trying, repeat_or_evaluate}, {awaiting, repeat_or_evaluate}, {settled, none},               {checking, none}}}},
    {Event::relay_silent,       {{{trying, never},              {awaiting, never},              {settled, forget_relay},       {checking, forget_relay}}}},
    {Event::late,               {{{trying, none},               {awaiting, evaluate},           {settled, none},               {checking, none}}}},
    {Event::parallel_late,      {{{trying, none},               {awaiting, evaluate},           {trying, compare_direct},      {trying, compare_direct}}}},
    {Event::undecided,          {{{trying, none},               {trying, none},                 {checking, none},              {checking, never}}}},
    {Event::decided,            {{{trying, never},              {settled, settle},              {settled, never},              {checking, never}}}},
    {Event::slowdown,           {{{trying, request_comparison}, {awaiting, request_comparison}, {settled, request_comparison}, {checking, request_comparison}}}},
    {Event::long_gap,           {{{trying, none},               {awaiting, none},               {trying, compare_at_once},     {checking, none}}}},
    {Event::contention_ends,    {{{trying, forget_stripes},     {awaiting, forget_stripes},     {settled, forget_stripes},     {checking, forget_stripes}}}},
    {Event::resumed,            {{{trying, postpone_trials},    {trying, postpone_trials},      {settled, postpone_trials},    {checking, postpone_trials}}}},
}};
// clang-format on

}  // namespace

const std::array<TrialRow, kNumTrialEvents>& trial_table() {
  return kTable;
}

TrialStep step_of(TrialState state, TrialEvent event) {
  return kTable[static_cast<std::size_t>(event)].steps[static_cast<std::size_t>(state)];
}

}  // namespace fairlead::relay
