// SPDX-License-Identifier: Apache-2.0
// The state machine of the rule `trials` as text. No part of the library: its page needs it.
#pragma once

#include <string>

namespace fairlead::relay {

/// In Markdown, as docs/design/relay-trials.md has it: the transitions between states, what is done
/// in each state on each event, and when events happen.
[[nodiscard]] std::string trial_table_text();

}  // namespace fairlead::relay
