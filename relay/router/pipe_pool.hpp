// SPDX-License-Identifier: Apache-2.0
// Pipes in which payloads wait between two sockets: splice(2) moves the kernel's own pages from one
// socket to the other by way of a pipe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace fairlead::router {

class Pipe {
 public:
  /// @param num_slots  a power of two
  /// @return nothing if the system has none to give
  [[nodiscard]] static std::unique_ptr<Pipe> make(int num_slots);
  /// Takes both ends over.
  Pipe(int outlet, int inlet) : outlet_(outlet), inlet_(inlet) {}
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  /// It has a limited number of slots, each for a part of a packet, so this may be at any size.
  [[nodiscard]] bool is_full() const;

  /// Take bytes from a socket that does not block, and give them to one.
  /// @return as splice(2)
  [[nodiscard]] ssize_t fill(int socket, std::size_t max_bytes);
  [[nodiscard]] ssize_t drain(int socket, std::size_t max_bytes, bool has_more);
  /// Takes bytes from another pipe.
  [[nodiscard]] ssize_t fill(Pipe& from, std::size_t max_bytes);
  /// Copy out of it and into it.
  /// @return as read(2) and write(2)
  [[nodiscard]] ssize_t read(std::span<std::byte> bytes);
  [[nodiscard]] ssize_t write(std::span<const std::byte> bytes);

 private:
  int outlet_;
  int inlet_;
  std::size_t size_bytes_ = 0;
};

/// Pipes of one thread.
class PipePool : public std::enable_shared_from_this<PipePool> {
 public:
  /// After the system has refused a pipe, none is requested for this time.
  static constexpr std::chrono::seconds kRetryTime{1};

  struct Return {
    std::shared_ptr<PipePool> pool{};
    void operator()(Pipe* pipe) const { pool->take_back(std::unique_ptr<Pipe>(pipe)); }
  };
  using Lease = std::unique_ptr<Pipe, Return>;

  PipePool(int num_slots, std::size_t max_pipes) : num_slots_(num_slots), max_pipes_(max_pipes) {}

  /// @return nothing if there is none
  [[nodiscard]] Lease lease();

 private:
  // One that still has bytes in it is closed, which frees them.
  void take_back(std::unique_ptr<Pipe> pipe);

  int num_slots_;
  std::size_t max_pipes_;
  std::vector<std::unique_ptr<Pipe>> idle_;
  std::size_t num_leased_ = 0;
  std::chrono::steady_clock::time_point refused_until_{};
};

/// Those of a router. All slots together are 10240; a user without privileges may have 16384
/// (/proc/sys/fs/pipe-user-pages-soft).
struct Pipes {
  /// This many slots hold a segment that came in packets of 1500 bytes, in parts that are not
  /// joined.
  static constexpr int kPayloadSlots = 64;
  /// A full queue of segments, and those that are being sent and read.
  static constexpr std::size_t kMaxPayloads = 96;
  /// splice(2) moves no more than a page for each free slot, and a pipe of such a user may have no
  /// more (/proc/sys/fs/pipe-max-size).
  static constexpr int kBatchSlots = 256;
  static constexpr std::size_t kMaxBatches = 16;

  /// For one payload each.
  std::shared_ptr<PipePool> payloads = std::make_shared<PipePool>(kPayloadSlots, kMaxPayloads);
  /// For all that a socket has, or takes, at once.
  std::shared_ptr<PipePool> batches = std::make_shared<PipePool>(kBatchSlots, kMaxBatches);
};

}  // namespace fairlead::router
