// SPDX-License-Identifier: Apache-2.0
// What a process has planned for the communicators of which it is rank 0.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectives/rules.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace fairlead::intercept {

/// All that a schedule depends on.
struct PlannedBy {
  const CollectiveRule* rule = nullptr;
  std::vector<std::int32_t> hosts{};
  std::vector<std::int32_t> ranks_of_host{};
  int root = fairlead::collectives::kNoHost;
  std::uint64_t bytes = 0;
  int network_version = 0;

  friend auto operator<=>(const PlannedBy&, const PlannedBy&) = default;
};

/// Schedules as text. All ranks wait while one plans, and many programs free a communicator and
/// make the same one anew, or call with one root after the other. So schedules are kept, and the
/// time for planning is limited, but for the first schedule of each rule. Pure: no MPI, no clock.
/// Threads may use it at the same time.
class PlannedSchedules {
 public:
  /// Beyond this much text nothing more is kept.
  static constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20U;

  /// The text, planned now where it has not been before; none where the time is spent.
  /// @param make_text  empty where no schedule is possible
  /// @param now_s      seconds since some moment in the past
  /// @param limit_s    after so much time for planning only the first schedule of a rule is made
  template <class MakeText, class Clock>
  std::optional<std::string> text(const PlannedBy& by, MakeText make_text, Clock now_s,
                                  double limit_s) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = texts_.find(by); found != texts_.end()) return found->second;
    const bool is_first = begun_.insert(by.rule).second;
    if (spent_s_ >= limit_s && !is_first) return std::nullopt;
    const double begin_s = now_s();
    std::string text = make_text();
    spent_s_ += now_s() - begin_s;
    if (kept_bytes_ + text.size() <= kMaxKeptBytes) {
      kept_bytes_ += text.size();
      texts_.emplace(by, text);
    }
    return text;
  }

 private:
  std::mutex mutex_;
  std::map<PlannedBy, std::string> texts_;
  std::set<const CollectiveRule*> begun_;
  std::size_t kept_bytes_ = 0;
  double spent_s_ = 0.0;
};

}  // namespace fairlead::intercept
