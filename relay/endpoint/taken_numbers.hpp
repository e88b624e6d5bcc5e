// SPDX-License-Identifier: Apache-2.0
// Numbers of one sender's messages that are taken, in little memory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace fairlead::relay {

/// Kept as ranges. Some numbers are never taken, such as that of a cancelled send. Each gap begins
/// one more range, however many numbers are missing in it.
class TakenNumbers {
 public:
  [[nodiscard]] bool has(std::uint64_t number) const {
    const auto after = last_of_first_.upper_bound(number);
    return after != last_of_first_.begin() && std::prev(after)->second >= number;
  }
  void add(std::uint64_t number) {
    if (has(number)) return;
    std::uint64_t last = number;
    auto after = last_of_first_.upper_bound(number);
    if (after != last_of_first_.end() && after->first - 1 == number) {
      last = after->second;
      after = last_of_first_.erase(after);
    }
    const bool is_next = after != last_of_first_.begin() && std::prev(after)->second == number - 1;
    if (is_next) {
      std::prev(after)->second = last;
    } else {
      last_of_first_.emplace(number, last);
    }
  }

  [[nodiscard]] std::size_t num_ranges() const { return last_of_first_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> last_of_first_;
};

}  // namespace fairlead::relay
