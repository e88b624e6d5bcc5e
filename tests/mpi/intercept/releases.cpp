// SPDX-License-Identifier: Apache-2.0
// What a handle means while its communicator is released, over an MPI of a few lines.
#include <mpi.h>

#include <thread>

#include "../../core/catch.hpp"
#include "handles/communicator.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/nesting.hpp"

namespace {

int owner = 0;  // world rank of the only member of every communicator

template <class Result, class... Parameters>
Result succeed(Parameters...) {
  return MPI_SUCCESS;
}

template <class Result, class... Parameters>
void set(Result (*&function)(Parameters...)) {
  function = &succeed<Result, Parameters...>;
}

int group_of_one(MPI_Group, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int owner_of_rank(MPI_Group, int, const int*, MPI_Group, int* ranks) {
  *ranks = owner;
  return MPI_SUCCESS;
}

}  // namespace

namespace fairlead::intercept {

constinit Mpi detail::bound_mpi;
MPI_Comm comm_world() noexcept {
  return {};
}

}  // namespace fairlead::intercept

namespace {

using fairlead::intercept::begin_release;
using fairlead::intercept::end_release;
using fairlead::intercept::FoundCommunicator;

MPI_Comm handle() {
  fairlead::intercept::Mpi& mpi = fairlead::intercept::detail::bound_mpi;
  set(mpi.Comm_test_inter);
  set(mpi.Comm_size);
  set(mpi.Comm_rank);
  set(mpi.Comm_group);
  set(mpi.Topo_test);
  set(mpi.Group_free);
  mpi.Group_size = &group_of_one;
  mpi.Group_translate_ranks = &owner_of_rank;
  return (MPI_Comm)0x440;
}

FoundCommunicator find_in_another_thread(MPI_Comm comm) {
  FoundCommunicator found;
  std::thread([&] { found = fairlead::intercept::find_communicator(comm); }).join();
  return found;
}

int peer_of(const FoundCommunicator& found) {
  return found.communicator->world_rank_of_peer.front();
}

// As a wrapper calls another: by a callback of the program's.
FAIRLEAD_WRAPPER_SECTION [[gnu::noinline]] FoundCommunicator find_as_wrapper(MPI_Comm comm) {
  FoundCommunicator found = fairlead::intercept::find_communicator(comm);
  return found;
}

FAIRLEAD_WRAPPER_SECTION [[gnu::noinline]] FoundCommunicator find_while_releasing(MPI_Comm comm) {
  begin_release(comm);
  FoundCommunicator found = find_as_wrapper(comm);
  end_release(comm);
  return found;
}

}  // namespace

TEST_CASE(
    "release: a thread that gets the handle before the call has ended is told its own ranks") {
  const MPI_Comm comm = handle();
  owner = 1;
  REQUIRE(find_in_another_thread(comm).is_lasting);

  begin_release(comm);
  const FoundCommunicator dying = find_in_another_thread(comm);
  owner = 2;
  const FoundCommunicator born = find_in_another_thread(comm);
  end_release(comm);

  CHECK(peer_of(dying) == 1);
  CHECK(!dying.is_lasting);
  CHECK(peer_of(born) == 2);
  CHECK(!born.is_lasting);
  owner = 3;
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
