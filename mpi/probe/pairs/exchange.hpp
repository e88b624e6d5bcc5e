// SPDX-License-Identifier: Apache-2.0
// The timed exchanges between two processes: round trips and trains of messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control_channel.hpp"
#include "options.hpp"

namespace fairlead::probe {

/// Durations in seconds, or nothing if the partner did not answer in time.
using Durations = std::optional<std::vector<double>>;

/// The leader's commands to the follower of a meeting.
enum class Exercise : std::int32_t {
  round_trips,  ///< Send `count` messages back.
  push,         ///< Receive `count` trains and answer with their durations.
  pull,         ///< Send `count` trains.
  finish,       ///< The meeting is over; a result follows.
};

struct Command {
  Exercise exercise;
  std::int32_t count;
  std::int64_t message_bytes;
};

/// Carries out exercises with one partner after another. No wait is longer than the silence
/// timeout.
class Exchange {
 public:
  /// @param yields whether to yield to other processes while waiting inside a timed part, for hosts
  ///   with more processes than cores.
  Exchange(MPI_Comm comm, const Options& options, ControlChannel& control, bool yields);

  /// Leader: half the round trip of `count` messages, one duration each.
  [[nodiscard]] Durations round_trips(int partner, int count);
  /// Leader: `count` trains to the partner, one duration each, timed by the receiver: from the end
  /// of the last train, or from the request if only one is requested at a time.
  [[nodiscard]] Durations push(int partner, int count, std::int64_t message_bytes);
  /// Leader: `count` trains from the partner, timed here in the same way.
  [[nodiscard]] Durations pull(int partner, int count, std::int64_t message_bytes);

  /// Leader: ends the meeting and sends the partner the result.
  [[nodiscard]] bool finish(int partner, const void* result, std::size_t result_bytes);
  /// Follower: carries out the leader's commands until the meeting is over.
  /// @return whether the result was received.
  [[nodiscard]] bool follow(int leader, void* result, std::size_t result_bytes);

  /// All that was sent so far.
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  struct Train {
    std::span<MPI_Request> requests;
    std::int64_t message_bytes;
  };

  [[nodiscard]] bool command(int partner, const Command& wanted);
  [[nodiscard]] bool echo(int partner, int count);
  [[nodiscard]] bool send_trains(int partner, const Command& wanted);
  [[nodiscard]] Durations receive_trains(int partner, const Command& wanted);
  [[nodiscard]] bool call_train(int partner, int train, std::int64_t message_bytes);
  void abandon_requests();
  /// A train that is not counted is a single message of the same size.
  [[nodiscard]] Train train_at(int train, std::int64_t message_bytes);
  [[nodiscard]] std::span<MPI_Request> requests_of(int train);
  [[nodiscard]] bool send(int dst, Tag tag, const void* data, std::size_t bytes);
  [[nodiscard]] bool receive(int src, Tag tag, void* data, std::size_t bytes);
  [[nodiscard]] bool complete(MPI_Request& request);
  /// Receives control messages now and then, so that a process in a long meeting is not taken to be
  /// dead.
  void answer_others(double time_s);
  [[nodiscard]] bool complete_all(std::span<MPI_Request> requests);

  MPI_Comm comm_;
  Recipe recipe_;
  double silence_timeout_s_;
  ControlChannel& control_;
  bool yields_;
  double answered_s_ = 0;
  std::uint64_t sent_bytes_ = 0;
  // Kept for the whole run: an abandoned request may still read or write them.
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::vector<MPI_Request> requests_;  // of the trains under way
};

}  // namespace fairlead::probe
