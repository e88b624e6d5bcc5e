// SPDX-License-Identifier: Apache-2.0
#include "handles/releases.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pmpi/nesting.hpp"

namespace fairlead::intercept {
namespace {

// A call that frees a handle, under way in one thread.
struct Release {
  MPI_Comm comm;
  std::thread::id thread;
  std::shared_ptr<void> facts{};
};

struct Releases {
  std::mutex lock;
  std::vector<Release> under_way;
  /// Read at each message.
  std::atomic<std::size_t> num_under_way{0};

  void count() { num_under_way.store(under_way.size(), std::memory_order_release); }
};

// Never destroyed: threads may still trace while static objects are torn down.
Releases& releases() {
  static Releases* const instance = new Releases;
  return *instance;
}

// The last one of the handle; under the lock. A jump out of a callback has not called `end`.
Release* find(MPI_Comm comm) {
  std::vector<Release>& under_way = releases().under_way;
  const auto is_left = [comm, thread = std::this_thread::get_id()](const Release& release) {
    return release.comm == comm && release.thread == thread && !is_called_by_a_release();
  };
  std::erase_if(under_way, is_left);
  releases().count();
  const auto found = std::find_if(under_way.rbegin(), under_way.rend(),
                                  [comm](const Release& release) { return release.comm == comm; });
  return found == under_way.rend() ? nullptr : &*found;
}

}  // namespace

void begin_freeing(MPI_Comm comm, std::shared_ptr<void> facts) {
  const std::lock_guard guard(releases().lock);
  releases().under_way.push_back({comm, std::this_thread::get_id(), std::move(facts)});
  releases().count();
}

void end_freeing(MPI_Comm comm) noexcept {
  const std::lock_guard guard(releases().lock);
  std::vector<Release>& under_way = releases().under_way;
  const auto ended =
      std::find_if(under_way.rbegin(), under_way.rend(), [comm](const Release& release) {
        return release.comm == comm && release.thread == std::this_thread::get_id();
      });
  if (ended != under_way.rend()) under_way.erase(std::prev(ended.base()));
  releases().count();
}

bool is_being_freed(MPI_Comm comm) {
  if (releases().num_under_way.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard guard(releases().lock);
  return find(comm) != nullptr;
}

void keep_while_freed(MPI_Comm comm, std::shared_ptr<void> facts) {
  const std::lock_guard guard(releases().lock);
  if (Release* const release = find(comm)) release->facts = std::move(facts);
}

std::shared_ptr<void> kept_while_freed(MPI_Comm comm) {
  const std::lock_guard guard(releases().lock);
  const Release* const release = find(comm);
  return release ? release->facts : nullptr;
}

}  // namespace fairlead::intercept
