// SPDX-License-Identifier: Apache-2.0
#include "relay/match_question.hpp"

#include <mutex>
#include <thread>
#include <utility>

#include "endpoint/match_questions.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/relay.hpp"

namespace fairlead::intercept::relay {

MatchQuestion::MatchQuestion(std::uint32_t dst_rank, std::uint64_t message)
    : dst_rank_(dst_rank), message_(message), number_(feature().messenger->reserve(dst_rank)) {}

bool MatchQuestion::is_matched() {
  Relay& relay = feature();
  if (!std::exchange(is_asked_, true)) {
    {
      const std::lock_guard guard(relay.questions_lock);
      relay.unanswered.insert({dst_rank_, number_});
    }
    relay.messenger->post({dst_rank_, number_, TransferMode::direct},
                          fairlead::relay::question_about(message_));
  }
  const std::lock_guard guard(relay.questions_lock);
  return !relay.unanswered.contains({dst_rank_, number_});
}

void MatchQuestion::wait() {
  while (!is_matched()) make_progress();
}

void make_progress() {
  int flag = 0;
  mpi().Iprobe(0, kSelfSendTag, feature().self, &flag, MPI_STATUS_IGNORE);
  std::this_thread::yield();
}

}  // namespace fairlead::intercept::relay
