// SPDX-License-Identifier: Apache-2.0
// What `fairlead` sends to a router: lines of JSON on its standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/proof.hpp"

namespace fairlead::router {

/// Where the router of a host listens.
struct Peer {
  std::string address;
  std::uint16_t port = 0;
};

struct Job {
  relay::Key key{};
  /// Index of this router's host.
  std::uint16_t host = 0;
  /// The router of each host.
  std::vector<Peer> peers{};
};

/// Reads `{"key": "64 hex digits", "host": 0, "peers": [["10.0.0.1", 4000], ...]}`.
/// @throws InputError  what is wrong with the line; never its key
[[nodiscard]] Job parse_job(std::string_view line);

/// Reads `{"ended": "64 hex digits"}`, the key of a job that is over.
/// @return nothing where the line is another one
/// @throws InputError  it is no key
[[nodiscard]] std::optional<relay::Key> parse_ended(std::string_view line);

}  // namespace fairlead::router
