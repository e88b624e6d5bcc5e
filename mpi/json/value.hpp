// SPDX-License-Identifier: Apache-2.0
// Reads JSON from outside: every value is checked, and every error says where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::json {

/// What a number may be; finite in any case.
enum class Allowed : std::uint8_t { not_negative, positive, positive_or_null };

/// A value of a document, which has to live as long, and where it stands. All methods throw
/// InputError "DOCUMENT: FIELD: expected ..., got ..." where the value is not what they name.
class Value {
 public:
  Value(const nlohmann::json& value, std::string where);

  /// The field of an object, which must be there.
  [[nodiscard]] Value at(const char* field) const;
  /// The same, nothing where it is absent.
  [[nodiscard]] std::optional<Value> find(const char* field) const;
  /// Refuses an object with any other field.
  void allow_only(std::initializer_list<std::string_view> fields) const;
  /// Refuses a document of another kind or version.
  void require_format(std::string_view format, int version) const;

  /// The elements of a list.
  [[nodiscard]] std::vector<Value> items() const;
  [[nodiscard]] std::size_t num_items() const;
  /// The elements of a list of whole numbers.
  [[nodiscard]] std::vector<std::int64_t> whole_numbers(std::int64_t min, std::int64_t max) const;
  /// The elements of a list of numbers, infinite for an allowed null.
  [[nodiscard]] std::vector<double> numbers(Allowed allowed) const;

  [[nodiscard]] double number(Allowed allowed) const;
  [[nodiscard]] std::int64_t whole_number(std::int64_t min, std::int64_t max) const;
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] std::string text() const;

  /// @throws InputError "DOCUMENT: FIELD: `problem`".
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  const nlohmann::json& require_object() const;
  const nlohmann::json& require_list() const;
  [[nodiscard]] Value item(std::size_t index) const;
  [[noreturn]] void refuse_instead_of(const std::string& expected) const;

  const nlohmann::json* value_;
  std::string where_;
};

/// A whole document.
class Document {
 public:
  /// @param name stands at the beginning of every error.
  /// @throws InputError where the text is no JSON, with the place.
  Document(std::string name, std::string_view text);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document();

  [[nodiscard]] Value root() const;

 private:
  std::string name_;
  std::unique_ptr<const nlohmann::json> root_;
};

}  // namespace fairlead::json
