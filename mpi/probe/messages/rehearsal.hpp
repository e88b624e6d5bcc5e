// SPDX-License-Identifier: Apache-2.0
// Rehearses the traffic of several placements, in turns, to compare their times on the network.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <vector>

#include "control_channel.hpp"
#include "messages/pattern.hpp"
#include "options.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// Rank 0's order to all processes: some steps of one pattern.
struct TrialOrder {
  std::int32_t trial;
  std::int32_t pattern;
  std::int32_t num_steps;
  /// Whether the first step is timed, too: steps that are long enough for processes to begin late.
  std::int32_t is_first_timed;
  /// Fraction of each message to send.
  double size_ratio;
};

struct TrialReport {
  std::int32_t trial;
  std::int32_t has_given_up;
  double elapsed_s;
};

/// The result of a rehearsal, at rank 0.
struct RehearsalFindings {
  /// Steps of each trial.
  int num_steps = 0;
  /// Fraction of each message that was sent: if flows share more than their pairs show, a whole
  /// step may take seconds.
  double size_ratio = 1;
  /// Seconds of each complete round, a trial of each pattern, in the order of the patterns.
  std::vector<std::vector<double>> rounds_s;
};

/// One process's part. A step models the work of a program between two waits: all messages of the
/// pattern that this host receives or sends, at once. Only their messages synchronise the hosts, as
/// in the program. Messages that are not seen go past a preloaded library: so one process compares
/// what the library does with what the MPI does.
class Rehearsal {
 public:
  /// @param yields whether to sleep while nothing arrives, for hosts with more processes than
  ///   cores.
  /// @throws InputError if a pattern names a rank that does not exist.
  Rehearsal(MPI_Comm comm, const Options& options, ControlChannel& control, bool yields);

  /// Rank 0: trials of all patterns in turns, until the time or the number of rounds is reached, or
  /// a process does not answer; `outcome` then is not orderly.
  RehearsalFindings conduct(const RehearsalOptions& options, Outcome& outcome);

  /// The others: if an order of rank 0 has arrived, carries it out and reports.
  void serve();

  /// Whether a partner was given up; MPI then has messages that will never be received.
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }

  /// What this process has sent so far.
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  /// This process's messages of one pattern.
  struct Part {
    std::vector<PatternFlow> sent;
    std::vector<PatternFlow> received;
    std::int64_t received_bytes = 0;
    std::int64_t largest_sent_bytes = 0;
    /// Whether a preloaded library sees any of them.
    bool is_seen = false;
  };

  [[nodiscard]] TrialReport run(const TrialOrder& order);
  [[nodiscard]] bool step(const Part& part, double size_ratio, int tag);
  /// @param is_seen whether a preloaded library sees the calls that wait, too.
  [[nodiscard]] bool complete_all(bool is_seen);
  /// Number of steps of all trials, and the fraction of each message.
  struct Scale {
    int num_steps;
    double size_ratio;
    bool is_first_timed = false;
  };
  /// Rank 0: a trial of each pattern, beginning with number `shift`; nothing if a process failed,
  /// or if it is too late for a further trial.
  [[nodiscard]] std::optional<std::vector<double>> try_all(Scale scale, int shift,
                                                           Outcome& outcome);
  /// Rank 0: the longest time of any process, or nothing if one failed.
  [[nodiscard]] std::optional<double> try_out(int pattern, Scale scale, Outcome& outcome);
  /// Rank 0: the scale with which a trial of the slowest pattern takes about `kTrial_s`.
  [[nodiscard]] std::optional<Scale> find_scale(Outcome& outcome);

  MPI_Comm comm_;
  int rank_ = 0;
  int num_ranks_ = 0;
  double silence_timeout_s_;
  std::int64_t least_bytes_ = 1;
  double last_begin_s_ = std::numeric_limits<double>::infinity();
  ControlChannel& control_;
  bool yields_;
  std::vector<Part> parts_;
  int trial_ = 0;
  bool has_given_up_ = false;
  std::uint64_t sent_bytes_ = 0;
  // Kept for the whole run: an abandoned request may still read or write them.
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::vector<MPI_Request> requests_;
  std::list<TrialReport> reports_;
};

}  // namespace fairlead::probe
