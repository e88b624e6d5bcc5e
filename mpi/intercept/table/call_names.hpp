// SPDX-License-Identifier: Apache-2.0
// The calls of the table as an enumeration, and the name of each in the trace file.
#pragma once

#include <cstdint>
#include <string>

#include "table/features.hpp"

namespace fairlead::intercept {

enum class Call : std::uint16_t {
#define FAIRLEAD_ENUMERATOR(name, ...) name,
#define CALL(...) FAIRLEAD_ENUMERATOR(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_ENUMERATOR(name)
#include "table/calls.def"
#undef FAIRLEAD_ENUMERATOR
  count_
};

/// The operation's name: lower case, without the prefix, without the suffix of large counts.
[[nodiscard]] std::string operation_name(Call call);

}  // namespace fairlead::intercept
