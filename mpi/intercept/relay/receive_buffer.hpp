// SPDX-License-Identifier: Apache-2.0
// The memory into which a message is received, and the bytes of a message that is sent.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fairlead::intercept::relay {

/// Whether the bytes of a message of this type are those in memory, one after another.
[[nodiscard]] bool is_plain(MPI_Datatype type);
/// Bytes of a message; undefined for a null type or a negative count.
[[nodiscard]] std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);
/// The bytes of a message to be sent. False: the MPI cannot pack it.
[[nodiscard]] bool pack(const void* buffer, MPI_Count count, MPI_Datatype type,
                        std::vector<std::byte>& bytes);

/// The buffer of a receive. A rendezvous header must arrive as it is, so memory with gaps is
/// replaced by a bounce buffer until the message is there, up to 2 GiB; beyond, a rendezvous header
/// is gathered from it.
class ReceiveBuffer {
 public:
  ReceiveBuffer() = default;
  /// @param is_for_mpi  the MPI receives into it; else it is only for `put`
  ReceiveBuffer(void* buffer, MPI_Count count, MPI_Datatype type, bool is_for_mpi);
  ReceiveBuffer(ReceiveBuffer&& other) noexcept;
  ReceiveBuffer& operator=(ReceiveBuffer&& other) noexcept;
  ~ReceiveBuffer();

  /// What the MPI receives into.
  [[nodiscard]] void* buffer() const { return bounce_buffer_ ? bounce_buffer_.get() : buffer_; }
  [[nodiscard]] MPI_Count count() const;
  [[nodiscard]] MPI_Datatype type() const;
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] bool has_bounce_buffer() const { return bounce_buffer_ != nullptr; }
  /// @pre has_bounce_buffer
  [[nodiscard]] std::span<const std::byte> in_bounce_buffer(std::size_t size) const {
    return {bounce_buffer_.get(), size};
  }
  /// The first bytes that the MPI has received.
  template <std::size_t kSize>
  [[nodiscard]] std::array<std::byte, kSize> start() const {
    std::array<std::byte, kSize> bytes{};
    copy_start(bytes);
    return bytes;
  }
  /// Puts the bytes of a message into the program's memory.
  void put(std::span<const std::byte> bytes) const;

 private:
  [[nodiscard]] MPI_Datatype kept_type() const;
  void copy_start(std::span<std::byte> bytes) const;

  void* buffer_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype type_{};
  bool owns_type_ = false;
  bool is_plain_ = true;
  std::uint64_t capacity_bytes_ = 0;
  std::unique_ptr<std::byte[]> bounce_buffer_;
};

}  // namespace fairlead::intercept::relay
