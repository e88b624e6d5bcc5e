// SPDX-License-Identifier: Apache-2.0
// A buffer of a call as schedules need it: in the memory of the host.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "device_memory/device_memory.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// Elements of a buffer that follow one another.
struct Piece {
  MPI_Aint displacement = 0;  ///< in extents of the type
  int count = 0;
};

/// Blocks of so many elements, one after another.
[[nodiscard]] std::vector<Piece> blocks(int num_blocks, int count);

/// The program's own buffer, or a copy of it while it is in the memory of a device: a runtime may
/// have been loaded after the ranks have agreed that there is none. The MPI copies, by messages to
/// oneself, as only a GPU-aware one is given such memory.
class HostCopy {
 public:
  /// A buffer that this rank's part of the call ignores.
  static HostCopy unused(const void* buffer) { return HostCopy(buffer); }

  /// @param buffer  the program's; also MPI_IN_PLACE
  /// @param pieces  of the buffer; asked for where it is copied
  /// @throws MpiFailure, std::bad_alloc
  template <class Pieces>
  HostCopy(const void* buffer, MPI_Datatype type, const fairlead::collectives::Members& members,
           const Pieces& pieces)
      : HostCopy(buffer) {
    if (is_on_device(buffer, type)) make(type, members, pieces());
  }

  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  [[nodiscard]] void* buffer() const { return buffer_; }
  /// Copies the program's buffer into the copy. @throws MpiFailure
  void load() const { copy(true); }
  /// Copies it back. @throws MpiFailure
  void store() const { copy(false); }

 private:
  explicit HostCopy(const void* buffer) : own_(const_cast<void*>(buffer)), buffer_(own_) {}
  void make(MPI_Datatype type, const fairlead::collectives::Members& members,
            std::vector<Piece> pieces);
  void copy(bool is_to_host) const;

  void* own_;
  void* buffer_;
  std::vector<Piece> pieces_{};
  MPI_Datatype type_{};
  MPI_Aint extent_bytes_ = 0;
  MPI_Comm comm_{};
  int rank_ = 0;
  std::vector<std::byte> room_{};
};

/// Makes a call with its buffers in the memory of the host.
/// @param call  gets the buffer to send and the one to receive into
/// @throws MpiFailure
template <class Call>
int call_in_host_memory(const HostCopy& send, const HostCopy& receive, const Call& call) {
  send.load();
  if (send.buffer() == MPI_IN_PLACE) receive.load();
  const int code = call(static_cast<const void*>(send.buffer()), receive.buffer());
  if (code == MPI_SUCCESS) receive.store();
  return code;
}

/// The same for a call with one buffer.
/// @param is_sent  this rank's part of the call sends it, and leaves it as it is
/// @throws MpiFailure
template <class Call>
int call_in_host_memory(const HostCopy& buffer, bool is_sent, const Call& call) {
  if (is_sent) buffer.load();
  const int code = call(buffer.buffer());
  if (code == MPI_SUCCESS && !is_sent) buffer.store();
  return code;
}

}  // namespace fairlead::intercept
