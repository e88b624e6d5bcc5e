// SPDX-License-Identifier: Apache-2.0
// Meetings in tournament order, with turns that bound how many are held at one time.
#include "tour.hpp"

#include <cstdio>
#include <limits>

#include "fairlead/tournament.hpp"

namespace fairlead::probe {
namespace {

class Tour {
 public:
  Tour(int rank, int num_ranks, const Options& options, int concurrency, Mailbox& mailbox,
       Exchange& exchange)
      : rank_(rank),
        tournament_(num_ranks),
        meetings_(tournament_.meetings()),
        options_(options),
        concurrency_(concurrency),
        mailbox_(mailbox),
        exchange_(exchange),
        begin_s_(now_s()) {}

  Findings walk() {
    const int num_meetings = static_cast<int>(meetings_.size());
    for (int index = 0; index < num_meetings; ++index) {
      const Meeting& meeting = at(index);
      if (meeting.low == rank_) lead(index, meeting.high);
      if (meeting.high == rank_) follow(meeting.low);
      if (rank_ == 0 && meeting.low == 0) show_progress(meeting.round + 1);
    }
    return std::move(findings_);
  }

 private:
  [[nodiscard]] const Meeting& at(int index) const {
    return meetings_[static_cast<std::size_t>(index)];
  }

  void lead(int index, int partner) {
    await_turn(index);
    PairResult result{.low = rank_,
                      .high = partner,
                      .latency_s = {},
                      .low_to_high_Bps = {},
                      .high_to_low_Bps = {}};
    const bool is_answered = meet(partner) && measure(exchange_, options_, end_s(index), result) &&
                             exchange_.finish(partner, &result, sizeof result);
    if (!is_answered) give_up(partner);
    findings_.results.push_back(result);
    pass_turn(index);
  }

  void follow(int partner) {
    PairResult result;
    if (meet(partner) && exchange_.follow(partner, &result, sizeof result)) {
      findings_.results.push_back(result);
    } else {
      give_up(partner);
    }
  }

  void give_up(int partner) {
    findings_.has_given_up = true;
    mailbox_.announce_silent(partner);
  }

  /// Both partners are here, awake and ready. False when the other gives no sign of life.
  bool meet(int partner) {
    mailbox_.post(partner, Note::ready);
    return mailbox_.wait(partner, [&] { return mailbox_.has(partner, Note::ready); });
  }

  /// Meeting k begins when meeting k - concurrency is over; its leader says so. If that leader
  /// has died, nobody is measuring there either.
  void await_turn(int index) {
    if (!is_limited() || index < concurrency_) return;
    const int predecessor = at(index - concurrency_).low;
    if (predecessor == rank_) return;  // it was held before, in this very loop
    (void)mailbox_.wait(predecessor, [&] { return mailbox_.has_turn(index); });
  }

  void pass_turn(int index) {
    const int next = index + concurrency_;
    if (!is_limited() || next >= static_cast<int>(meetings_.size())) return;
    if (at(next).low != rank_) mailbox_.post(at(next).low, Note::turn, next);
  }

  [[nodiscard]] bool is_limited() const { return concurrency_ < tournament_.meetings_per_round(); }

  /// The time after which meeting `index` takes no further sample: the budget is shared evenly.
  [[nodiscard]] double end_s(int index) const {
    const int num_meetings = static_cast<int>(meetings_.size());
    const int step = is_limited() ? index / concurrency_ : at(index).round;
    const int num_steps =
        is_limited() ? (num_meetings + concurrency_ - 1) / concurrency_ : tournament_.num_rounds();
    return begin_s_ + options_.budget_s * (step + 1) / num_steps;
  }

  /// Rank 0 meets somebody in almost every round, so its way is everybody's.
  void show_progress(int num_rounds_done) {
    const bool is_last = num_rounds_done == tournament_.num_rounds();
    if (now_s() - shown_s_ < 0.1 && !is_last) return;
    shown_s_ = now_s();
    std::fprintf(stderr, "fairlead-probe: progress %d %d\n", num_rounds_done,
                 tournament_.num_rounds());
  }

  int rank_;
  Tournament tournament_;
  std::vector<Meeting> meetings_;
  const Options& options_;
  int concurrency_;
  Mailbox& mailbox_;
  Exchange& exchange_;
  double begin_s_;
  double shown_s_ = -std::numeric_limits<double>::infinity();
  Findings findings_;
};

}  // namespace

Findings walk_tournament(MPI_Comm comm, const Options& options, int concurrency, Mailbox& mailbox,
                         Exchange& exchange) {
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  return Tour(rank, num_ranks, options, concurrency, mailbox, exchange).walk();
}

}  // namespace fairlead::probe
