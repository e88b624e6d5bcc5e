// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking by the MPI, where memory holds anything but plain bytes.
#include "relay/receive_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "device_memory/device_memory.hpp"
#include "pmpi/addressed_memory.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/relay.hpp"
#include "wire/rendezvous_header.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::kRendezvousHeaderBytes;
namespace {

constexpr auto kMaxInt = static_cast<std::uint64_t>(std::numeric_limits<int>::max());

// Packs by a message to oneself, since a GPU-aware MPI can read the memory of a device and the
// processor cannot.
bool pack_from_device(const void* buffer, MPI_Count count, MPI_Datatype type,
                      std::vector<std::byte>& bytes) {
  const std::uint64_t size = bytes_of(count, type);
  if (size > kMaxInt || static_cast<std::uint64_t>(count) > kMaxInt) return false;
  bytes.resize(size);
  const std::lock_guard guard(feature().self_lock);
  return mpi().Sendrecv(buffer, static_cast<int>(count), type, 0, kUnpackTag, bytes.data(),
                        static_cast<int>(size), byte_type(), 0, kUnpackTag, feature().self,
                        MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

}  // namespace

bool is_plain(MPI_Datatype type) {
  int num_integers = 0;
  int num_addresses = 0;
  int num_types = 0;
  int combiner = MPI_COMBINER_NAMED;
  mpi().Type_get_envelope(type, &num_integers, &num_addresses, &num_types, &combiner);
  if (combiner == MPI_COMBINER_CONTIGUOUS && num_integers == 1 && num_types == 1) {
    int count = 0;
    MPI_Aint none = 0;
    MPI_Datatype inner{};
    mpi().Type_get_contents(type, 1, 0, 1, &count, &none, &inner);
    const bool result = is_plain(inner);
    mpi().Type_get_envelope(inner, &num_integers, &num_addresses, &num_types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) mpi().Type_free(&inner);
    return result;
  }
  // Other types may list their bytes in any order. Pairs of numbers are named and have gaps.
  if (combiner != MPI_COMBINER_NAMED) return false;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Count size = 0;
  mpi().Type_get_extent(type, &lower, &extent);
  mpi().Type_size_x(type, &size);
  return lower == 0 && size == extent;
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  mpi().Type_size_x(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

bool pack(const void* buffer, MPI_Count count, MPI_Datatype type, std::vector<std::byte>& bytes) {
  const std::uint64_t size = bytes_of(count, type);
  if (is_on_device(buffer, type)) return pack_from_device(buffer, count, type, bytes);
  if (is_plain(type)) {
    if (buffer == nullptr) return false;
    const auto* const first = static_cast<const std::byte*>(buffer);
    bytes.assign(first, first + size);
    return true;
  }
  if (size > kMaxInt || static_cast<std::uint64_t>(count) > kMaxInt) return false;
  bytes.resize(size);
  int position = 0;
  const AddressedMemory memory(const_cast<void*>(buffer), type);
  if (memory.code() != MPI_SUCCESS) return false;
  // Not by the program's communicator: its error handler is for the call that the program has made.
  const int code = mpi().Pack(memory.address(), static_cast<int>(count), memory.type(),
                              bytes.data(), static_cast<int>(size), &position, feature().world);
  return code == MPI_SUCCESS && static_cast<std::uint64_t>(position) == size;
}

ReceiveBuffer::ReceiveBuffer(void* buffer, MPI_Count count, MPI_Datatype type, bool is_for_mpi)
    : buffer_(buffer),
      count_(count),
      type_(type),
      is_plain_(is_plain(type)),
      capacity_bytes_(bytes_of(count, type)) {
  const bool may_need_bounce =
      is_for_mpi && !is_plain_ && capacity_bytes_ >= kRendezvousHeaderBytes;
  // What is in the memory of a device goes there by the MPI.
  if (may_need_bounce && capacity_bytes_ <= kMaxInt && !is_on_device(buffer, type)) {
    bounce_buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_bytes_);
  }
  // The program may free its type while the receive is pending.
  if (!is_plain_) owns_type_ = mpi().Type_dup(type, &type_) == MPI_SUCCESS;
}

ReceiveBuffer::ReceiveBuffer(ReceiveBuffer&& other) noexcept {
  *this = std::move(other);
}

ReceiveBuffer& ReceiveBuffer::operator=(ReceiveBuffer&& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(count_, other.count_);
  std::swap(type_, other.type_);
  std::swap(owns_type_, other.owns_type_);
  std::swap(is_plain_, other.is_plain_);
  std::swap(capacity_bytes_, other.capacity_bytes_);
  std::swap(bounce_buffer_, other.bounce_buffer_);
  return *this;
}

ReceiveBuffer::~ReceiveBuffer() {
  if (owns_type_) mpi().Type_free(&type_);
}

MPI_Count ReceiveBuffer::count() const {
  return bounce_buffer_ ? static_cast<MPI_Count>(capacity_bytes_) : count_;
}

MPI_Datatype ReceiveBuffer::type() const {
  return bounce_buffer_ ? byte_type() : type_;
}

// The program may have freed a plain type.
MPI_Datatype ReceiveBuffer::kept_type() const {
  return is_plain_ ? byte_type() : type_;
}

void ReceiveBuffer::copy_start(std::span<std::byte> bytes) const {
  const MPI_Datatype type = kept_type();
  if (bounce_buffer_ || (is_plain_ && !is_on_device(buffer_, type))) {
    std::memcpy(bytes.data(), buffer(), bytes.size());
    return;
  }
  const std::uint64_t element_bytes = bytes_of(1, type);
  const auto elements = (bytes.size() + element_bytes - 1) / element_bytes;
  std::vector<std::byte> packed;
  if (pack(buffer_, static_cast<MPI_Count>(elements), type, packed)) {
    std::copy_n(packed.begin(), bytes.size(), bytes.begin());
  }
}

void ReceiveBuffer::put(std::span<const std::byte> bytes) const {
  const std::size_t size = std::min<std::size_t>(bytes.size(), capacity_bytes_);
  if (size == 0) return;
  const MPI_Datatype type = kept_type();
  if (is_plain_ && !is_on_device(buffer_, type)) {
    std::memcpy(buffer_, bytes.data(), size);
    return;
  }
  // A message to oneself: unlike MPI_Unpack it also takes a part of an element, and unlike the
  // processor it reaches the memory of a device.
  const auto size_of_all = static_cast<MPI_Count>(size);
  const auto elements = is_plain_ ? size_of_all : std::min(count_, size_of_all);
  const std::lock_guard guard(feature().self_lock);
  mpi().Sendrecv(bytes.data(), static_cast<int>(size), byte_type(), 0, kUnpackTag, buffer_,
                 static_cast<int>(elements), type, 0, kUnpackTag, feature().self,
                 MPI_STATUS_IGNORE);
}

}  // namespace fairlead::intercept::relay
