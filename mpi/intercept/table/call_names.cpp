// SPDX-License-Identifier: Apache-2.0
// Names of the calls, from the same table as the calls themselves.
#include "table/call_names.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace fairlead::intercept {
namespace {

constexpr std::array kNames = {
#define FAIRLEAD_TEXT(name, ...) std::string_view(#name),
#define CALL(...) FAIRLEAD_TEXT(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_TEXT(name)
#include "table/calls.def"
#undef FAIRLEAD_TEXT
};

static_assert(kNames.size() == static_cast<std::size_t>(Call::count_));

}  // namespace

std::string operation_name(Call call) {
  std::string_view name = kNames[static_cast<std::size_t>(call)];
  if (name.ends_with("_c")) name.remove_suffix(2);
  std::string lower(name);
  lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return lower;
}

}  // namespace fairlead::intercept
