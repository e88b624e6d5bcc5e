// SPDX-License-Identifier: Apache-2.0
// Who sits where. Every slot is taken, by a task or by nobody, so that each step is a swap and the
// slots of a host can never be exceeded.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace fairlead::optimizing {

class Seating {
 public:
  /// @param num_slots_of_host  all >= 0, at least as many together as there are tasks
  /// @param host_of_task  within the slots
  Seating(std::span<const std::int32_t> num_slots_of_host,
          std::span<const std::int32_t> host_of_task)
      : num_tasks_(static_cast<std::int32_t>(host_of_task.size())),
        first_slot_(num_slots_of_host.size() + 1, 0) {
    std::partial_sum(num_slots_of_host.begin(), num_slots_of_host.end(), first_slot_.begin() + 1);
    const auto num_slots = static_cast<std::size_t>(first_slot_.back());
    sitter_of_slot_.assign(num_slots, -1);
    slot_of_sitter_.assign(num_slots, -1);
    host_of_sitter_.assign(num_slots, -1);
    std::vector<std::int32_t> next(first_slot_.begin(), first_slot_.end() - 1);
    for (std::int32_t task = 0; task < num_tasks_; ++task) {
      const std::int32_t host = host_of_task[static_cast<std::size_t>(task)];
      seat(task, next[static_cast<std::size_t>(host)]++, host);
    }
    std::int32_t nobody = num_tasks_;
    for (std::int32_t host = 0; host < num_hosts(); ++host) {
      for (std::int32_t slot = next[static_cast<std::size_t>(host)]; slot < end_slot(host);
           ++slot) {
        seat(nobody++, slot, host);
      }
    }
  }

  [[nodiscard]] std::int32_t num_hosts() const {
    return static_cast<std::int32_t>(first_slot_.size()) - 1;
  }
  [[nodiscard]] std::int32_t num_tasks() const { return num_tasks_; }
  [[nodiscard]] bool is_task(std::int32_t sitter) const { return sitter < num_tasks_; }
  [[nodiscard]] std::int32_t host_of(std::int32_t sitter) const {
    return host_of_sitter_[static_cast<std::size_t>(sitter)];
  }
  /// Tasks, and numbers from num_tasks() on for free slots.
  [[nodiscard]] std::span<const std::int32_t> sitters(std::int32_t host) const {
    const std::int32_t first = first_slot_[static_cast<std::size_t>(host)];
    return std::span(sitter_of_slot_)
        .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end_slot(host) - first));
  }
  [[nodiscard]] std::span<const std::int32_t> host_of_task() const {
    return std::span(host_of_sitter_).first(static_cast<std::size_t>(num_tasks_));
  }

  void swap(std::int32_t one, std::int32_t other) {
    const auto first = static_cast<std::size_t>(one), second = static_cast<std::size_t>(other);
    const std::int32_t slot = slot_of_sitter_[first], host = host_of_sitter_[first];
    seat(one, slot_of_sitter_[second], host_of_sitter_[second]);
    seat(other, slot, host);
  }

 private:
  [[nodiscard]] std::int32_t end_slot(std::int32_t host) const {
    return first_slot_[static_cast<std::size_t>(host) + 1];
  }

  void seat(std::int32_t sitter, std::int32_t slot, std::int32_t host) {
    sitter_of_slot_[static_cast<std::size_t>(slot)] = sitter;
    slot_of_sitter_[static_cast<std::size_t>(sitter)] = slot;
    host_of_sitter_[static_cast<std::size_t>(sitter)] = host;
  }

  std::int32_t num_tasks_;
  std::vector<std::int32_t> first_slot_;  // of each host, and the end
  std::vector<std::int32_t> sitter_of_slot_;
  std::vector<std::int32_t> slot_of_sitter_;
  std::vector<std::int32_t> host_of_sitter_;
};

}  // namespace fairlead::optimizing
