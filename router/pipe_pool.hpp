// SPDX-License-Identifier: Apache-2.0
// Pipes in which payloads wait between two sockets: splice(2) moves the kernel's own pages from one
// socket to the other by way of a pipe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace fairlead::router {

class Pipe {
 public:
  /// @return nothing if the system has none to give
  [[nodiscard]] static std::unique_ptr<Pipe> make();
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
  [[nodiscard]] ssize_t drain(int socket, bool has_more);

 private:
  int outlet_;
  int inlet_;
  std::size_t size_bytes_ = 0;
};

/// Of one thread.
class PipePool : public std::enable_shared_from_this<PipePool> {
 public:
  /// So many slots hold a segment that came in packets of 1500 bytes, in parts that are not joined.
  static constexpr std::size_t kSlots = 64;
  /// A full queue of segments. With all their slots they take a third of what a user without
  /// privileges may have (/proc/sys/fs/pipe-user-pages-soft, 16384 by default).
  static constexpr std::size_t kMaxPipes = 80;
  /// After the system has refused one, it is not asked for so long.
  static constexpr std::chrono::seconds kRetryTime{1};

  struct Return {
    std::shared_ptr<PipePool> pool{};
    void operator()(Pipe* pipe) const { pool->take_back(std::unique_ptr<Pipe>(pipe)); }
  };
  using Lease = std::unique_ptr<Pipe, Return>;

  /// @return nothing if there is none
  [[nodiscard]] Lease lease();

 private:
  // One that still has bytes in it is closed, which frees them.
  void take_back(std::unique_ptr<Pipe> pipe);

  std::vector<std::unique_ptr<Pipe>> idle_;
  std::size_t num_leased_ = 0;
  std::chrono::steady_clock::time_point refused_until_{};
};

}  // namespace fairlead::router
