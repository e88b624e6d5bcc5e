// SPDX-License-Identifier: Apache-2.0
// Calls that release handles of one kind, each under way in one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::intercept {

/// Not thread-safe: under a lock of its owner.
template <class Handle>
class ReleasesUnderWay {
 public:
  /// @param is_called_by_one  whether a call that releases is on the stack
  explicit ReleasesUnderWay(bool (*is_called_by_one)() noexcept)
      : is_called_by_one_(is_called_by_one) {}

  /// A call of this thread begins to release a handle.
  /// @param facts  what is known of it, until the call ends
  void begin(Handle handle, std::shared_ptr<void> facts = nullptr) {
    releases_.push_back({handle, std::this_thread::get_id(), std::move(facts)});
  }
  /// It ends.
  void end(Handle handle) noexcept {
    const auto ended = last_of_this_thread(handle);
    if (ended != releases_.rend()) releases_.erase(std::prev(ended.base()));
  }

  /// Whether a call of any thread is releasing the handle.
  [[nodiscard]] bool has(Handle handle) {
    drop_left(handle);
    return std::any_of(releases_.begin(), releases_.end(),
                       [handle](const Release& each) { return each.handle == handle; });
  }
  /// The facts that the last call of this thread keeps which is releasing the handle; null if there
  /// is none. Another thread may have got the same handle anew.
  [[nodiscard]] std::shared_ptr<void>* facts_of_own(Handle handle) {
    drop_left(handle);
    const auto found = last_of_this_thread(handle);
    return found == releases_.rend() ? nullptr : &found->facts;
  }

  [[nodiscard]] std::size_t size() const noexcept { return releases_.size(); }

 private:
  struct Release {
    Handle handle;
    std::thread::id thread;
    std::shared_ptr<void> facts;
  };

  auto last_of_this_thread(Handle handle) noexcept {
    return std::find_if(releases_.rbegin(), releases_.rend(),
                        [handle, thread = std::this_thread::get_id()](const Release& each) {
                          return each.handle == handle && each.thread == thread;
                        });
  }
  // A release that this thread has left by a jump is over, although its `end` was not called.
  void drop_left(Handle handle) {
    std::erase_if(releases_, [&, thread = std::this_thread::get_id()](const Release& each) {
      return each.handle == handle && each.thread == thread && !is_called_by_one_();
    });
  }

  bool (*is_called_by_one_)() noexcept;
  std::vector<Release> releases_;
};

}  // namespace fairlead::intercept
