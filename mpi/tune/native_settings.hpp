// SPDX-License-Identifier: Apache-2.0
// Settings of the MPI library that choose among its own algorithms, by the tools interface (MPI_T).
#pragma once

#include <mpi.h>

#include <string>

namespace fairlead::tune {

/// A control variable of the library, and the item of its enumeration that is wanted.
struct NativeSetting {
  std::string variable;
  std::string item;
};

/// Sets a variable as long as it lives. Open MPI looks at it when a communicator is made, MPICH at
/// each call.
class ScopedSetting {
 public:
  /// @throws InputError  the library has no such variable or item, or refuses it
  explicit ScopedSetting(const NativeSetting& setting);
  ~ScopedSetting();
  ScopedSetting(const ScopedSetting&) = delete;
  ScopedSetting& operator=(const ScopedSetting&) = delete;

 private:
  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
  int former_ = 0;
};

}  // namespace fairlead::tune
