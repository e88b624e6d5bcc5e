// SPDX-License-Identifier: Apache-2.0
// Checks whether a process can connect to those that it may need, before a message depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "endpoint/endpoint_config.hpp"
#include "endpoint/start_timeouts.hpp"
#include "wire/proof.hpp"

namespace fairlead::relay {

/// One process on each other host, in the order of the hosts that follow this one. Processes of one
/// host choose different processes, as far as there are enough, so that not all connect to the same
/// one at once.
[[nodiscard]] std::vector<std::uint32_t> ranks_to_reach(std::span<const std::uint16_t> host_of_rank,
                                                        std::uint32_t own_rank);

/// Connects to processes, several at a time, and to each again until it has proved the key.
/// @return the index of one that has not; none if all have
[[nodiscard]] std::optional<std::size_t> find_unreached(std::span<const Address> addresses,
                                                        std::uint32_t own_rank, const Key& key,
                                                        const StartTimeouts& timeouts);

}  // namespace fairlead::relay
