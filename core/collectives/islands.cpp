// SPDX-License-Identifier: Apache-2.0
// The entries of islands: hosts at the same position, around again where an island is smaller.
#include "fairlead/collectives/islands.hpp"

namespace fairlead::collectives {

Islands::Islands(std::span<const Group> islands) : islands_(islands) {
  std::size_t num_hosts = 0;
  for (const Group& group : islands) num_hosts += group.size();
  place_of_host_.resize(num_hosts);
  for (std::size_t island = 0; island < islands.size(); ++island) {
    for (std::size_t position = 0; position < islands[island].size(); ++position) {
      place_of_host_[static_cast<std::size_t>(islands[island][position])] = {island, position};
    }
  }
}

std::vector<std::int32_t> Islands::mates_of(std::int32_t host) const {
  const Group& group = islands_[place(host).island];
  std::vector<std::int32_t> mates;
  for (std::size_t step = 1; step < group.size(); ++step) {
    mates.push_back(group[(place(host).position + step) % group.size()]);
  }
  return mates;
}

std::vector<std::size_t> Islands::islands_beyond(std::int32_t host) const {
  std::vector<std::size_t> beyond;
  for (std::size_t step = 1; step < size(); ++step) {
    beyond.push_back((place(host).island + step) % size());
  }
  return beyond;
}

std::int32_t Islands::entry_of(std::int32_t host, std::size_t island) const {
  return islands_[island][place(host).position % islands_[island].size()];
}

std::vector<std::int32_t> Islands::entering_by(std::int32_t host) const {
  std::vector<std::int32_t> entering;
  const auto& [own_island, own_position] = place(host);
  const std::size_t stride = islands_[own_island].size();
  for (const std::size_t island : islands_beyond(host)) {
    const Group& group = islands_[island];
    for (std::size_t position = own_position; position < group.size(); position += stride) {
      entering.push_back(group[position]);
    }
  }
  return entering;
}

}  // namespace fairlead::collectives
