// SPDX-License-Identifier: Apache-2.0
// The checks, in front of nlohmann_json.
#include "json/value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fairlead/error.hpp"

namespace fairlead::json {
namespace {

using Tree = nlohmann::json;

// What is shown of a wrong value, which may be a whole matrix.
constexpr std::size_t kShownLetters = 40;

std::string shown(const Tree& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  std::string text = value.dump(-1, ' ', false, Tree::error_handler_t::replace);
  return text.size() <= kShownLetters ? text : text.substr(0, kShownLetters) + "...";
}

const char* name_of(Allowed allowed) {
  switch (allowed) {
    case Allowed::not_negative:
      return "a number >= 0";
    case Allowed::positive:
      return "a number > 0";
    case Allowed::positive_or_null:
      break;
  }
  return "a number > 0 or null";
}

// The parser refuses numbers beyond all doubles, so what is a number here is finite.
std::optional<double> find_number(const Tree& value, Allowed allowed) {
  if (value.is_null() && allowed == Allowed::positive_or_null) {
    return std::numeric_limits<double>::infinity();
  }
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  const bool is_allowed = allowed == Allowed::not_negative ? number >= 0 : number > 0;
  return is_allowed ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> find_whole_number(const Tree& value, std::int64_t min,
                                              std::int64_t max) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  const auto number = value.get<std::int64_t>();
  return number >= min && number <= max ? std::optional(number) : std::nullopt;
}

}  // namespace

Value::Value(const nlohmann::json& value, std::string where)
    : value_(&value), where_(std::move(where)) {}

Value Value::at(const char* field) const {
  std::optional<Value> found = find(field);
  if (!found) Value(*value_, where_ + ": " + field).refuse("is missing");
  return *std::move(found);
}

std::optional<Value> Value::find(const char* field) const {
  const Tree& object = require_object();
  const auto found = object.find(field);
  if (found == object.end()) return std::nullopt;
  return Value(*found, where_ + ": " + field);
}

void Value::allow_only(std::initializer_list<std::string_view> fields) const {
  for (const auto& [name, value] : require_object().items()) {
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      refuse("unknown field " + shown(Tree(name)));
    }
  }
}

void Value::require_format(std::string_view format, int version) const {
  if (at("format").text() != format) {
    at("format").refuse_instead_of("\"" + std::string(format) + "\"");
  }
  const Tree& found = *at("version").value_;
  if (found != version) at("version").refuse_instead_of(std::to_string(version));
}

std::vector<Value> Value::items() const {
  std::vector<Value> all;
  all.reserve(num_items());
  for (std::size_t index = 0; index < num_items(); ++index) all.push_back(item(index));
  return all;
}

std::size_t Value::num_items() const {
  return require_list().size();
}

std::vector<std::int64_t> Value::whole_numbers(std::int64_t min, std::int64_t max) const {
  std::vector<std::int64_t> all;
  all.reserve(num_items());
  for (const Tree& element : *value_) {
    const auto number = find_whole_number(element, min, max);
    all.push_back(number ? *number : item(all.size()).whole_number(min, max));
  }
  return all;
}

std::vector<double> Value::numbers(Allowed allowed) const {
  std::vector<double> all;
  all.reserve(num_items());
  for (const Tree& element : *value_) {
    const auto number = find_number(element, allowed);
    all.push_back(number ? *number : item(all.size()).number(allowed));
  }
  return all;
}

double Value::number(Allowed allowed) const {
  const auto number = find_number(*value_, allowed);
  if (!number) refuse_instead_of(name_of(allowed));
  return *number;
}

std::int64_t Value::whole_number(std::int64_t min, std::int64_t max) const {
  const auto number = find_whole_number(*value_, min, max);
  if (!number) {
    refuse_instead_of("a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return *number;
}

bool Value::is_null() const {
  return value_->is_null();
}

bool Value::truth() const {
  if (!value_->is_boolean()) refuse_instead_of("true or false");
  return value_->get<bool>();
}

std::string Value::text() const {
  if (!value_->is_string()) refuse_instead_of("text");
  return value_->get<std::string>();
}

void Value::refuse(const std::string& problem) const {
  throw InputError(where_ + ": " + problem);
}

const nlohmann::json& Value::require_object() const {
  if (!value_->is_object()) refuse_instead_of("an object");
  return *value_;
}

const nlohmann::json& Value::require_list() const {
  if (!value_->is_array()) refuse_instead_of("a list");
  return *value_;
}

Value Value::item(std::size_t index) const {
  return {(*value_)[index], where_ + "[" + std::to_string(index) + "]"};
}

void Value::refuse_instead_of(const std::string& expected) const {
  refuse("expected " + expected + ", got " + shown(*value_));
}

Document::Document(std::string name, std::string_view text) : name_(std::move(name)) {
  try {
    root_ = std::make_unique<const Tree>(Tree::parse(text));
  } catch (const Tree::parse_error& error) {
    throw InputError(name_ + ": is no whole JSON document: wrong at byte " +
                     std::to_string(error.byte));
  } catch (const Tree::exception&) {
    throw InputError(name_ + ": holds a number beyond all floating-point numbers");
  }
}

Document::~Document() = default;

Value Document::root() const {
  return {*root_, name_};
}

}  // namespace fairlead::json
