// SPDX-License-Identifier: Apache-2.0
// What happens next in a simulation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead::collectives {

/// The next event of each transfer, the earliest first; of equal times the one that was set first.
/// A heap in which each transfer knows its place, so that an event may be set anew.
class EventQueue {
 public:
  explicit EventQueue(std::size_t num_transfers) : place_(num_transfers, kNowhere) {}

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] std::int64_t next_ns() const { return heap_.front().time_ns; }

  /// Instead of the event that the transfer may have.
  void set(std::int32_t transfer, std::int64_t time_ns) {
    const Event event{time_ns, num_set_++, transfer};
    std::size_t place = place_[static_cast<std::size_t>(transfer)];
    if (place == kNowhere) {
      place = heap_.size();
      heap_.push_back(event);
    }
    // It now comes after an event of the same time.
    if (place > 0 && is_before(event, heap_[(place - 1) / kFanOut])) {
      rise(place, event);
    } else {
      sink(place, event);
    }
  }

  /// Takes the next event out. @return its transfer
  std::int32_t pop() {
    const std::int32_t transfer = heap_.front().transfer;
    place_[static_cast<std::size_t>(transfer)] = kNowhere;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(0, last);
    return transfer;
  }

 private:
  struct Event {
    std::int64_t time_ns;
    std::uint64_t sequence;
    std::int32_t transfer;
  };
  static constexpr std::size_t kFanOut = 4;
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  static bool is_before(const Event& left, const Event& right) {
    return left.time_ns != right.time_ns ? left.time_ns < right.time_ns
                                         : left.sequence < right.sequence;
  }

  void put(std::size_t place, const Event& event) {
    heap_[place] = event;
    place_[static_cast<std::size_t>(event.transfer)] = static_cast<std::uint32_t>(place);
  }

  void rise(std::size_t place, const Event& event) {
    while (place > 0) {
      const std::size_t above = (place - 1) / kFanOut;
      if (!is_before(event, heap_[above])) break;
      put(std::exchange(place, above), heap_[above]);
    }
    put(place, event);
  }

  void sink(std::size_t place, const Event& event) {
    while (kFanOut * place + 1 < heap_.size()) {
      const auto first = heap_.begin() + static_cast<std::ptrdiff_t>(kFanOut * place + 1);
      const auto end = heap_.end() - first > static_cast<std::ptrdiff_t>(kFanOut)
                           ? first + static_cast<std::ptrdiff_t>(kFanOut)
                           : heap_.end();
      const auto least = std::min_element(first, end, is_before);
      if (!is_before(*least, event)) break;
      put(std::exchange(place, static_cast<std::size_t>(least - heap_.begin())), *least);
    }
    put(place, event);
  }

  std::vector<Event> heap_;
  std::vector<std::uint32_t> place_;  // of each transfer in the heap
  std::uint64_t num_set_ = 0;
};

}  // namespace fairlead::collectives
