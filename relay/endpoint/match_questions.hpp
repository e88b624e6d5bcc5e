// SPDX-License-Identifier: Apache-2.0
// Which synchronous sends to this process may complete. A probe that receives a rendezvous header
// completes its send in the MPI before there is a receive, so senders ask here whether there is
// one. Pure: no sockets, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "wire/little_endian.hpp"

namespace fairlead::relay {

/// A message of this size is such a question, and holds the number of another one of its sender. No
/// message of the program that goes by routers is as small. It is answered by a match.
inline constexpr std::size_t kQuestionBytes = sizeof(std::uint64_t);

[[nodiscard]] inline std::vector<std::byte> question_about(std::uint64_t message) {
  std::vector<std::byte> bytes(kQuestionBytes);
  Writer(bytes).number(message);
  return bytes;
}

class MatchQuestions {
 public:
  /// Rank of a sender, and the number of a message of its own.
  using Key = std::pair<std::uint32_t, std::uint64_t>;

  /// A probe is about to receive a rendezvous header of the sender, whose number it does not know
  /// yet.
  void begin_extraction(std::uint32_t src_rank) { ++num_extractions_of_rank_[src_rank]; }
  /// @param extracted  the message, if it waits for a receive
  /// @return questions that are answered now
  [[nodiscard]] std::vector<Key> end_extraction(std::uint32_t src_rank,
                                                std::optional<std::uint64_t> extracted) {
    --num_extractions_of_rank_[src_rank];
    if (extracted) unreceived_.insert({src_rank, *extracted});
    return take_answerable();
  }
  /// A receive has begun. @return the same
  [[nodiscard]] std::vector<Key> note_receive(std::uint32_t src_rank, std::uint64_t message) {
    unreceived_.erase({src_rank, message});
    return take_answerable();
  }
  /// Takes a question that has arrived. @pre content has kQuestionBytes  @return the same
  [[nodiscard]] std::vector<Key> ask(const Key& question, std::span<const std::byte> content) {
    const auto about = Reader(content).number<std::uint64_t>();
    waiting_.push_back({question, {question.first, about}});
    return take_answerable();
  }

 private:
  struct Question {
    Key own;
    Key about;
  };

  [[nodiscard]] bool is_answerable(const Question& question) const {
    const auto extractions = num_extractions_of_rank_.find(question.about.first);
    const bool is_extracting =
        extractions != num_extractions_of_rank_.end() && extractions->second > 0;
    return !is_extracting && !unreceived_.contains(question.about);
  }

  std::vector<Key> take_answerable() {
    std::vector<Key> answered;
    std::erase_if(waiting_, [&](const Question& question) {
      if (!is_answerable(question)) return false;
      answered.push_back(question.own);
      return true;
    });
    return answered;
  }

  std::map<std::uint32_t, int> num_extractions_of_rank_;
  /// What probes have extracted and no receive has taken.
  std::set<Key> unreceived_;
  std::vector<Question> waiting_;
};

}  // namespace fairlead::relay
