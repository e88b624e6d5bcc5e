// SPDX-License-Identifier: Apache-2.0
// When the question whether a receive of a synchronous message has begun is answered.
#include "catch.hpp"
#include "endpoint/match_questions.hpp"

using namespace fairlead::relay;

namespace {

constexpr std::uint32_t kSender = 3;
constexpr std::uint64_t kMessage = 7;
const MatchQuestions::Key kQuestion{kSender, 8};
using Answered = std::vector<MatchQuestions::Key>;

}  // namespace

TEST_CASE("match questions: what no probe has extracted is received") {
  MatchQuestions questions;

  CHECK(questions.ask(kQuestion, question_about(kMessage)) == Answered{kQuestion});
}

TEST_CASE("match questions: what a probe has extracted waits for its receive") {
  MatchQuestions questions;
  questions.begin_extraction(kSender);
  CHECK(questions.end_extraction(kSender, kMessage).empty());

  CHECK(questions.ask(kQuestion, question_about(kMessage)).empty());
  CHECK(questions.note_receive(kSender, kMessage) == Answered{kQuestion});
  CHECK(questions.note_receive(kSender, kMessage).empty());
}

TEST_CASE(
    "match questions: while a probe receives a rendezvous header of the sender none is answered") {
  MatchQuestions questions;
  questions.begin_extraction(kSender);
  CHECK(questions.ask(kQuestion, question_about(kMessage)).empty());

  SECTION("it was another message") {
    CHECK(questions.end_extraction(kSender, kMessage + 1) == Answered{kQuestion});
  }
  SECTION("it was an ordinary one") {
    CHECK(questions.end_extraction(kSender, std::nullopt) == Answered{kQuestion});
  }
  SECTION("it was this one") {
    CHECK(questions.end_extraction(kSender, kMessage).empty());
    CHECK(questions.note_receive(kSender, kMessage) == Answered{kQuestion});
  }
  SECTION("another thread extracts one, too") {
    questions.begin_extraction(kSender);
    CHECK(questions.end_extraction(kSender, std::nullopt).empty());
    CHECK(questions.end_extraction(kSender, std::nullopt) == Answered{kQuestion});
  }
}

TEST_CASE("match questions: other senders are answered meanwhile") {
  MatchQuestions questions;
  questions.begin_extraction(kSender);

  CHECK(questions.ask({kSender + 1, 9}, question_about(kMessage)) == Answered{{kSender + 1, 9}});
}
