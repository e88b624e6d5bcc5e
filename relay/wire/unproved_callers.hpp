// SPDX-License-Identifier: Apache-2.0
// Incoming connections whose other end has not yet proved the job's key: a bounded number, from any
// address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::relay {

/// When there are too many, the oldest is dropped for the next one. So callers without the key,
/// which stay until their timeout, neither use up file descriptors nor keep out others.
/// @tparam Caller  a handle of a caller, which can be copied
template <class Caller>
class UnprovedCallers {
 public:
  explicit UnprovedCallers(std::size_t max_callers) : max_callers_(max_callers) {}

  /// @param is_of_job  it connects from a host of the job: others do not displace it
  /// @return the caller to drop, perhaps the new one itself: the oldest that is not of the job, or
  /// else the oldest
  [[nodiscard]] std::optional<Caller> add(Caller caller, bool is_of_job) {
    waiting_.push_back({std::move(caller), is_of_job});
    if (waiting_.size() <= max_callers_) return std::nullopt;
    auto oldest = std::ranges::find(waiting_, false, &Waiting::is_of_job);
    if (oldest == waiting_.end()) oldest = waiting_.begin();
    Caller gone = std::move(oldest->caller);
    waiting_.erase(oldest);
    return gone;
  }
  /// It has proved the key, or has ended.
  void remove(const Caller& caller) {
    const auto found = std::ranges::find(waiting_, caller, &Waiting::caller);
    if (found != waiting_.end()) waiting_.erase(found);
  }

 private:
  struct Waiting {
    Caller caller;
    bool is_of_job;
  };

  std::size_t max_callers_;
  // The oldest first.
  std::vector<Waiting> waiting_;
};

}  // namespace fairlead::relay
