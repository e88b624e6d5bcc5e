// SPDX-License-Identifier: Apache-2.0
// The processes that follow a schedule, one on each host, and what they send.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::collectives {

/// The tag of messages of schedules; where their order between two hosts does not distinguish them,
/// a number is added to it.
inline constexpr int kTag = 0;

/// One process on each host of a schedule.
struct Team {
  MPI_Comm comm{};
  /// Rank in `comm` of the process that takes part on each host.
  std::span<const int> rank_of_host;
  /// Host of the calling process.
  int host = 0;

  [[nodiscard]] int num_hosts() const { return static_cast<int>(rank_of_host.size()); }
  [[nodiscard]] int rank_of(int of_host) const {
    return rank_of_host[static_cast<std::size_t>(of_host)];
  }
};

/// Elements of one datatype, as they lie in memory.
struct Elements {
  MPI_Datatype type{};
  std::uint64_t count = 0;
  std::ptrdiff_t extent_bytes = 0;
  std::ptrdiff_t true_lower_bytes = 0;   ///< where the data of the first element begins
  std::ptrdiff_t true_extent_bytes = 0;  ///< of the data of one element
  bool is_dense = false;                 ///< no gap inside an element or between two

  [[nodiscard]] const std::byte* at(const void* buffer, std::uint64_t index) const {
    return static_cast<const std::byte*>(buffer) +
           extent_bytes * static_cast<std::ptrdiff_t>(index);
  }
  [[nodiscard]] std::byte* at(void* buffer, std::uint64_t index) const {
    return static_cast<std::byte*>(buffer) + extent_bytes * static_cast<std::ptrdiff_t>(index);
  }
};

/// @return An MPI error code, as all functions here do that return int.
[[nodiscard]] int elements_of(MPI_Datatype type, std::uint64_t count, Elements& elements);

/// Bytes that nothing has to be known about.
[[nodiscard]] Elements bytes_of(std::uint64_t count);

/// Copies elements `first` to `end` from one buffer to the same place of another.
int copy(const Elements& elements, const void* from, void* to, std::uint64_t first,
         std::uint64_t end);

/// What an operation combines, and how; the operation commutes.
struct Reduction {
  Elements elements;
  MPI_Op op{};
};

/// Memory that is kept from call to call and only grows.
class Buffer {
 public:
  /// At least this many bytes; what was there before is lost.
  [[nodiscard]] std::byte* bytes(std::uint64_t num_bytes);
  /// Room for `count` of these elements; the address is that of the first, as MPI counts it.
  [[nodiscard]] std::byte* room_for(const Elements& elements, std::uint64_t count);

 private:
  std::vector<std::byte> bytes_;
};

/// What a call needs in addition to the memory of its caller.
struct Buffers {
  Buffer work;   ///< partial results
  Buffer slots;  ///< messages that have arrived and are not combined yet
  Buffer host;   ///< what the processes of a host bring together
  Buffer order;  ///< blocks in the order of the hosts
  Buffer out;    ///< what goes out, as plain bytes
  Buffer in;     ///< what comes in, as plain bytes
};

}  // namespace fairlead::collectives
