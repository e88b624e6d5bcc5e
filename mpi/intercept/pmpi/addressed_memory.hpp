// SPDX-License-Identifier: Apache-2.0
// Addresses that are no place of an array, as MPI_BOTTOM, and memory as MPI_Pack and MPI_Unpack
// take it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

/// So many bytes from an address. Computed as an integer, since neither need be in the memory that
/// is pointed to.
[[nodiscard]] inline std::byte* at_distance(const void* address, MPI_Aint bytes) {
  const auto place = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes);
  return reinterpret_cast<std::byte*>(place);  // NOLINT(performance-no-int-to-ptr)
}

/// MPICH 4.0 refuses its own MPI_BOTTOM there, a null pointer, from which types of absolute
/// addresses count: the same bytes are those from another address on, by a type that is as far
/// below it.
class AddressedMemory {
 public:
  AddressedMemory(void* address, MPI_Datatype type) : address_(address), type_(type) {
    if (address != nullptr) return;
    const int one = 1;
    const MPI_Aint below = -kAddress;
    code_ = mpi().Type_create_hindexed(1, &one, &below, type, &type_);
    if (code_ != MPI_SUCCESS) return;
    is_own_ = true;
    code_ = mpi().Type_commit(&type_);
    address_ = reinterpret_cast<void*>(kAddress);  // NOLINT(performance-no-int-to-ptr)
  }
  ~AddressedMemory() {
    if (is_own_) mpi().Type_free(&type_);
  }
  AddressedMemory(const AddressedMemory&) = delete;
  AddressedMemory& operator=(const AddressedMemory&) = delete;

  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  static constexpr MPI_Aint kAddress = 64;

  void* address_;
  MPI_Datatype type_;
  bool is_own_ = false;
  int code_ = MPI_SUCCESS;
};

}  // namespace fairlead::intercept
