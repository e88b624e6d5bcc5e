// SPDX-License-Identifier: Apache-2.0
// Reads `--name value` options of whole numbers; every rank reads the same line, so all agree.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace example {

/// The command line or the number of ranks is invalid; thrown on all ranks or on none.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One option: its name with dashes, what it sets (the defaults are there already), and the limits.
struct Option {
  std::string_view name;
  std::span<std::int64_t> values;  ///< As many numbers as the option takes, commas between them.
  std::int64_t min;
  std::int64_t max;
  std::string_view help;
};

/// The one number of an option that takes one.
[[nodiscard]] inline std::span<std::int64_t> one(std::int64_t& value) {
  return {&value, 1};
}

/// What `--help` prints.
[[nodiscard]] inline std::string help_text(std::span<const Option> options) {
  std::string text = "options (defaults in parentheses):\n";
  for (const Option& option : options) {
    std::string placeholder;
    std::string defaults;
    for (const std::int64_t value : option.values) {
      placeholder += placeholder.empty() ? " N" : ",N";
      if (!defaults.empty()) defaults += ',';
      defaults += std::to_string(value);
    }
    text += "  " + std::string(option.name) + placeholder + "  " + std::string(option.help) + " (" +
            defaults + ")\n";
  }
  return text;
}

inline void parse_values(const Option& option, std::string_view text) {
  const char* position = text.data();
  const char* const end = position + text.size();
  bool is_valid = true;
  for (std::size_t i = 0; i < option.values.size() && is_valid; ++i) {
    const bool has_comma = i == 0 || (position != end && *position++ == ',');
    const auto [next, problem] = std::from_chars(position, end, option.values[i]);
    position = next;
    is_valid = has_comma && problem == std::errc{} && option.values[i] >= option.min &&
               option.values[i] <= option.max;
  }
  if (!is_valid || position != end) {
    const std::string how_many = option.values.size() == 1
                                     ? "a whole number"
                                     : std::to_string(option.values.size()) + " whole numbers";
    throw UsageError(std::string(option.name) + ": '" + std::string(text) + "' is not " + how_many +
                     " from " + std::to_string(option.min) + " to " + std::to_string(option.max));
  }
}

/// Sets the options that the command line names.
/// @return false when `--help` was asked for.
/// @throws UsageError An option is unknown, or its value is missing or outside its limits.
[[nodiscard]] inline bool parse_options(std::span<char* const> arguments,
                                        std::span<const Option> options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help") return false;
    const Option* found = nullptr;
    for (const Option& option : options) {
      if (option.name == name) found = &option;
    }
    if (found == nullptr) throw UsageError(std::string(name) + ": unknown option; try --help");
    if (++i == arguments.size()) throw UsageError(std::string(name) + ": its value is missing");
    parse_values(*found, arguments[i]);
  }
  return true;
}

}  // namespace example
