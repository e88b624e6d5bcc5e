// SPDX-License-Identifier: Apache-2.0
// Messages of any datatype as plain bytes: what MPI guarantees to be equal on all ranks is the
// number of bytes, not the datatype or the count.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "team.hpp"

namespace fairlead::collectives {

/// Whether the bytes of a message of this type are those in memory, one after another.
[[nodiscard]] bool is_plain(MPI_Datatype type);

/// Blocks of `count` elements, which lie one after another, as bytes.
class AsBytes {
 public:
  /// @param buffer  may be null where nothing is sent or received
  AsBytes(const void* buffer, std::uint64_t num_blocks, int count, MPI_Datatype type, MPI_Comm comm)
      : buffer_(const_cast<void*>(buffer)),
        num_blocks_(num_blocks),
        count_(count),
        type_(type),
        comm_(comm) {}

  /// Looks at the type.
  int open();
  [[nodiscard]] std::uint64_t block_bytes() const { return block_bytes_; }

  /// Bytes to send: those in memory, or packed ones in `room`.
  int to_send(Buffer& room, const std::byte*& bytes);
  /// Memory to receive into; `received` unpacks what has come.
  int to_receive(Buffer& room, std::byte*& bytes);
  /// The same where one block of it has its content already.
  int to_receive_around(std::uint64_t block, Buffer& room, std::byte*& bytes);
  int received();

  /// One block's bytes to plain memory, and from there.
  int copy_out(std::byte* bytes);
  int copy_in(const std::byte* bytes);

 private:
  [[nodiscard]] void* block_at(std::uint64_t block) const;
  int pack(std::uint64_t block, std::byte* into);
  int unpack(const std::byte* bytes, std::uint64_t block);

  void* buffer_;
  std::uint64_t num_blocks_;
  int count_;
  MPI_Datatype type_;
  MPI_Comm comm_;
  std::uint64_t block_bytes_ = 0;
  std::ptrdiff_t extent_bytes_ = 0;
  bool is_plain_ = false;
  std::byte* room_ = nullptr;
};

}  // namespace fairlead::collectives
