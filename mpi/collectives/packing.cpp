// SPDX-License-Identifier: Apache-2.0
// Packing by MPI, where memory holds anything but plain bytes.
#include "packing.hpp"
#include "mpi_calls.hpp"
#include "pmpi/addressed_memory.hpp"

#include <cstring>
#include <vector>

namespace fairlead::collectives {
namespace {

struct Layout {
  int combiner = MPI_COMBINER_NAMED;
  bool has_inner = false;
  MPI_Datatype inner{};
};

/// A contiguous type's inner type; only the combiner of others.
Layout layout_of(MPI_Datatype type) {
  int num_integers = 0;
  int num_addresses = 0;
  int num_types = 0;
  Layout result;
  mpi().Type_get_envelope(type, &num_integers, &num_addresses, &num_types, &result.combiner);
  if (result.combiner == MPI_COMBINER_CONTIGUOUS && num_integers == 1 && num_types == 1) {
    int count = 0;
    MPI_Aint none = 0;
    mpi().Type_get_contents(type, 1, 0, 1, &count, &none, &result.inner);
    result.has_inner = true;
  }
  return result;
}

bool has_no_gap(MPI_Datatype type) {
  Elements elements;
  return elements_of(type, 1, elements) == MPI_SUCCESS && elements.is_dense;
}

}  // namespace

bool is_plain(MPI_Datatype type) {
  const Layout layout = layout_of(type);
  if (layout.combiner == MPI_COMBINER_NAMED) return has_no_gap(type);
  // Other types may list their bytes in any order.
  if (!layout.has_inner) return false;
  const bool result = is_plain(layout.inner);
  MPI_Datatype inner = layout.inner;
  if (layout_of(inner).combiner != MPI_COMBINER_NAMED) mpi().Type_free(&inner);
  return result;
}

int AsBytes::open() {
  Elements elements;
  if (const int code = elements_of(type_, 1, elements); code != MPI_SUCCESS) return code;
  int size = 0;
  if (const int code = mpi().Type_size(type_, &size); code != MPI_SUCCESS) return code;
  block_bytes_ = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count_);
  extent_bytes_ = elements.extent_bytes;
  is_plain_ = is_plain(type_);
  return MPI_SUCCESS;
}

int AsBytes::to_send(Buffer& room, const std::byte*& bytes) {
  if (is_plain_) {
    bytes = static_cast<const std::byte*>(buffer_);
    return MPI_SUCCESS;
  }
  std::byte* packed = room.bytes(num_blocks_ * block_bytes_);
  bytes = packed;
  for (std::uint64_t block = 0; block < num_blocks_; ++block) {
    if (const int code = pack(block, packed + block * block_bytes_); code != MPI_SUCCESS) {
      return code;
    }
  }
  return MPI_SUCCESS;
}

int AsBytes::to_receive(Buffer& room, std::byte*& bytes) {
  room_ = is_plain_ ? nullptr : room.bytes(num_blocks_ * block_bytes_);
  bytes = is_plain_ ? static_cast<std::byte*>(buffer_) : room_;
  return MPI_SUCCESS;
}

int AsBytes::to_receive_around(std::uint64_t block, Buffer& room, std::byte*& bytes) {
  if (const int code = to_receive(room, bytes); code != MPI_SUCCESS) return code;
  return is_plain_ ? MPI_SUCCESS : pack(block, bytes + block * block_bytes_);
}

int AsBytes::received() {
  if (room_ == nullptr || block_bytes_ == 0) return MPI_SUCCESS;
  for (std::uint64_t block = 0; block < num_blocks_; ++block) {
    const int code = unpack(room_ + block * block_bytes_, block);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int AsBytes::copy_out(std::byte* bytes) {
  if (!is_plain_) return pack(0, bytes);
  if (block_bytes_ > 0) std::memcpy(bytes, buffer_, block_bytes_);
  return MPI_SUCCESS;
}

int AsBytes::copy_in(const std::byte* bytes) {
  if (block_bytes_ == 0) return MPI_SUCCESS;
  if (is_plain_) {
    std::memcpy(buffer_, bytes, block_bytes_);
    return MPI_SUCCESS;
  }
  return unpack(bytes, 0);
}

void* AsBytes::block_at(std::uint64_t block) const {
  return static_cast<std::byte*>(buffer_) +
         extent_bytes_ * count_ * static_cast<std::ptrdiff_t>(block);
}

int AsBytes::pack(std::uint64_t block, std::byte* into) {
  // Not every MPI accepts a null buffer for nothing.
  if (block_bytes_ == 0) return MPI_SUCCESS;
  const intercept::AddressedMemory memory(block_at(block), type_);
  if (memory.code() != MPI_SUCCESS) return memory.code();
  int position = 0;
  return mpi().Pack(memory.address(), count_, memory.type(), into, static_cast<int>(block_bytes_),
                    &position, comm_);
}

int AsBytes::unpack(const std::byte* bytes, std::uint64_t block) {
  const intercept::AddressedMemory memory(block_at(block), type_);
  if (memory.code() != MPI_SUCCESS) return memory.code();
  int position = 0;
  return mpi().Unpack(bytes, static_cast<int>(block_bytes_), &position, memory.address(), count_,
                      memory.type(), comm_);
}

}  // namespace fairlead::collectives
