// SPDX-License-Identifier: Apache-2.0
// The payload of a frame on its way from one socket to another: in a pipe, where it is not copied,
// or in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "router/intake.hpp"
#include "router/output.hpp"
#include "router/pipe_pool.hpp"

namespace fairlead::router {

class Payload {
 public:
  /// Smaller ones are copied, which costs less.
  static constexpr std::size_t kMinSplicedBytes = 16384;

  Payload() = default;
  Payload(std::size_t size_bytes, PipePool& pipes);

  /// Receives the bytes that have arrived at the socket, those beyond a pipe's space into memory.
  [[nodiscard]] Progress receive(Intake& intake, int socket);
  /// Fills the missing bytes with zeros.
  void pad();
  /// Writes as much of it as the output takes.
  /// @pre it has been received
  [[nodiscard]] Progress send(Output& output, bool has_more);

 private:
  void allocate_rest();

  std::size_t missing_bytes_ = 0;
  // The first part, and the part after it.
  PipePool::Lease pipe_;
  std::unique_ptr<std::byte[]> memory_;
  std::span<std::byte> missing_;
  std::span<const std::byte> unsent_;
};

}  // namespace fairlead::router
