// SPDX-License-Identifier: Apache-2.0
// Which communicators are being freed, as features ask in delete callbacks.
#include <mpi.h>

#include <memory>
#include <thread>

#include "../../core/catch.hpp"
#include "fake_mpi.hpp"
#include "handles/releases.hpp"
#include "pmpi/nesting.hpp"

namespace fairlead::intercept {

// There are no wrappers here, and nesting.cpp looks for the section that they stand in.
[[gnu::used]] FAIRLEAD_WRAPPER_SECTION static void wrapper() {}

}  // namespace fairlead::intercept

namespace {

using namespace fairlead::intercept;

MPI_Comm other_comm() {
  return (MPI_Comm)0x441;
}

struct Found {
  bool in_callback = false;
  bool of_another = false;
  bool in_another_thread = false;
};

// As a handler that frees one, and a callback of the program in it.
[[gnu::noinline]] FAIRLEAD_RELEASE_SECTION Found free_and_look(MPI_Comm comm) {
  begin_freeing(comm);
  Found found{.in_callback = is_being_freed(comm), .of_another = is_being_freed(other_comm())};
  // The MPI may have given the handle to another thread, before this call ends.
  std::thread([&] { found.in_another_thread = is_being_freed(comm); }).join();
  end_freeing(comm);
  return found;
}

[[gnu::noinline]] FAIRLEAD_RELEASE_SECTION std::shared_ptr<void> keep_and_look(MPI_Comm comm) {
  ask_before_freeing([](MPI_Comm) -> std::shared_ptr<void> { return std::make_shared<int>(1); });
  begin_freeing(comm);
  std::shared_ptr<void> kept = kept_while_freed(comm);
  keep_while_freed(comm, std::make_shared<int>(2));
  if (*std::static_pointer_cast<int>(kept) == 1) kept = kept_while_freed(comm);
  end_freeing(comm);
  ask_before_freeing(nullptr);
  return kept;
}

// A jump out of a callback leaves it so.
[[gnu::noinline]] FAIRLEAD_RELEASE_SECTION void leave_by_a_jump(MPI_Comm comm) {
  begin_freeing(comm);
}

}  // namespace

TEST_CASE("freeing: a communicator is being freed in the thread of the call, until it ends") {
  const MPI_Comm comm = fake::some_comm();
  CHECK(!is_being_freed(comm));

  const Found found = free_and_look(comm);

  CHECK(found.in_callback);
  CHECK(!found.of_another);
  CHECK(!is_being_freed(comm));
}

TEST_CASE("freeing: a thread that has got the handle anew does not take it for the freed one") {
  CHECK(!free_and_look(fake::some_comm()).in_another_thread);
}

TEST_CASE("freeing: what is known of a communicator is kept until the call ends") {
  const MPI_Comm comm = fake::some_comm();

  const auto kept = std::static_pointer_cast<int>(keep_and_look(comm));

  REQUIRE(kept != nullptr);
  CHECK(*kept == 2);
  CHECK(kept_while_freed(comm) == nullptr);
}

TEST_CASE("freeing: a call that its thread has left by a jump is over") {
  const MPI_Comm comm = fake::some_comm();

  leave_by_a_jump(comm);

  CHECK(!is_being_freed(comm));
}
