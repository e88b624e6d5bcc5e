// SPDX-License-Identifier: Apache-2.0
// Translates the ranks of a window's group to world ranks, and remembers the result until it is
// freed.
#include "handles/window.hpp"

#include <memory>

#include "handles/communicator.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

// Never destroyed: threads may still trace while static objects are torn down.
HandleFacts<MPI_Win, Window>& windows() {
  static auto* const instance = new HandleFacts<MPI_Win, Window>;
  return *instance;
}

std::shared_ptr<const Window> describe_window(MPI_Win win) {
  MPI_Group targets{};
  mpi().Win_get_group(win, &targets);
  auto described = std::make_shared<Window>(Window{world_ranks_of(targets)});
  mpi().Group_free(&targets);
  return described;
}

}  // namespace

FoundFacts<Window> find_window(MPI_Win win) {
  return windows().find(win, &describe_window);
}

void begin_window_release(MPI_Win win) {
  windows().begin_release(win);
}

void end_window_release(MPI_Win win) noexcept {
  windows().end_release(win);
}

}  // namespace fairlead::intercept
