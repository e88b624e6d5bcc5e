// SPDX-License-Identifier: Apache-2.0
// Which host each task occupies. A slot is occupied by a task or by a vacancy, so each step is a
// swap, and no host ever has more tasks than slots.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace fairlead::optimizing {

class Occupancy {
 public:
  /// @param num_slots_of_host  all >= 0, at least as many together as there are tasks
  /// @param host_of_task  within the slots
  Occupancy(std::span<const std::int32_t> num_slots_of_host,
            std::span<const std::int32_t> host_of_task)
      : num_tasks_(static_cast<std::int32_t>(host_of_task.size())),
        first_slot_(num_slots_of_host.size() + 1, 0) {
    std::partial_sum(num_slots_of_host.begin(), num_slots_of_host.end(), first_slot_.begin() + 1);
    const auto num_slots = static_cast<std::size_t>(first_slot_.back());
    occupant_of_slot_.assign(num_slots, -1);
    slot_of_occupant_.assign(num_slots, -1);
    host_of_occupant_.assign(num_slots, -1);
    std::vector<std::int32_t> next(first_slot_.begin(), first_slot_.end() - 1);
    for (std::int32_t task = 0; task < num_tasks_; ++task) {
      const std::int32_t host = host_of_task[static_cast<std::size_t>(task)];
      put(task, next[static_cast<std::size_t>(host)]++, host);
    }
    std::int32_t vacancy = num_tasks_;
    for (std::int32_t host = 0; host < num_hosts(); ++host) {
      for (std::int32_t slot = next[static_cast<std::size_t>(host)]; slot < end_slot(host);
           ++slot) {
        put(vacancy++, slot, host);
      }
    }
  }

  [[nodiscard]] std::int32_t num_hosts() const {
    return static_cast<std::int32_t>(first_slot_.size()) - 1;
  }
  [[nodiscard]] std::int32_t num_tasks() const { return num_tasks_; }
  [[nodiscard]] bool is_task(std::int32_t occupant) const { return occupant < num_tasks_; }
  [[nodiscard]] std::int32_t host_of(std::int32_t occupant) const {
    return host_of_occupant_[static_cast<std::size_t>(occupant)];
  }
  /// The tasks there, and its vacancies, which are numbered from num_tasks() on.
  [[nodiscard]] std::span<const std::int32_t> occupants(std::int32_t host) const {
    const std::int32_t first = first_slot_[static_cast<std::size_t>(host)];
    return std::span(occupant_of_slot_)
        .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end_slot(host) - first));
  }
  [[nodiscard]] std::span<const std::int32_t> host_of_task() const {
    return std::span(host_of_occupant_).first(static_cast<std::size_t>(num_tasks_));
  }

  void swap(std::int32_t one, std::int32_t other) {
    const auto first = static_cast<std::size_t>(one), second = static_cast<std::size_t>(other);
    const std::int32_t slot = slot_of_occupant_[first], host = host_of_occupant_[first];
    put(one, slot_of_occupant_[second], host_of_occupant_[second]);
    put(other, slot, host);
  }

 private:
  [[nodiscard]] std::int32_t end_slot(std::int32_t host) const {
    return first_slot_[static_cast<std::size_t>(host) + 1];
  }

  void put(std::int32_t occupant, std::int32_t slot, std::int32_t host) {
    occupant_of_slot_[static_cast<std::size_t>(slot)] = occupant;
    slot_of_occupant_[static_cast<std::size_t>(occupant)] = slot;
    host_of_occupant_[static_cast<std::size_t>(occupant)] = host;
  }

  std::int32_t num_tasks_;
  std::vector<std::int32_t> first_slot_;  // of each host, and the end
  std::vector<std::int32_t> occupant_of_slot_;
  std::vector<std::int32_t> slot_of_occupant_;
  std::vector<std::int32_t> host_of_occupant_;
};

}  // namespace fairlead::optimizing
