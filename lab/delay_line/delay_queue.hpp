// SPDX-License-Identifier: Apache-2.0
// Waiting items, ordered by the time at which they are due.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead::delay_line {

/// Items that are due at the same time leave in the order of arrival, so that packets of one pair
/// never overtake each other.
template <typename Item>
class DelayQueue {
 public:
  void push(std::int64_t due_ns, Item item) {
    heap_.push_back({due_ns, next_number_++, std::move(item)});
    std::ranges::push_heap(heap_, is_later);
  }

  /// @pre not empty
  Item pop() {
    std::ranges::pop_heap(heap_, is_later);
    Item item = std::move(heap_.back().item);
    heap_.pop_back();
    return item;
  }

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// @pre not empty
  [[nodiscard]] std::int64_t next_due_ns() const { return heap_.front().due_ns; }
  [[nodiscard]] bool is_due(std::int64_t now_ns) const {
    return !is_empty() && next_due_ns() <= now_ns;
  }

 private:
  struct Waiting {
    std::int64_t due_ns;
    std::uint64_t number;
    Item item;
  };

  static bool is_later(const Waiting& left, const Waiting& right) {
    return std::pair(left.due_ns, left.number) > std::pair(right.due_ns, right.number);
  }

  std::vector<Waiting> heap_;
  std::uint64_t next_number_ = 0;
};

}  // namespace fairlead::delay_line
