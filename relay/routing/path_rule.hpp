// SPDX-License-Identifier: Apache-2.0
// The rule by which messages to one host take paths: one of a catalogue (path_rules.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "routing/path_state.hpp"

namespace fairlead::relay {

enum class TransferMode : std::uint8_t {
  /// The MPI carries it.
  mpi,
  /// By routers, on the direct path alone: times the direct path.
  direct,
  /// By routers, on all connections of the direct path.
  parallel,
  /// By routers, on the best path over other hosts alone: one flow, as the direct path is.
  relayed,
  /// By routers, on all open paths.
  striped,
};

/// No message counts as late before this time: a shorter delay may come from the machine.
inline constexpr std::chrono::milliseconds kLeastLate{50};

/// Pure: no sockets, no threads, no clock.
class PathRule {
 public:
  PathRule() = default;
  virtual ~PathRule() = default;

  /// The transfer mode of a message, which has to be followed.
  [[nodiscard]] virtual TransferMode next(std::uint64_t bytes, Time now) = 0;
  /// Whether routers are expected to be faster now.
  [[nodiscard]] virtual bool is_striping_worth(std::uint64_t bytes) const = 0;
  /// The path of a segment.
  /// @param paths  those by routers, the direct one first
  /// @param taken  the path of the message's segments; a rule by which they take one path sets it
  /// @return none if all of them have failed; one without space if the segment has to wait
  [[nodiscard]] virtual std::optional<std::size_t> choose(std::span<PathState> paths,
                                                          TransferMode mode, std::uint64_t bytes,
                                                          Time now,
                                                          std::optional<std::size_t>& taken) = 0;
  /// Whether all segments of a message take one path. Those of another message may have space then.
  [[nodiscard]] virtual bool is_one_path_a_message() const { return false; }
  /// Messages by routers in this mode have taken this long, from the first byte to now.
  virtual void learn(TransferMode mode, std::uint64_t bytes, double seconds, Time now) = 0;
  /// The time of a message by routers in this mode cannot be used: others in other modes
  /// overlapped.
  virtual void miss(TransferMode /*mode*/, std::uint64_t /*bytes*/, Time /*now*/) {}
  /// Messages in this mode have not arrived after this time. Where that is far longer than usual,
  /// the rule can react before they arrive.
  /// @param bytes  of the message that is to arrive next
  /// @param arrived_bytes  of these messages and later ones, in this time
  /// @return the mode of the segments that are not sent yet; none: unchanged
  [[nodiscard]] virtual std::optional<TransferMode> leave_if_late(TransferMode /*mode*/,
                                                                  std::uint64_t /*bytes*/,
                                                                  std::uint64_t /*arrived_bytes*/,
                                                                  double /*seconds*/,
                                                                  Time /*now*/) {
    return std::nullopt;
  }
  /// Whether a trial of this mode is under way: messages that overlap with it go in the same mode.
  [[nodiscard]] virtual bool is_trying(TransferMode /*mode*/) const { return false; }
  /// The interval after which the program has sent the next message of this size; the mode, which
  /// may be the MPI, is that of the earlier one.
  virtual void add_interval(TransferMode /*mode*/, double /*interval_s*/, Time /*now*/) {}
  /// The program sends such messages more slowly than before: the network may have changed.
  virtual void note_slowdown(Time /*now*/) {}
  /// The last interval between such messages was far longer than those before. The rule treats it
  /// as above, at once.
  virtual void note_long_gap(Time /*now*/) {}
  /// Messages follow after a time without any. The first of them takes the path that was used
  /// before.
  /// @return whether that time is a pause of the program, which shows nothing of the network
  [[nodiscard]] virtual bool resume(Time /*now*/) { return false; }
  /// The use of each path, for later runs; empty where nothing is to be kept.
  [[nodiscard]] virtual std::vector<PathUse> uses() const { return {}; }
};

}  // namespace fairlead::relay
