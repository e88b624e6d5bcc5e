// SPDX-License-Identifier: Apache-2.0
// A further feature that claims the call CLAIMED; it must not compile where another has it.
#include "table/handlers.hpp"

#define CLAIM(call) FAIRLEAD_CLAIM(further, call)
namespace fairlead::intercept {
CLAIM(CLAIMED)
}
int main() {}
