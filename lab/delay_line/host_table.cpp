// SPDX-License-Identifier: Apache-2.0
// Reads the table; Python writes it, so error messages are short.
#include "host_table.hpp"

#include <charconv>
#include <stdexcept>
#include <string>

namespace fairlead::delay_line {
namespace {

/// Bytes in text of the given base with one separator between them.
template <std::size_t size>
std::array<std::uint8_t, size> parse_bytes(std::string_view text, char separator, int base) {
  std::array<std::uint8_t, size> bytes{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t index = 0; index < size; ++index) {
    const auto [next, error] = std::from_chars(at, end, bytes[index], base);
    const bool is_last = index + 1 == size;
    if (error != std::errc{} || (is_last ? next != end : next == end || *next != separator)) {
      throw std::invalid_argument("no address: '" + std::string(text) + "'");
    }
    at = is_last ? next : next + 1;
  }
  return bytes;
}

template <typename Value>
Value read_value(std::istream& input, const char* what) {
  Value value{};
  if (!(input >> value)) {
    throw std::invalid_argument(std::string("table of hosts: expected ") + what);
  }
  return value;
}

}  // namespace

std::uint32_t parse_address(std::string_view text) {
  const auto bytes = parse_bytes<4>(text, '.', 10);
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

HardwareAddress parse_hardware_address(std::string_view text) {
  return parse_bytes<6>(text, ':', 16);
}

HostTable HostTable::read(std::istream& input) {
  HostTable table;
  const auto num_hosts = read_value<std::size_t>(input, "the number of hosts");
  for (std::size_t host = 0; host < num_hosts; ++host) {
    const auto address = parse_address(read_value<std::string>(input, "an IPv4 address"));
    if (!table.index_of_address_.emplace(address, host).second) {
      throw std::invalid_argument("table of hosts: two hosts have one address");
    }
    table.hardware_of_host_.push_back(
        parse_hardware_address(read_value<std::string>(input, "a hardware address")));
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      const auto delay_ns = read_value<std::int64_t>(input, "a delay in nanoseconds");
      if (delay_ns < 0) throw std::invalid_argument("table of hosts: a delay is below 0");
      table.delay_ns_.push_back(delay_ns);
    }
  }
  return table;
}

std::optional<Hop> HostTable::hop(Ends ends) const {
  const auto src = index_of_address_.find(ends.src);
  const auto dst = index_of_address_.find(ends.dst);
  if (src == index_of_address_.end() || dst == index_of_address_.end()) return std::nullopt;
  const std::size_t num_hosts = hardware_of_host_.size();
  return Hop{.delay_ns = delay_ns_[src->second * num_hosts + dst->second],
             .hardware = hardware_of_host_[dst->second]};
}

}  // namespace fairlead::delay_line
