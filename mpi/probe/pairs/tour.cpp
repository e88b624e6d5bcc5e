// SPDX-License-Identifier: Apache-2.0
// Meetings in tournament order, with turns that bound how many are held at the same time.
#include "pairs/tour.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "fairlead/network/pair_set.hpp"
#include "fairlead/network/tournament.hpp"

namespace fairlead::probe {
namespace {

// How many turns before its own a process is woken.
constexpr int kTurnsAhead = 2;
// The fraction of the time until its turn that a process sleeps at once; turns vary in length.
constexpr double kSleptShare = 0.25;

class Tour {
 public:
  Tour(int rank, int num_ranks, const Options& options, int concurrency, ControlChannel& control,
       Exchange& exchange)
      : rank_(rank),
        tournament_(num_ranks),
        options_(options),
        concurrency_(concurrency),
        meetings_(choose_meetings()),
        num_rounds_(count_rounds()),
        control_(control),
        exchange_(exchange),
        begin_s_(now_s()) {}

  Findings walk() {
    for (int index = 0; index < num_meetings(); ++index) {
      const Meeting& meeting = at(index);
      if (meeting.low != rank_ && meeting.high != rank_) continue;
      if (meeting.low == rank_) lead(index, meeting.high);
      if (meeting.high == rank_) follow(index, meeting.low);
      if (meeting.low == rank_ && (rank_ == 0 || is_one_by_one())) show_progress(meeting.round + 1);
      num_passed_ = index + 1;
      passed_s_ = now_s();
    }
    findings_.num_rounds = num_rounds_;
    return std::move(findings_);
  }

 private:
  /// All meetings, or those of the chosen pairs.
  [[nodiscard]] std::vector<Meeting> choose_meetings() const {
    std::vector<Meeting> all =
        is_one_by_one() ? tournament_.meetings_one_by_one() : tournament_.meetings();
    if (!options_.pairs) return all;
    std::vector<Meeting> chosen = PairSet(*options_.pairs, tournament_.num_players()).select(all);
    if (!is_one_by_one()) return close_ranks(std::move(chosen), tournament_.num_players());
    for (int index = 0; Meeting& meeting : chosen) meeting.round = index++;
    return chosen;
  }

  [[nodiscard]] int count_rounds() const {
    if (!options_.pairs && !is_one_by_one()) return tournament_.num_rounds();
    return meetings_.empty() ? 0 : meetings_.back().round + 1;
  }

  [[nodiscard]] int num_meetings() const { return static_cast<int>(meetings_.size()); }

  [[nodiscard]] const Meeting& at(int index) const {
    return meetings_[static_cast<std::size_t>(index)];
  }

  void lead(int index, int partner) {
    PairResult result{.low = rank_,
                      .high = partner,
                      .latency_s = {},
                      .low_to_high_Bps = {},
                      .high_to_low_Bps = {}};
    await_turn(index);
    announce_next(index);
    if (!(await_follower(partner) && measure(exchange_, options_, end_s(index), result) &&
          exchange_.finish(partner, &result, sizeof result))) {
      give_up(partner);
    }
    pass_turn(index);
    findings_.results.push_back(result);
  }

  void follow(int index, int leader) {
    PairResult result;
    if (await_leader(index, leader) && exchange_.follow(leader, &result, sizeof result)) {
      findings_.results.push_back(result);
    } else {
      give_up(leader);
    }
  }

  /// The follower sends first, and the leader answers in their turn. If both sent at once, both
  /// would open a connection, and one would be closed again.
  bool await_follower(int follower) {
    if (!await_ready(follower, [] { return kShortPause_s; })) return false;
    control_.post(follower, MessageKind::ready);
    return true;
  }

  bool await_leader(int index, int leader) {
    control_.post(leader, MessageKind::ready);
    return await_ready(leader, [&] { return longest_pause_s(index); });
  }

  template <typename LongestPause>
  bool await_ready(int partner, LongestPause longest_pause_s) {
    const auto is_decided = [&] {
      return control_.has(partner, MessageKind::ready) || control_.has(partner, MessageKind::gone);
    };
    return control_.wait(partner, is_decided, longest_pause_s) &&
           !control_.has(partner, MessageKind::gone);
  }

  void give_up(int partner) {
    findings_.has_given_up = true;
    control_.post(partner, MessageKind::gone);
    if (!control_.has(partner, MessageKind::gone)) control_.announce_silent(partner);
  }

  /// Meeting k begins when meeting k - concurrency is over; its leader sends a message. If that
  /// leader has died, that meeting is over, too.
  void await_turn(int index) {
    if (!is_limited() || index < concurrency_) return;
    const int predecessor = at(index - concurrency_).low;
    if (predecessor == rank_) return;  // it was held earlier in this loop
    (void)control_.wait(
        predecessor, [&] { return control_.has_turn(index); },
        [&] { return longest_pause_s(index); });
  }

  /// Wakes the processes of the turn after the next in time, since processes sleep long if turns
  /// are rare.
  void announce_next(int index) {
    const int coming = index + kTurnsAhead * concurrency_;
    if (!is_limited() || coming >= num_meetings()) return;
    for (const int player : {at(coming).low, at(coming).high}) {
      if (player != rank_) control_.post(player, MessageKind::soon, coming);
    }
  }

  void pass_turn(int index) {
    const int next = index + concurrency_;
    if (!is_limited() || next >= num_meetings()) return;
    if (at(next).low != rank_) control_.post(at(next).low, MessageKind::turn, next);
  }

  [[nodiscard]] bool is_near(int index) const {
    return !is_limited() || index < kTurnsAhead * concurrency_ || control_.is_soon(index);
  }

  /// While a turn is far away, a fraction of the expected time until then, by the pace so far.
  [[nodiscard]] double longest_pause_s(int index) const {
    if (is_near(index)) return kShortPause_s;
    if (num_passed_ == 0) return kLongPause_s;
    const double pace_s = (passed_s_ - begin_s_) / num_passed_;
    const double left_s = passed_s_ + pace_s * (index - num_passed_) - now_s();
    return std::clamp(left_s * kSleptShare, kLongPause_s, kIdlePause_s);
  }

  [[nodiscard]] bool is_one_by_one() const { return is_limited() && concurrency_ == 1; }

  [[nodiscard]] bool is_limited() const { return concurrency_ < tournament_.meetings_per_round(); }

  /// The time after which meeting `index` takes no further sample. The budget is shared evenly; a
  /// meeting that is late, because a process was waited for, still gets a share while any budget is
  /// left.
  [[nodiscard]] double end_s(int index) const {
    const int step = is_limited() ? index / concurrency_ : at(index).round;
    const int num_steps =
        is_limited() ? (num_meetings() + concurrency_ - 1) / concurrency_ : num_rounds_;
    const double share_s = options_.pairs_budget_s() / num_steps;
    return std::max(begin_s_ + share_s * (step + 1),
                    std::min(now_s() + share_s, begin_s_ + options_.pairs_budget_s()));
  }

  /// Progress is printed by the leader of the only meeting. With many at the same time, rank 0
  /// prints it: it has a meeting in almost every round, so its progress is that of all.
  void show_progress(int num_rounds_done) {
    if (now_s() - shown_s_ < 0.1 && num_rounds_done != num_rounds_) return;
    shown_s_ = now_s();
    std::fprintf(stderr, "fairlead-probe: progress %d %d\n", num_rounds_done, num_rounds_);
  }

  int rank_;
  Tournament tournament_;
  const Options& options_;
  int concurrency_;
  std::vector<Meeting> meetings_;
  int num_rounds_;
  ControlChannel& control_;
  Exchange& exchange_;
  double begin_s_;
  int num_passed_ = 0;   // turns until the end of this process's last meeting
  double passed_s_ = 0;  // when that was
  double shown_s_ = -std::numeric_limits<double>::infinity();
  Findings findings_;
};

}  // namespace

Findings walk_tournament(MPI_Comm comm, const Options& options, int concurrency,
                         ControlChannel& control, Exchange& exchange) {
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  return Tour(rank, num_ranks, options, concurrency, control, exchange).walk();
}

}  // namespace fairlead::probe
