// SPDX-License-Identifier: Apache-2.0
// Sending and receiving of control messages.
#include "control_channel.hpp"

#include <limits>

namespace fairlead::probe {

ControlChannel::ControlChannel(MPI_Comm comm, double silence_timeout_s)
    : comm_(comm), silence_timeout_s_(silence_timeout_s) {
  int num_ranks = 0;
  MPI_Comm_size(comm, &num_ranks);
  MPI_Comm_rank(comm, &rank_);
  sign_s_.assign(static_cast<std::size_t>(num_ranks), 0.0);
  suspected_s_.assign(sign_s_.size(), std::numeric_limits<double>::infinity());
}

void ControlChannel::post(int dst, MessageKind kind, std::int32_t value, std::int64_t data) {
  outgoing_.push_back({{kind, value, data}, MPI_REQUEST_NULL});
  Outgoing& out = outgoing_.back();
  MPI_Isend(&out.message, sizeof(Message), MPI_BYTE, dst, control_tag, comm_, &out.request);
}

void ControlChannel::announce_silent(int peer) {
  for (int rank = 0; rank < static_cast<int>(sign_s_.size()); ++rank) {
    if (rank != rank_ && rank != peer) post(rank, MessageKind::silent, peer);
  }
}

void ControlChannel::poll() {
  drop_sent();
  for (;;) {
    int has_arrived = 0;
    MPI_Status status;
    const int error = MPI_Iprobe(MPI_ANY_SOURCE, control_tag, comm_, &has_arrived, &status);
    if (error != MPI_SUCCESS || has_arrived == 0) return;
    Message message{};
    if (MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, control_tag, comm_,
                 MPI_STATUS_IGNORE) == MPI_SUCCESS) {
      take_in(status.MPI_SOURCE, message);
    }
  }
}

void ControlChannel::discard_messages() {
  messages_.clear();
  soon_.clear();
  turns_.clear();
}

void ControlChannel::take_in(int src, const Message& message) {
  sign_s_[static_cast<std::size_t>(src)] = now_s();
  switch (message.kind) {
    case MessageKind::ping:
      post(src, MessageKind::alive);
      break;
    case MessageKind::silent: {
      // Perhaps only the path between those two is broken: ask, and count the time from here.
      double& suspected_s = suspected_s_[static_cast<std::size_t>(message.value)];
      suspected_s = std::min(suspected_s, now_s());
      post(message.value, MessageKind::ping);
      break;
    }
    case MessageKind::soon:
      soon_.insert(message.value);
      break;
    case MessageKind::turn:
      turns_.insert(message.value);
      break;
    default:
      messages_[{src, message.kind}] = message;
  }
}

void ControlChannel::drop_sent() {
  for (auto out = outgoing_.begin(); out != outgoing_.end();) {
    int is_sent = 0;
    const int error = MPI_Test(&out->request, &is_sent, MPI_STATUS_IGNORE);
    // A message that could not be sent shows as silence.
    out = error != MPI_SUCCESS || is_sent != 0 ? outgoing_.erase(out) : std::next(out);
  }
}

void ControlChannel::flush(double limit_s) {
  const double begin_s = now_s();
  while (!outgoing_.empty() && now_s() - begin_s < limit_s) {
    poll();
    pause(now_s() - begin_s, kShortPause_s);
  }
}

}  // namespace fairlead::probe
