// SPDX-License-Identifier: Apache-2.0
// Short control messages between the processes: ready, turn, alive.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "clock.hpp"

namespace fairlead::probe {

/// Message tags of the probe.
enum Tag : int {
  control_tag = 1,
  command_tag,
  data_tag,
  answer_tag,
  report_tag,
  order_tag,
  flow_report_tag,
  trial_order_tag,
  trial_report_tag,
  order_text_tag,
  inside_report_tag,
  host_order_tag,
  host_report_tag,
};

enum class MessageKind : std::int32_t {
  hello,   ///< To rank 0 at the start; carries the machine's identity.
  start,   ///< From rank 0: all processes have reported; carries whether to yield.
  ready,   ///< To the partner of the next meeting.
  gone,    ///< To a partner that was given up: the meeting is over.
  soon,    ///< The meeting in `value` is next.
  turn,    ///< The meeting in `value` may begin.
  ping,    ///< Are you alive?
  silent,  ///< The sender gave up on the rank in `value`.
  alive,   ///< Yes.
  done,    ///< From rank 0: the result is written; `value` says whether there was no error.
};

struct Message {
  MessageKind kind;
  std::int32_t value;
  std::int64_t data;
};

/// Sends and receives control messages. No call blocks for longer than the silence timeout, and
/// every process that waits here answers pings, which distinguishes a late process from a dead one.
class ControlChannel {
 public:
  ControlChannel(MPI_Comm comm, double silence_timeout_s);

  void post(int dst, MessageKind kind, std::int32_t value = 0, std::int64_t data = 0);
  /// Sends all ranks a message that `peer` does not answer, so that they do not wait for it one by
  /// one.
  void announce_silent(int peer);

  /// Records a sign of life of `src` that came in another way.
  void heard(int src) { sign_s_[static_cast<std::size_t>(src)] = now_s(); }

  /// Receives all control messages that have arrived.
  void poll();

  /// Discards all messages about the meetings so far, since the next order uses their numbers
  /// again. To be called before the next session starts, when there are no messages about its
  /// meetings yet.
  void discard_messages();

  /// Whether `src` has sent a message of this kind.
  [[nodiscard]] bool has(int src, MessageKind kind) const {
    return messages_.contains({src, kind});
  }
  /// The last message of this kind from `src`; it must be there.
  [[nodiscard]] const Message& message(int src, MessageKind kind) const {
    return messages_.at({src, kind});
  }
  /// Whether this meeting was announced as next, or given its turn.
  [[nodiscard]] bool is_soon(int meeting) const { return soon_.contains(meeting); }
  [[nodiscard]] bool has_turn(int meeting) const { return turns_.contains(meeting); }

  /// Waits, mostly asleep, until `is_done()` holds; each pause is at most `longest_pause_s()`.
  /// @return false if `peer` gave no sign of life for the silence timeout, counted from now
  ///   or from when another rank reported it silent.
  template <typename IsDone, typename LongestPause>
  [[nodiscard]] bool wait(int peer, IsDone is_done, LongestPause longest_pause_s) {
    const double begin_s = now_s();
    double next_ping_s = begin_s + silence_timeout_s_ / 4;
    for (;;) {
      poll();
      if (is_done()) return true;
      const double time_s = now_s();
      if (time_s - last_hope_s(peer, begin_s) > silence_timeout_s_) return false;
      if (time_s >= next_ping_s) {
        post(peer, MessageKind::ping);
        next_ping_s += silence_timeout_s_ / 4;
      }
      pause(time_s - begin_s, longest_pause_s());
    }
  }
  template <typename IsDone>
  [[nodiscard]] bool wait(int peer, IsDone is_done) {
    return wait(peer, is_done, [] { return kShortPause_s; });
  }

  /// Waits until the posted messages are sent, at most `limit_s`.
  void flush(double limit_s);

 private:
  struct Outgoing {
    Message message;
    MPI_Request request;
  };

  void take_in(int src, const Message& message);
  [[nodiscard]] double last_hope_s(int peer, double begin_s) const {
    const auto index = static_cast<std::size_t>(peer);
    return std::max(std::min(begin_s, suspected_s_[index]), sign_s_[index]);
  }
  void drop_sent();

  MPI_Comm comm_;
  int rank_ = 0;
  double silence_timeout_s_;
  std::vector<double> sign_s_;       // last sign of life of each rank
  std::vector<double> suspected_s_;  // when each rank was reported silent; inf if never
  std::map<std::pair<int, MessageKind>, Message> messages_;
  std::set<int> soon_;
  std::set<int> turns_;
  std::list<Outgoing> outgoing_;  // a list: a message must not move while it is sent
};

}  // namespace fairlead::probe
