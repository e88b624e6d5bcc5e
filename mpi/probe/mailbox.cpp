// SPDX-License-Identifier: Apache-2.0
// Sending and receiving of notes.
#include "mailbox.hpp"

#include <limits>

namespace fairlead::probe {

Mailbox::Mailbox(MPI_Comm comm, double patience_s) : comm_(comm), patience_s_(patience_s) {
  int num_ranks = 0;
  MPI_Comm_size(comm, &num_ranks);
  MPI_Comm_rank(comm, &rank_);
  sign_s_.assign(static_cast<std::size_t>(num_ranks), 0.0);
  suspected_s_.assign(sign_s_.size(), std::numeric_limits<double>::infinity());
}

void Mailbox::post(int dst, Note note, std::int32_t value, std::int64_t data) {
  outgoing_.push_back({{note, value, data}, MPI_REQUEST_NULL});
  Outgoing& out = outgoing_.back();
  MPI_Isend(&out.letter, sizeof(Letter), MPI_BYTE, dst, note_tag, comm_, &out.request);
}

void Mailbox::announce_silent(int peer) {
  for (int rank = 0; rank < static_cast<int>(sign_s_.size()); ++rank) {
    if (rank != rank_ && rank != peer) post(rank, Note::silent, peer);
  }
}

void Mailbox::poll() {
  drop_sent();
  for (;;) {
    int has_arrived = 0;
    MPI_Status status;
    const int error = MPI_Iprobe(MPI_ANY_SOURCE, note_tag, comm_, &has_arrived, &status);
    if (error != MPI_SUCCESS || has_arrived == 0) return;
    Letter letter{};
    if (MPI_Recv(&letter, sizeof letter, MPI_BYTE, status.MPI_SOURCE, note_tag, comm_,
                 MPI_STATUS_IGNORE) == MPI_SUCCESS) {
      take_in(status.MPI_SOURCE, letter);
    }
  }
}

void Mailbox::forget() {
  letters_.clear();
  soon_.clear();
  turns_.clear();
}

void Mailbox::take_in(int src, const Letter& letter) {
  sign_s_[static_cast<std::size_t>(src)] = now_s();
  switch (letter.note) {
    case Note::ping:
      post(src, Note::alive);
      break;
    case Note::silent: {
      // Perhaps only the path between those two is broken: ask, and count the time from here.
      double& suspected_s = suspected_s_[static_cast<std::size_t>(letter.value)];
      suspected_s = std::min(suspected_s, now_s());
      post(letter.value, Note::ping);
      break;
    }
    case Note::soon:
      soon_.insert(letter.value);
      break;
    case Note::turn:
      turns_.insert(letter.value);
      break;
    default:
      letters_[{src, letter.note}] = letter;
  }
}

void Mailbox::drop_sent() {
  for (auto out = outgoing_.begin(); out != outgoing_.end();) {
    int is_sent = 0;
    const int error = MPI_Test(&out->request, &is_sent, MPI_STATUS_IGNORE);
    // What failed to leave is known by the silence that follows.
    out = error != MPI_SUCCESS || is_sent != 0 ? outgoing_.erase(out) : std::next(out);
  }
}

void Mailbox::flush(double limit_s) {
  const double begin_s = now_s();
  while (!outgoing_.empty() && now_s() - begin_s < limit_s) {
    poll();
    pause(now_s() - begin_s, kShortPause_s);
  }
}

}  // namespace fairlead::probe
