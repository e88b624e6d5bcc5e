// SPDX-License-Identifier: Apache-2.0
// What the MPI is asked about arguments, over an MPI of a few lines.
#include "collectives/accepted_arguments.hpp"

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <thread>

#include "../../core/catch.hpp"
#include "fake_mpi.hpp"

namespace fairlead::intercept {

MPI_Comm comm_self() noexcept {
  return {};
}
MPI_Datatype double_type() noexcept {
  return {};
}
MPI_Op op_max() noexcept {
  return {};
}
MPI_Errhandler errors_return() noexcept {
  return {};
}

}  // namespace fairlead::intercept

namespace {

using namespace fairlead::intercept;

int asked_count = 0;
bool may_ask_too = true;
int num_freed = 0;
bool has_another_failed = false;

// As of a thread that asks at the same time.
void ask_in_another_thread() {
  std::thread([] {
    may_ask_too = asking_lock().try_lock();
    if (may_ask_too) asking_lock().unlock();
  }).join();
}

int reduce_on_itself(const void*, void*, int count, MPI_Datatype, MPI_Op, MPI_Comm) {
  asked_count = count;
  ask_in_another_thread();
  return MPI_SUCCESS;
}
int move_on_itself(const void*, int count, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  asked_count = count;
  ask_in_another_thread();
  return MPI_SUCCESS;
}
// As if this rank and another one agreed.
int agree(const void*, void* has_failed, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  if (has_another_failed) *static_cast<double*>(has_failed) = 1.0;
  return MPI_SUCCESS;
}
int fail_to_split(MPI_Comm, int, int, MPI_Comm*) {
  return MPI_ERR_OTHER;
}
int count_free(MPI_Comm*) {
  ++num_freed;
  return MPI_SUCCESS;
}
int return_four_bytes(MPI_Datatype, MPI_Aint* lower, MPI_Aint* extent) {
  *lower = 0;
  *extent = 4;
  return MPI_SUCCESS;
}
int return_rank_three(MPI_Comm, int* rank) {
  *rank = 3;
  return MPI_SUCCESS;
}

Mpi& begin() {
  Mpi& mpi = detail::bound_mpi;
  fake::let_succeed(mpi.Comm_get_errhandler);
  fake::let_succeed(mpi.Comm_set_errhandler);
  fake::let_succeed(mpi.Errhandler_free);
  fake::let_succeed(mpi.Comm_split);
  mpi.Comm_free = &count_free;
  mpi.Allreduce = &agree;
  asked_count = num_freed = 0;
  may_ask_too = true;
  has_another_failed = false;
  return mpi;
}

MPI_Datatype some_type() {
  return (MPI_Datatype)0x770;
}
MPI_Op some_op() {
  return (MPI_Op)0x880;
}

}  // namespace

TEST_CASE("arguments: a reduction on its own values is asked of one, by one thread at a time") {
  begin().Allreduce = &reduce_on_itself;
  int values[4] = {};

  CHECK(may_reduce(values, values, 1 << 20, some_type(), some_op()));

  CHECK(asked_count == 1);
  CHECK(!may_ask_too);
}

TEST_CASE("arguments: blocks that are moved onto themselves are asked of one, the same way") {
  begin().Alltoall = &move_on_itself;
  int values[4] = {};

  CHECK(may_move(values, 1 << 20, some_type(), values, 1 << 20, some_type()));

  CHECK(asked_count == 1);
  CHECK(!may_ask_too);
}

TEST_CASE("arguments: the own block among those at absolute addresses is at its address") {
  Mpi& mpi = begin();
  mpi.Type_get_extent = &return_four_bytes;
  mpi.Comm_rank = &return_rank_three;

  const void* const block = own_block(nullptr, 5, some_type(), fake::some_comm());

  CHECK(reinterpret_cast<std::uintptr_t>(block) == 3 * 5 * 4);
}

TEST_CASE("arguments: where a rank cannot ask, no rank does") {
  Mpi& mpi = begin();
  SECTION("all can") {
    REQUIRE(begin_argument_check() == MPI_SUCCESS);
    end_argument_check();
    CHECK(num_freed == 1);
  }
  SECTION("this one cannot") {
    mpi.Comm_split = &fail_to_split;
    CHECK(begin_argument_check() == MPI_ERR_OTHER);
    end_argument_check();
    CHECK(num_freed == 0);
  }
  SECTION("another one cannot") {
    has_another_failed = true;
    CHECK(begin_argument_check() != MPI_SUCCESS);
    CHECK(num_freed == 1);
  }
}
