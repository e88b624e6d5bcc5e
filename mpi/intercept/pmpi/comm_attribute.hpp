// SPDX-License-Identifier: Apache-2.0
// What is kept with a communicator, and destroyed with it: an attribute (MPI 4.0, 7.7) that owns
// its value.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

/// A value for each communicator. A duplicate of a communicator has none.
///
/// An object stands in the file that uses it: a static member would be one for all of the programs
/// that SMPI loads into one process, and keys are each program's own.
template <class Value>
class CommAttribute {
 public:
  /// Null where there is none, or where the MPI fails: `code` is the MPI's.
  [[nodiscard]] Value* find(MPI_Comm comm, int& code) {
    void* value = nullptr;
    int is_there = 0;
    code = mpi().Comm_get_attr(comm, key(), static_cast<void*>(&value), &is_there);
    return code == MPI_SUCCESS && is_there != 0 ? static_cast<Value*>(value) : nullptr;
  }

  [[nodiscard]] Value* find(MPI_Comm comm) {
    int code = MPI_SUCCESS;
    return find(comm, code);
  }

  /// The communicator owns the value from then on; where the MPI fails it is destroyed here.
  [[nodiscard]] int set(MPI_Comm comm, std::unique_ptr<Value> value) {
    const int code = mpi().Comm_set_attr(comm, key(), value.get());
    if (code == MPI_SUCCESS) (void)value.release();
    return code;
  }

  /// Destroys the value, if there is one.
  void remove(MPI_Comm comm) {
    if (find(comm) != nullptr) mpi().Comm_delete_attr(comm, key());
  }

 private:
  static int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
    *is_copied = 0;
    return MPI_SUCCESS;
  }

  static int destroy(MPI_Comm, int, void* value, void*) {
    delete static_cast<Value*>(value);
    return MPI_SUCCESS;
  }

  /// Made at the first use.
  int key() {
    std::call_once(is_made_,
                   [this] { mpi().Comm_create_keyval(&copy_nothing, &destroy, &key_, nullptr); });
    return key_;
  }

  std::once_flag is_made_;
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace fairlead::intercept
