// SPDX-License-Identifier: Apache-2.0
// A TAP device: a network interface whose frames this process reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fairlead/file_descriptor.hpp"

namespace fairlead::delay_line {

/// The device lives as long as its object: the kernel removes it with the last descriptor.
class Tap {
 public:
  /// Makes the device in the current network namespace.
  /// @throws std::system_error  the kernel refuses; the message names the device
  explicit Tap(const std::string& name);

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// Reads one frame.
  /// @return its size; 0 where none is waiting or the device is down
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> room) const;

  /// Sends one frame into the interface. A frame that the kernel refuses is lost, as on a cable.
  void write(std::span<const std::uint8_t> frame) const;

 private:
  FileDescriptor descriptor_;
};

}  // namespace fairlead::delay_line
