// SPDX-License-Identifier: Apache-2.0
// The two slots of a row at work, over an MPI of a few lines.
#include <mpi.h>

#include "../../core/catch.hpp"
#include "entries.hpp"
#include "fake_mpi.hpp"
#include "table/handlers.hpp"
#include "trace/recorder.hpp"

namespace {

int set_eight_bytes(MPI_Datatype, MPI_Count* bytes) {
  *bytes = 8;
  return MPI_SUCCESS;
}

}  // namespace

namespace fairlead::intercept {

constinit OriginalCalls detail::handlers;

bool bind_mpi() noexcept {
  return true;
}

}  // namespace fairlead::intercept

namespace {

using namespace fairlead::intercept;

const char kOutgoing = 0;
char incoming = 0;
int num_handled = 0;

MPI_Datatype some_type() {
  return (MPI_Datatype)0x880;
}

// By the entry, as a callback of the program calls it.
int handle_allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  ++num_handled;
  return MPI_Send(&kOutgoing, 1, some_type(), 0, 0, fake::some_comm());
}

// Sets both slots: an MPI whose calls succeed, and tracing.
void begin(bool is_traced) {
  Mpi& mpi = detail::bound_mpi;
#define SET(name, ...) fake::let_succeed(mpi.name);
#define CALL(...) SET(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
  fake::set_communicators();
  mpi.Type_size_x = &set_eight_bytes;
  detail::handlers = mpi;
  num_handled = 0;
  prepare_records(1);
  recording = is_traced;
}

std::uint64_t num_collectives() {
  std::uint64_t calls = 0;
  sum_of_records(1)->collectives.for_each(
      [&calls](const CollectiveTally& entry) { calls += entry.calls; });
  return calls;
}

int allreduce() {
  return MPI_Allreduce(&kOutgoing, &incoming, 3, some_type(), MPI_Op{}, fake::some_comm());
}

}  // namespace

TEST_CASE("slots: a collective is handled and counted, but not what its handler sends") {
  begin(true);
  detail::handlers.Allreduce = &handle_allreduce;
  enter_wrappers();
  const std::uint64_t calls_before = num_collectives();
  const std::uint64_t messages_before = sum_of_records(1)->sent[0].messages;

  CHECK(allreduce() == MPI_SUCCESS);

  CHECK(num_handled == 1);
  CHECK(num_collectives() == calls_before + 1);
  CHECK(sum_of_records(1)->sent[0].messages == messages_before);
}

TEST_CASE("slots: a call is handled where nothing is traced") {
  begin(false);
  detail::handlers.Allreduce = &handle_allreduce;
  enter_wrappers();

  CHECK(allreduce() == MPI_SUCCESS);

  CHECK(num_handled == 1);
}

TEST_CASE("slots: a call without a handler is counted") {
  begin(true);
  enter_wrappers();
  const std::uint64_t calls_before = num_collectives();

  CHECK(allreduce() == MPI_SUCCESS);

  CHECK(num_handled == 0);
  CHECK(num_collectives() == calls_before + 1);
}
