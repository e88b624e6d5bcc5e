// SPDX-License-Identifier: Apache-2.0
// The agreement over the launcher's name service (docs/design/tracing.md). Every rank publishes the
// features that it requests; rank 0 looks all of them up, and publishes those that all request.
//
// A rank that gives up waiting for rank 0 takes its own name back first, and then looks for rank 0
// once more. Rank 0 publishes its name before it reads another: so either the rank finds it, and
// waits for the verdict, or rank 0 does not find the rank, and the verdict is that none begins.
#include "session/agreement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"

namespace fairlead::intercept {
namespace {

using Clock = std::chrono::steady_clock;

// MPI_Init itself brings the ranks together, and what follows it takes milliseconds.
constexpr std::chrono::seconds kLimit{10};
constexpr std::chrono::microseconds kSecond{1'000'000};
constexpr std::chrono::microseconds kMillisecond{1000};
// The launcher answers some thousand questions a second.
constexpr std::chrono::microseconds kTurn{200};

constexpr const char* kNoLibrary = "Fairlead's library";
constexpr Features kNone{false, false};

struct World {
  std::size_t rank;
  std::size_t num_ranks;
};

World world() {
  int rank = 0;
  int num_ranks = 0;
  mpi().Comm_rank(comm_world(), &rank);
  mpi().Comm_size(comm_world(), &num_ranks);
  return {static_cast<std::size_t>(rank), static_cast<std::size_t>(num_ranks)};
}

bool is_agreed_without(const World& world) {
  return world.num_ranks == 1 || variable(kEveryRankVariable) != nullptr;
}

bool is_number(const char* text, std::size_t number) {
  return text != nullptr && std::to_string(number) == text;
}

// With MPI 5's interface, Intel MPI 2021.18 ends a program that looks up a name that is not there,
// whatever the error handlers are.
bool ends_at_missing_names() {
  if constexpr (!FAIRLEAD_STANDARD_ABI) return false;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  mpi().Get_library_version(text.data(), &length);
  return std::string_view(text.data()).starts_with("Intel(R) MPI");
}

// Slurm's PMIx has none, and Open MPI prints a box of lines on each rank that asks for it. Flux's
// PMI has none, and MPICH takes its refusal for success. Other launchers hand on what a task of
// Flux that started them was given.
bool has_name_service(const World& world) {
  if (ends_at_missing_names()) return false;
  const char* const job = variable("PMIX_NAMESPACE");
  if (job != nullptr && std::string_view(job).starts_with("slurm.pmix.")) return false;
  return !is_number(variable("FLUX_TASK_RANK"), world.rank) ||
         !is_number(variable("FLUX_JOB_SIZE"), world.num_ranks);
}

// Where each rank leaves a share of its own, it is no loss that they are not gathered. One line is
// enough for all ranks.
Features without_name_service(Features own, const World& world) {
  if (world.rank != 0) return kNone;
  const Features lost{own.trace && variable(kSharesVariable) == nullptr, own.plan};
  say_switched_off(lost, (std::string("the launcher has no name service, by which the ranks find "
                                      "each other; if all of them run with the library, set ") +
                          kEveryRankVariable)
                             .c_str());
  return kNone;
}

// A name that is not there is an error to MPI, and the program's handlers would end it. MPIs differ
// in which of the two an error without communicator goes to.
struct ReturnedErrorsOfNames {
  ReturnedErrors of_world{comm_world()};
  ReturnedErrors of_self{comm_self()};
};

// Several jobs may share a name service, and Open MPI gives each its own name.
std::string full_name(const std::string& what) {
  const char* const job = variable("PMIX_NAMESPACE");
  return std::string("fairlead.") + (job == nullptr ? "" : job) + "." + what;
}

std::string verdict_name() {
  return full_name("verdict");
}

std::string rank_name(std::size_t rank) {
  return full_name(std::to_string(rank));
}

// Only letters: for MPICH's launcher a blank is the end of a value.
std::string text_of(Features features) {
  return {features.trace ? 't' : 'n', features.plan ? 'p' : 'n'};
}

bool publish(const std::string& name, Features features) {
  return mpi().Publish_name(name.c_str(), info_null(), text_of(features).c_str()) == MPI_SUCCESS;
}

// The launcher uses the name alone.
void withdraw(const std::string& name) {
  mpi().Unpublish_name(name.c_str(), info_null(), "");
}

// Some launchers succeed for a name that is not there, and give no text or another one: MPICH by
// Slurm's PMI-2 does.
std::optional<Features> look_up(const std::string& name) {
  std::array<char, MPI_MAX_PORT_NAME + 1> text{};
  if (mpi().Lookup_name(name.c_str(), info_null(), text.data()) != MPI_SUCCESS) return std::nullopt;
  const Features found{text[0] == 't', text[1] == 'p'};
  if (text_of(found) != text.data()) return std::nullopt;
  return found;
}

std::optional<Features> wait_for(const std::string& name) {
  const Clock::time_point limit = Clock::now() + kLimit;
  for (;;) {
    const bool is_last = Clock::now() > limit;
    if (const std::optional<Features> found = look_up(name)) return found;
    if (is_last) return std::nullopt;
    std::this_thread::sleep_for(kMillisecond);
  }
}

std::string lacks(std::size_t rank, const char* what) {
  return "rank " + std::to_string(rank) + " runs without " + what;
}

// One feature on all ranks; if only some request it, the first that does not is named.
bool is_common(const std::vector<Features>& asked_by_rank, bool Features::* feature,
               const char* its_variable) {
  const auto asks = [feature](const Features& features) { return features.*feature; };
  const auto first = std::find_if_not(asked_by_rank.begin(), asked_by_rank.end(), asks);
  if (first == asked_by_rank.end()) return true;
  if (std::any_of(first, asked_by_rank.end(), asks) || first != asked_by_rank.begin()) {
    Features off{false, false};
    off.*feature = true;
    const auto rank = static_cast<std::size_t>(first - asked_by_rank.begin());
    say_switched_off(off, lacks(rank, its_variable).c_str());
  }
  return false;
}

// Rank 0 reads the requests of the others.
Features read_all(Features own, std::size_t num_ranks) {
  std::vector<Features> asked_by_rank{own};
  while (asked_by_rank.size() < num_ranks) {
    const std::size_t rank = asked_by_rank.size();
    const std::optional<Features> found = wait_for(rank_name(rank));
    if (!found) {
      say_switched_off(own, lacks(rank, kNoLibrary).c_str());
      return kNone;
    }
    asked_by_rank.push_back(*found);
  }
  return {is_common(asked_by_rank, &Features::trace, kTraceVariable),
          is_common(asked_by_rank, &Features::plan, kPlanVariable)};
}

Features decide(Features own, std::size_t num_ranks) {
  const Features verdict = read_all(own, num_ranks);
  // From here on the others rely on it.
  while (!publish(verdict_name(), verdict)) std::this_thread::sleep_for(kSecond);
  return verdict;
}

// Waits for the verdict of rank 0, if that is there at all.
std::optional<Features> hear(Features own, const World& world) {
  const Clock::time_point limit = Clock::now() + kLimit;
  bool is_withdrawn = false;
  bool is_rank_0_here = false;
  for (;;) {
    if (const std::optional<Features> verdict = look_up(verdict_name())) return verdict;
    if (!is_rank_0_here) {
      const std::optional<Features> asked = look_up(rank_name(0));
      if (asked && asked->are_none()) {
        const char* const its_variable = own.trace ? kTraceVariable : kPlanVariable;
        say_switched_off(own, lacks(0, its_variable).c_str());
        return std::nullopt;
      }
      is_rank_0_here = asked.has_value();
    }
    if (!is_rank_0_here && is_withdrawn) {
      say_switched_off(own, lacks(0, kNoLibrary).c_str());
      return std::nullopt;
    }
    if (!is_rank_0_here && Clock::now() > limit) {
      withdraw(rank_name(world.rank));
      is_withdrawn = true;
      continue;
    }
    // All ranks ask one server, so the more ranks there are, the less often each asks.
    std::this_thread::sleep_for(std::max(kMillisecond, static_cast<int>(world.num_ranks) * kTurn));
  }
}

}  // namespace

Features agree(Features own) {
  const World here = world();
  if (is_agreed_without(here)) return own;
  if (!has_name_service(here)) return without_name_service(own, here);
  const ReturnedErrorsOfNames errors;
  if (!publish(rank_name(here.rank), own)) return without_name_service(own, here);
  if (own.are_none()) return kNone;
  if (here.rank == 0) return decide(own, here.num_ranks);
  return hear(own, here).value_or(kNone);
}

void end_agreement() {
  const World here = world();
  if (is_agreed_without(here)) return;
  const ReturnedErrorsOfNames errors;
  if (here.rank == 0) withdraw(verdict_name());
  withdraw(rank_name(here.rank));
}

}  // namespace fairlead::intercept
