// SPDX-License-Identifier: Apache-2.0
// Prints the state machine of the rule `trials` for docs/design/relay-trials.md.
#include <iostream>

#include "routing/trial_table_text.hpp"

int main() {
  std::cout << fairlead::relay::trial_table_text();
}
