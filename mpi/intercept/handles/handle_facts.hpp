// SPDX-License-Identifier: Apache-2.0
// What was found out about the handles of one kind, from the first use of each until its release.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "handles/handle_table.hpp"
#include "handles/releases_under_way.hpp"
#include "pmpi/nesting.hpp"

namespace fairlead::intercept {

namespace detail {
inline constinit std::atomic<std::uint64_t> handle_generation{1};
}

/// Changes whenever a handle may have got another meaning. Read at each message.
[[nodiscard]] inline std::uint64_t handle_generation() noexcept {
  return detail::handle_generation.load(std::memory_order_acquire);
}

/// A handle's facts; not lasting while the handle is being released.
template <class Facts>
struct FoundFacts {
  std::shared_ptr<const Facts> facts;
  bool is_lasting = false;
};

/// The facts of all handles of one kind, which all threads share. Takes a lock: threads keep a
/// lasting result, and ask again only when the generation has changed.
template <class Handle, class Facts>
class HandleFacts {
 public:
  /// `describe` maps a handle to a shared pointer to its facts; it is called at the first use.
  template <class Describe>
  [[nodiscard]] FoundFacts<Facts> find(Handle handle, const Describe& describe) {
    const std::lock_guard guard(lock_);
    if (releases_.has(handle)) return {describe(handle), false};
    if (const auto* const entry = facts_.find(handle)) return {*entry, true};
    const std::shared_ptr<const Facts> described = describe(handle);
    facts_.insert(handle, described);
    return {described, true};
  }

  /// Drops a handle that is about to die, and starts a new generation. Until the release has ended,
  /// the handle is examined anew at each use: at first an attribute's delete callback may
  /// communicate by it, and later it may be a new handle of another thread.
  void begin_release(Handle handle) {
    const std::lock_guard guard(lock_);
    releases_.begin(handle);
    if (facts_.erase(handle)) {
      detail::handle_generation.fetch_add(1, std::memory_order_release);
    }
  }

  void end_release(Handle handle) noexcept {
    const std::lock_guard guard(lock_);
    releases_.end(handle);
  }

 private:
  // Everything is protected by `lock_`, since threads add their results.
  std::mutex lock_;
  HandleTable<Handle, std::shared_ptr<const Facts>> facts_;
  ReleasesUnderWay<Handle> releases_{&is_called_by_a_wrapper};
};

/// The facts of the handles that one thread used last.
template <class Handle, class Facts, std::size_t kPlaces>
class RecentHandles {
 public:
  /// `find` maps a handle to `FoundFacts`.
  template <class Find>
  [[nodiscard]] const Facts& find(Handle handle, const Find& find) {
    Place& place = places_[index_of(handle)];
    if (place.handle != handle || place.generation != handle_generation()) [[unlikely]] {
      // The generation is read first: a handle that changes meanwhile is looked up again.
      const std::uint64_t generation = handle_generation();
      FoundFacts<Facts> found = find(handle);
      place = {handle, found.is_lasting ? generation : 0, std::move(found.facts)};
    }
    return *place.facts;
  }

 private:
  struct Place {
    Handle handle{};
    std::uint64_t generation = 0;
    std::shared_ptr<const Facts> facts;
  };

  static std::size_t index_of(Handle handle) noexcept {
    // Handles of one kind differ in their low or, as addresses, in their middle bits.
    const auto bits = (std::uintptr_t)handle;
    return ((bits >> 8) ^ (bits >> 4) ^ bits) % kPlaces;
  }

  std::array<Place, kPlaces> places_{};
};

}  // namespace fairlead::intercept
