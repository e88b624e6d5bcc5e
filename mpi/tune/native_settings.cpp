// SPDX-License-Identifier: Apache-2.0
// Finds a control variable and an item of its enumeration by their names (MPI 3.1, section 14.3.6).
#include "native_settings.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "fairlead/error.hpp"

namespace fairlead::tune {
namespace {

constexpr int kMostLetters = 4096;

[[noreturn]] void refuse(const NativeSetting& setting, const std::string& problem) {
  throw InputError(setting.variable + ": " + problem);
}

[[noreturn]] void refuse_item(const NativeSetting& setting) {
  refuse(setting, "this MPI has no item '" + setting.value + "'");
}

/// MPICH 4.0 shows no enumeration, but describes the items in their order: "ITEM   - ...". Nothing
/// but the blanks after its name sets an item apart from the text before it.
int item_of(std::string_view description, const NativeSetting& setting) {
  constexpr std::string_view kDash = " - ";
  int value = 0;
  for (std::size_t dash = description.find(kDash); dash != std::string_view::npos;
       dash = description.find(kDash, dash + kDash.size())) {
    std::string_view text = description.substr(0, description.find_last_not_of(' ', dash) + 1);
    if (text.ends_with(setting.value)) {
      text.remove_suffix(setting.value.size());
      // "brucks" is no "k_brucks".
      if (!text.ends_with('_')) return value;
    }
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
    if (setting.value == name.data()) return value;
  }
  refuse_item(setting);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

ScopedSettings::ScopedSettings(const std::vector<NativeSetting>& settings) {
  try {
    for (const NativeSetting& setting : settings) set(setting);
  } catch (const InputError&) {
    restore();
    throw;
  }
}

ScopedSettings::~ScopedSettings() {
  restore();
}

void ScopedSettings::set(const NativeSetting& setting) {
  int index = 0, length = kMostLetters, verbosity = 0, binding = 0, scope = 0;
  if (MPI_T_cvar_get_index(setting.variable.c_str(), &index) != MPI_SUCCESS) {
    refuse(setting, "this MPI has no such variable");
  }
  std::array<char, kMostLetters> name{}, description{};
  int description_length = kMostLetters;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  MPI_T_cvar_get_info(index, name.data(), &length, &verbosity, &type, &items, description.data(),
                      &description_length, &binding, &scope);
  int value = 0;
  if (items != MPI_T_ENUM_NULL) {
    value = item_of(items, setting);
  } else if (is_number(setting.value)) {
    value = std::stoi(setting.value);
  } else {
    value = item_of(std::string_view(description.data()), setting);
  }
  int count = 0;
  Changed changed{.handle = MPI_T_CVAR_HANDLE_NULL, .former = 0};
  if (MPI_T_cvar_handle_alloc(index, nullptr, &changed.handle, &count) != MPI_SUCCESS) {
    refuse(setting, "this MPI does not give access to it");
  }
  MPI_T_cvar_read(changed.handle, &changed.former);
  if (MPI_T_cvar_write(changed.handle, &value) != MPI_SUCCESS) {
    MPI_T_cvar_handle_free(&changed.handle);
    refuse(setting, "this MPI does not let it be set");
  }
  changed_.push_back(changed);
}

void ScopedSettings::restore() {
  for (Changed& changed : changed_) {
    MPI_T_cvar_write(changed.handle, &changed.former);
    MPI_T_cvar_handle_free(&changed.handle);
  }
  changed_.clear();
}

}  // namespace fairlead::tune
