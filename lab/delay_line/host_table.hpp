// SPDX-License-Identifier: Apache-2.0
// The hosts of a lab, and the delay of packets from one to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frame.hpp"

namespace fairlead::delay_line {

/// Delay and next hop of a packet.
struct Hop {
  std::int64_t delay_ns;
  HardwareAddress hardware;  ///< of the host that it is for
};

class HostTable {
 public:
  /// Reads `num_hosts`, then a line per host: IPv4 address, hardware address, and the delays in
  /// nanoseconds of its packets to each host.
  /// @throws std::invalid_argument  the message names what is wrong
  static HostTable read(std::istream& input);

  /// Nothing if an end is not a host of the table.
  [[nodiscard]] std::optional<Hop> hop(Ends ends) const;

 private:
  std::unordered_map<std::uint32_t, std::size_t> index_of_address_;
  std::vector<HardwareAddress> hardware_of_host_;
  std::vector<std::int64_t> delay_ns_;  ///< shape (H, H), [src, dst]
};

/// @throws std::invalid_argument  the text is not an address such as 10.77.0.1
std::uint32_t parse_address(std::string_view text);
/// @throws std::invalid_argument  the text is not an address such as 02:00:00:00:00:01
HardwareAddress parse_hardware_address(std::string_view text);

}  // namespace fairlead::delay_line
