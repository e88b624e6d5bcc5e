// SPDX-License-Identifier: Apache-2.0
// Finds a control variable and an item of its enumeration by their names (MPI 3.1, section 14.3.6).
#include "native_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "fairlead/error.hpp"

namespace fairlead::tune {
namespace {

constexpr int kMostLetters = 4096;

[[noreturn]] void refuse_item(const NativeSetting& setting) {
  throw InputError(setting.variable + ": this MPI has no item '" + setting.item + "'");
}

/// MPICH shows no enumeration: its description has a line "ITEM - ..." for each, in their order.
int item_of(std::string_view description, const NativeSetting& setting) {
  int value = 0;
  while (!description.empty()) {
    const std::string_view line = description.substr(0, description.find('\n'));
    description.remove_prefix(std::min(line.size() + 1, description.size()));
    const auto end = line.find(" - ");
    if (end == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, line.find(' '));
    if (name == setting.item) return value;
    ++value;
  }
  refuse_item(setting);
}

int item_of(MPI_T_enum items, const NativeSetting& setting) {
  int num_items = 0, length = 0;
  MPI_T_enum_get_info(items, &num_items, nullptr, &length);
  for (int index = 0; index < num_items; ++index) {
    std::array<char, kMostLetters> name{};
    int value = 0;
    length = kMostLetters;
    MPI_T_enum_get_item(items, index, &value, name.data(), &length);
    if (setting.item == name.data()) return value;
  }
  refuse_item(setting);
}

}  // namespace

ScopedSetting::ScopedSetting(const NativeSetting& setting) {
  int index = 0, length = kMostLetters, verbosity = 0, binding = 0, scope = 0;
  if (MPI_T_cvar_get_index(setting.variable.c_str(), &index) != MPI_SUCCESS) {
    throw InputError(setting.variable + ": this MPI has no such variable");
  }
  std::array<char, kMostLetters> name{}, description{};
  int description_length = kMostLetters;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  MPI_T_cvar_get_info(index, name.data(), &length, &verbosity, &type, &items, description.data(),
                      &description_length, &binding, &scope);
  const int value =
      items == MPI_T_ENUM_NULL ? item_of(description.data(), setting) : item_of(items, setting);
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count) != MPI_SUCCESS) {
    throw InputError(setting.variable + ": this MPI does not give access to it");
  }
  MPI_T_cvar_read(handle_, &former_);
  if (MPI_T_cvar_write(handle_, &value) != MPI_SUCCESS) {
    MPI_T_cvar_handle_free(&handle_);
    throw InputError(setting.variable + ": this MPI does not let it be set");
  }
}

ScopedSetting::~ScopedSetting() {
  MPI_T_cvar_write(handle_, &former_);
  MPI_T_cvar_handle_free(&handle_);
}

}  // namespace fairlead::tune
