// SPDX-License-Identifier: Apache-2.0
// Which host takes a block into each island, where blocks cross between islands once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

/// The islands of a schedule in two levels, seen from its hosts. It looks, it does not own.
class Islands {
 public:
  /// @param islands  each host stands in one of them, once
  explicit Islands(std::span<const Group> islands);

  [[nodiscard]] std::size_t size() const { return islands_.size(); }
  [[nodiscard]] std::size_t island_of(std::int32_t host) const { return place(host).island; }
  /// The other hosts of its island, those that stand behind it first.
  [[nodiscard]] std::vector<std::int32_t> mates_of(std::int32_t host) const;
  /// The other islands, those that stand behind its own first.
  [[nodiscard]] std::vector<std::size_t> islands_beyond(std::int32_t host) const;
  /// Through which host of another island this host's block goes.
  [[nodiscard]] std::int32_t entry_of(std::int32_t host, std::size_t island) const;
  /// Hosts of other islands whose blocks go through this one, in the order of islands_beyond().
  [[nodiscard]] std::vector<std::int32_t> entering_by(std::int32_t host) const;

 private:
  struct Place {
    std::size_t island = 0;
    std::size_t position = 0;
  };
  [[nodiscard]] const Place& place(std::int32_t host) const {
    return place_of_host_[static_cast<std::size_t>(host)];
  }

  std::span<const Group> islands_;
  std::vector<Place> place_of_host_;
};

}  // namespace fairlead::collectives
