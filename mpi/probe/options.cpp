// SPDX-License-Identifier: Apache-2.0
// Reads the options; Python has checked the values, so error messages are short.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace fairlead::probe {
namespace {

template <typename Number>
Number parse_number(std::string_view name, std::string_view text, Number minimum) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= minimum)) {
    throw std::invalid_argument(std::string(name) + ": expected a number >= " +
                                std::to_string(minimum) + ", got '" + std::string(text) + "'");
  }
  return value;
}

void set_mode(Options& options, std::string_view mode) {
  if (mode == "quick") {
    options.recipe = quick_recipe();
  } else if (mode == "long-trains") {
    options.recipe = long_train_recipe();
  } else if (mode == "full") {
    options.recipe = full_recipe();
  } else {
    throw std::invalid_argument("--mode: expected quick, long-trains or full, got '" +
                                std::string(mode) + "'");
  }
  options.mode = mode;
}

void set_option(Options& options, std::string_view name, std::string_view value) {
  if (name == "--mode") {
    set_mode(options, value);
  } else if (name == "--target") {
    options.target_ratio = parse_number(name, value, 0.0);
  } else if (name == "--cap") {
    options.max_samples = parse_number(name, value, 1);
  } else if (name == "--budget") {
    options.budget_s = parse_number(name, value, 0.0);
  } else if (name == "--concurrency") {
    options.concurrency = parse_number(name, value, 0);
  } else if (name == "--patience") {
    options.patience_s = parse_number(name, value, 0.001);
  } else if (name == "--contention") {
    options.has_contention = parse_number(name, value, 0) != 0;
  } else if (name == "--pairs") {
    options.pairs = value;
  } else if (name == "--rehearse") {
    options.rehearsed = value;
  } else if (name == "--rehearse-time") {
    options.rehearsal_s = parse_number(name, value, 0.0);
  } else if (name == "--rehearse-rounds") {
    options.max_rehearsal_rounds = parse_number(name, value, 1);
  } else if (name == "--orders") {
    options.has_orders = parse_number(name, value, 0) != 0;
  } else {
    throw std::invalid_argument("unknown option '" + std::string(name) + "'");
  }
}

template <typename Words>
Options parse_words(const Words& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) {
      throw std::invalid_argument(std::string(words[i]) + ": a value is missing");
    }
    set_option(options, words[i], words[i + 1]);
  }
  return options;
}

}  // namespace

Recipe quick_recipe() {
  return {.round_trip_bytes = 1024,
          .num_warm_up_round_trips = 2,
          .messages_per_train = 6,
          .message_bytes = 1024,
          .window = 2,
          .num_lead_trains = 3,
          .trains_per_command = 6,
          .warm_up_message_bytes = 0};
}

Recipe long_train_recipe() {
  return {.round_trip_bytes = 1024,
          .num_warm_up_round_trips = 2,
          .messages_per_train = 1,
          .message_bytes = std::int64_t{64} << 10,
          .window = 2,
          .num_lead_trains = 2,
          .trains_per_command = 6,
          .warm_up_message_bytes = 0};
}

Recipe full_recipe() {
  return {.round_trip_bytes = 1,
          .num_warm_up_round_trips = 10,
          .messages_per_train = 1,
          .message_bytes = std::int64_t{8} << 20,
          .window = 1,
          .num_lead_trains = 0,
          .trains_per_command = 1,
          .warm_up_message_bytes = std::int64_t{512} << 10};
}

Options parse_options(std::span<const char* const> arguments) {
  return parse_words(arguments);
}

Options parse_order(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parse_words(words);
}

}  // namespace fairlead::probe
