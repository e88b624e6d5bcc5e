// SPDX-License-Identifier: Apache-2.0
#include "remap/question.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "fairlead/error.hpp"
#include "json/value.hpp"

namespace fairlead::remap {
namespace {

std::string text_of(double value) {
  std::array<char, 32> digits{};
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

std::string text_of(int value) {
  return std::to_string(value);
}

/// Names come from the kernel, which allows any letter in them.
std::string text_of(const std::string& name) {
  std::string quoted = "\"";
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += code >= 0x20 && code < 0x7f ? letter : '?';
  }
  return quoted + '"';
}

template <typename Value>
std::string list_of(const std::vector<Value>& values) {
  std::string list = "[";
  for (const Value& value : values) {
    if (list.size() > 1) list += ',';
    list += text_of(value);
  }
  return list + ']';
}

std::string text_of(const Sent& sent) {
  return '[' + text_of(sent.src) + ',' + text_of(sent.dst) + ',' + text_of(sent.bytes) + ']';
}

std::string text_of(const std::vector<std::vector<double>>& rows) {
  std::string list = "[";
  for (const std::vector<double>& row : rows) list += (list.size() > 1 ? "," : "") + list_of(row);
  return list + ']';
}

}  // namespace

std::string as_json(const Question& question) {
  std::string sent = "[";
  for (const Sent& one : question.sent) sent += (sent.size() > 1 ? "," : "") + text_of(one);
  return "{\"host_of_process\":" + list_of(question.host_of_process) +
         ",\"task_of_process\":" + list_of(question.task_of_process) +
         ",\"move_bytes_of_process\":" + list_of(question.move_bytes_of_process) +
         ",\"sent\":" + sent + ']' +
         (question.coordinates_of_task.empty()
              ? ""
              : ",\"coordinates_of_task\":" + text_of(question.coordinates_of_task)) +
         ",\"repeats_left\":" + text_of(question.repeats_left) +
         ",\"least_gain_ratio\":" + text_of(question.least_gain_ratio) + '}';
}

std::vector<int> tasks_from(const std::string& document, std::size_t num_processes) {
  const json::Document parsed("the oracle's answer", document);
  const auto most = static_cast<std::int64_t>(num_processes) - 1;
  const std::vector<std::int64_t> task_of_process =
      parsed.root().at("task_of_process").whole_numbers(0, most);
  std::vector<bool> is_done(num_processes, false);
  std::vector<int> tasks;
  for (const std::int64_t task : task_of_process) {
    const auto place = static_cast<std::size_t>(task);
    if (is_done[place]) throw Error("the oracle's answer: gives a task to two processes");
    is_done[place] = true;
    tasks.push_back(static_cast<int>(task));
  }
  if (tasks.size() != num_processes) throw Error("the oracle's answer: has not all processes");
  return tasks;
}

}  // namespace fairlead::remap
