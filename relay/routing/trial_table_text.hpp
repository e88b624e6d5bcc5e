// SPDX-License-Identifier: Apache-2.0
// The state machine of the rule `trials` as text, for its page. It is not part of the library.
#pragma once

#include <string>

namespace fairlead::relay {

/// In Markdown, as docs/design/relay-trials.md has it: the transitions between states, what is done
/// in each state on each event, and when events happen.
[[nodiscard]] std::string trial_table_text();

}  // namespace fairlead::relay
