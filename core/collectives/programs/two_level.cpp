// SPDX-License-Identifier: Apache-2.0
// The messages of two levels: each block once into each island, and from its entry to all there.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "collectives/programs/programs.hpp"
#include "fairlead/collectives/islands.hpp"

namespace fairlead::collectives {
namespace {

/// Messages of a host, of which at most so many are under way.
class Window {
 public:
  /// @param limit  0: none
  Window(Program& program, std::int32_t limit)
      : program_(program), limit_(static_cast<std::size_t>(limit)) {}

  std::int32_t add(std::int32_t src, std::int32_t dst, double num_bytes) {
    const std::int32_t made = program_.add(src, dst, num_bytes);
    if (limit_ > 0 && made_.size() >= limit_) {
      program_.add_dependency(made_[made_.size() - limit_], made);
    }
    made_.push_back(made);
    return made;
  }

 private:
  Program& program_;
  std::size_t limit_;
  std::vector<std::int32_t> made_;
};

}  // namespace

Program two_level_program(const Schedule& schedule, const BlockBytes& blocks) {
  assert(schedule.operation != Operation::allreduce);
  const bool is_backwards = schedule.operation == Operation::reduce_scatter;
  const Islands islands(schedule.levels.front());
  Program program;
  // The message in which each host's block comes to each island.
  std::vector<std::vector<std::int32_t>> crossing(
      static_cast<std::size_t>(schedule.num_hosts),
      std::vector<std::int32_t>(islands.size(), kNoTransfer));
  const auto cross = [&](Window& window, std::int32_t block, std::int32_t entry) {
    crossing[static_cast<std::size_t>(block)][islands.island_of(entry)] =
        window.add(block, entry, blocks[block]);
  };
  for (std::int32_t host = 0; host < schedule.num_hosts; ++host) {
    Window window(program, schedule.window);
    if (!is_backwards) {
      for (const std::size_t island : islands.islands_beyond(host)) {
        cross(window, host, islands.entry_of(host, island));
      }
      continue;
    }
    // Backwards it is the entry that sends, and what is last here is first.
    std::vector<std::int32_t> entering = islands.entering_by(host);
    std::reverse(entering.begin(), entering.end());
    for (const std::int32_t block : entering) cross(window, block, host);
  }
  for (std::int32_t host = 0; host < schedule.num_hosts; ++host) {
    // Those of the island before this one come first, as it is the first that they are sent to.
    std::vector<std::int32_t> passed_on = islands.entering_by(host);
    passed_on.push_back(host);
    std::reverse(passed_on.begin(), passed_on.end());
    Window window(program, schedule.max_sends);
    for (const std::int32_t block : passed_on) {
      const std::int32_t arrival =
          crossing[static_cast<std::size_t>(block)][islands.island_of(host)];
      for (const std::int32_t mate : islands.mates_of(host)) {
        program.add_dependency(arrival, window.add(host, mate, blocks[block]));
      }
    }
  }
  return is_backwards ? reversed(program) : program;
}

}  // namespace fairlead::collectives
