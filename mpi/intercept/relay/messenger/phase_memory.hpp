// SPDX-License-Identifier: Apache-2.0
// Recognises phases of a program by what a process sends to whom, so that what served a phase
// before can be used again when it returns (MCM's repetitiveness, after PR-DRB). Pure.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "relay/messenger/path_state.hpp"

namespace fairlead::intercept::relay {

/// Messages that count as the same: to one rank, of sizes with the same power of two.
struct MessageClass {
  std::uint32_t dst_rank = 0;
  std::uint8_t size_class = 0;

  [[nodiscard]] static MessageClass of(std::uint32_t dst_rank, std::uint64_t bytes);
  friend auto operator<=>(const MessageClass&, const MessageClass&) = default;
};

class PhaseMemory {
 public:
  /// A phase that was shorter is part of another one's pattern, or tells nothing.
  static constexpr std::chrono::milliseconds kLeastTime{250};
  /// More phases are not remembered: the one that was longest ago is forgotten.
  static constexpr std::size_t kMaxPhases = 16;
  /// What has more classes has no pattern.
  static constexpr std::size_t kMaxClasses = 64;

  using PhaseId = std::uint64_t;

  /// What a message tells.
  struct Step {
    /// The phase that has ended, if it is to be remembered under this number.
    std::optional<PhaseId> left{};
    /// The phase of before that begins again.
    std::optional<PhaseId> entered{};
  };

  /// A message is about to be sent.
  Step note(MessageClass message, Time now);
  [[nodiscard]] bool is_kept(PhaseId phase) const { return kept_.contains(phase); }
  /// @pre it is kept
  [[nodiscard]] const std::vector<MessageClass>& classes_of(PhaseId phase) const {
    return kept_.at(phase).classes;
  }

 private:
  struct Kept {
    /// In the order in which they began.
    std::vector<MessageClass> classes{};
    Time last_left{};
    /// The phase before it, when it began last.
    std::optional<PhaseId> former{};
  };
  /// A class of the present phase.
  struct Seen {
    std::uint64_t num_messages = 0;
    /// Number of the phase's message that was its last one.
    std::uint64_t last = 0;
  };

  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] bool is_repeated() const;
  [[nodiscard]] std::vector<MessageClass> classes_since(std::uint64_t message) const;
  void begin(const std::vector<MessageClass>& classes, Time now);
  void leave(Time now, Step& step);
  [[nodiscard]] std::optional<PhaseId> recognised(const std::vector<MessageClass>& classes,
                                                  bool is_whole) const;
  void enter(PhaseId phase, Step& step);

  std::map<PhaseId, Kept> kept_;
  PhaseId last_id_ = 0;

  // The present phase.
  std::vector<MessageClass> order_;
  std::map<MessageClass, Seen> seen_;
  std::uint64_t num_messages_ = 0;
  Time began_{};
  /// That of before which it is taken for.
  std::optional<PhaseId> present_{};
  /// The phase before the present one.
  std::optional<PhaseId> former_{};
};

}  // namespace fairlead::intercept::relay
