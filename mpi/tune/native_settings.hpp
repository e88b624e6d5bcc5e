// SPDX-License-Identifier: Apache-2.0
// Settings of the MPI library that choose among its own algorithms, by the tools interface (MPI_T).
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace fairlead::tune {

/// A control variable of the library, and what it is to be: an item of its enumeration, or a number
/// where it has none.
struct NativeSetting {
  std::string variable;
  std::string value;
};

/// Sets variables as long as it lives. Open MPI looks at them when a communicator is made, MPICH at
/// each call.
class ScopedSettings {
 public:
  /// @throws InputError  the library has no such variable or item, or refuses it; nothing is set
  explicit ScopedSettings(const std::vector<NativeSetting>& settings);
  ~ScopedSettings();
  ScopedSettings(const ScopedSettings&) = delete;
  ScopedSettings& operator=(const ScopedSettings&) = delete;

 private:
  struct Changed {
    MPI_T_cvar_handle handle;
    int former;
  };

  void set(const NativeSetting& setting);
  void restore();

  std::vector<Changed> changed_;
};

}  // namespace fairlead::tune
