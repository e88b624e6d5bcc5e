// SPDX-License-Identifier: Apache-2.0
#include "handles/releases.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "handles/releases_under_way.hpp"
#include "pmpi/nesting.hpp"

namespace fairlead::intercept {
namespace {

struct Releases {
  std::mutex lock;
  ReleasesUnderWay<MPI_Comm> under_way{&is_called_by_a_release};
  /// Read at each message.
  std::atomic<std::size_t> num_under_way{0};
  std::atomic<FactsOfComm> facts_of{nullptr};

  void count() { num_under_way.store(under_way.size(), std::memory_order_release); }
};

// Never destroyed: threads may still trace while static objects are torn down.
Releases& releases() {
  static Releases* const instance = new Releases;
  return *instance;
}

// Under the lock; null if this thread is not freeing it.
std::shared_ptr<void>* facts_of(MPI_Comm comm) {
  std::shared_ptr<void>* const facts = releases().under_way.facts_of_own(comm);
  releases().count();
  return facts;
}

}  // namespace

void ask_before_freeing(FactsOfComm facts_of) noexcept {
  releases().facts_of = facts_of;
}

void begin_freeing(MPI_Comm comm) {
  const FactsOfComm facts_of = releases().facts_of;
  std::shared_ptr<void> facts = facts_of != nullptr ? facts_of(comm) : nullptr;
  const std::lock_guard guard(releases().lock);
  releases().under_way.begin(comm, std::move(facts));
  releases().count();
}

void end_freeing(MPI_Comm comm) noexcept {
  const std::lock_guard guard(releases().lock);
  releases().under_way.end(comm);
  releases().count();
}

bool is_being_freed(MPI_Comm comm) {
  if (releases().num_under_way.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard guard(releases().lock);
  return facts_of(comm) != nullptr;
}

void keep_while_freed(MPI_Comm comm, std::shared_ptr<void> facts) {
  const std::lock_guard guard(releases().lock);
  if (std::shared_ptr<void>* const kept = facts_of(comm)) *kept = std::move(facts);
}

std::shared_ptr<void> kept_while_freed(MPI_Comm comm) {
  const std::lock_guard guard(releases().lock);
  const std::shared_ptr<void>* const kept = facts_of(comm);
  return kept != nullptr ? *kept : nullptr;
}

}  // namespace fairlead::intercept
