// SPDX-License-Identifier: Apache-2.0
// What a handle means while its communicator is released, over an MPI of a few lines.
#include <mpi.h>

#include <thread>

#include "../../core/catch.hpp"
#include "fake_mpi.hpp"
#include "handles/communicator.hpp"
#include "pmpi/nesting.hpp"

namespace {

using fairlead::intercept::begin_release;
using fairlead::intercept::end_release;
using FoundCommunicator = fairlead::intercept::FoundFacts<fairlead::intercept::Communicator>;

MPI_Comm handle() {
  fake::set_communicators();
  return fake::some_comm();
}

FoundCommunicator find_in_another_thread(MPI_Comm comm) {
  FoundCommunicator found;
  std::thread([&] { found = fairlead::intercept::find_communicator(comm); }).join();
  return found;
}

int peer_of(const FoundCommunicator& found) {
  return found.facts->world_rank_of_peer.front();
}

// As a wrapper that is called inside another, by a callback of the program.
[[gnu::noinline]] FAIRLEAD_WRAPPER_SECTION FoundCommunicator find_as_wrapper(MPI_Comm comm) {
  FoundCommunicator found = fairlead::intercept::find_communicator(comm);
  return found;
}

[[gnu::noinline]] FAIRLEAD_WRAPPER_SECTION FoundCommunicator find_while_releasing(MPI_Comm comm) {
  begin_release(comm);
  FoundCommunicator found = find_as_wrapper(comm);
  end_release(comm);
  return found;
}

}  // namespace

TEST_CASE("release: a thread that gets the handle before the call has ended sees its own ranks") {
  const MPI_Comm comm = handle();
  fake::world_rank = 1;
  REQUIRE(find_in_another_thread(comm).is_lasting);

  begin_release(comm);
  const FoundCommunicator dying = find_in_another_thread(comm);
  fake::world_rank = 2;
  const FoundCommunicator born = find_in_another_thread(comm);
  end_release(comm);

  CHECK(peer_of(dying) == 1);
  CHECK(!dying.is_lasting);
  CHECK(peer_of(born) == 2);
  CHECK(!born.is_lasting);
  fake::world_rank = 3;
  CHECK(peer_of(find_in_another_thread(comm)) == 3);
  CHECK(find_in_another_thread(comm).is_lasting);
  begin_release(comm);
  end_release(comm);
}

TEST_CASE("release: what a callback finds inside of the call does not last") {
  const MPI_Comm comm = handle();

  CHECK(!find_while_releasing(comm).is_lasting);

  CHECK(find_as_wrapper(comm).is_lasting);
}

TEST_CASE("release: one that its thread has left by a jump is over") {
  const MPI_Comm comm = handle();

  begin_release(comm);

  CHECK(find_as_wrapper(comm).is_lasting);
  CHECK(find_in_another_thread(comm).is_lasting);
}
