// SPDX-License-Identifier: Apache-2.0
// Persistent requests of relayed messages, and what is kept of communicators, over an MPI of a few
// lines: what happens in a moment that no program can choose.
#include <mpi.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/catch.hpp"
#include "fake_mpi.hpp"
#include "handles/communicator.hpp"
#include "pmpi/nesting.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept {

// There are no wrappers here, and nesting.cpp looks for the section that they stand in.
[[gnu::used]] FAIRLEAD_WRAPPER_SECTION static void wrapper() {}

MPI_Comm comm_null() noexcept {
  return {};
}
MPI_Comm comm_self() noexcept {
  return {};
}
MPI_Datatype byte_type() noexcept {
  return {};
}
MPI_Datatype datatype_null() noexcept {
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
MPI_Request request_null() noexcept {
  return {};
}

// One rank, on the other host.
std::vector<int> world_ranks_of(MPI_Group) {
  return {1};
}

namespace relay {

Relay& feature() {
  static Relay relay;
  return relay;
}
std::optional<PendingSend> begin_send(std::uint32_t dst_rank, std::uint64_t, bool) {
  return PendingSend{.dst_rank = dst_rank};
}
void count_by_mpi(std::uint32_t, std::uint64_t) {}
bool is_worth_relaying(std::uint32_t, std::uint64_t) {
  return true;
}

}  // namespace relay
}  // namespace fairlead::intercept

namespace {

using namespace fairlead::intercept;
using relay::Entry;
using relay::Peers;

MPI_Comm other_comm() {
  return (MPI_Comm)0x441;
}
MPI_Request some_request() {
  return (MPI_Request)0x660;
}

// Attributes as in old versions of Open MPI, which hold one lock for all of them, also while it
// calls back.
struct Attributes {
  std::mutex lock;
  std::map<MPI_Comm, void*> value_of_comm;
  MPI_Comm_delete_attr_function* forget = nullptr;
  // Called before the lock is taken.
  void (*before_look)() = [] {};
};
Attributes attributes;

int create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function* forget, int* key,
                  void*) {
  attributes.forget = forget;
  *key = 1;
  return MPI_SUCCESS;
}
int get_attribute(MPI_Comm comm, int, void* value, int* is_there) {
  attributes.before_look();
  const std::lock_guard guard(attributes.lock);
  const auto found = attributes.value_of_comm.find(comm);
  *is_there = found != attributes.value_of_comm.end() ? 1 : 0;
  if (*is_there != 0) *static_cast<void**>(value) = found->second;
  return MPI_SUCCESS;
}
int set_attribute(MPI_Comm comm, int, void* value) {
  const std::lock_guard guard(attributes.lock);
  attributes.value_of_comm[comm] = value;
  return MPI_SUCCESS;
}

void begin() {
  Mpi& mpi = detail::bound_mpi;
  fake::set_communicators();
  mpi.Comm_create_keyval = &create_keyval;
  mpi.Comm_get_attr = &get_attribute;
  mpi.Comm_set_attr = &set_attribute;
  relay::feature().host_of_rank = {0, 1};
}

std::unique_ptr<Entry> entry_of(Entry::Kind kind) {
  auto entry = std::make_unique<Entry>();
  entry->kind = kind;
  entry->peers = relay::peers_of(fake::some_comm());
  return entry;
}

Peers* peers_of_receive = nullptr;
bool may_probe = true;

// A probe of another thread has to take the lock.
int start_during_a_probe(MPI_Request*) {
  std::thread([] {
    may_probe = peers_of_receive->lock.try_lock();
    if (may_probe) peers_of_receive->lock.unlock();
  }).join();
  return MPI_SUCCESS;
}

int num_started = 0;
int num_reported = 0;

int count_start(MPI_Request*) {
  ++num_started;
  return MPI_SUCCESS;
}
int count_report(MPI_Comm, int) {
  ++num_reported;
  return MPI_SUCCESS;
}
int return_derived(MPI_Datatype, int* num_integers, int* num_addresses, int* num_types,
                   int* combiner) {
  *num_integers = *num_addresses = *num_types = 1;
  *combiner = MPI_COMBINER_VECTOR;
  return MPI_SUCCESS;
}
int set_hundred_bytes(MPI_Datatype, MPI_Count* bytes) {
  *bytes = 100;
  return MPI_SUCCESS;
}
int fail_to_pack(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm) {
  return MPI_ERR_OTHER;
}

std::atomic<bool> is_looking{false};
std::atomic<bool> is_freeing{false};

void look_while_another_is_freed() {
  if (is_looking.exchange(true)) return;
  is_looking.notify_all();
  is_freeing.wait(false);
}

// As in MPI_Comm_free.
void free_communicator(MPI_Comm comm) {
  is_looking.wait(false);
  const std::lock_guard guard(attributes.lock);
  is_freeing = true;
  is_freeing.notify_all();
  attributes.forget(comm, 1, attributes.value_of_comm.at(comm), nullptr);
  attributes.value_of_comm.erase(comm);
}

}  // namespace

TEST_CASE("relayed: no probe comes between the look at unexpected messages and a receive's start") {
  begin();
  auto entry = entry_of(Entry::Kind::persistent_receive);
  peers_of_receive = entry->peers.get();
  relay::feature().requests.insert(some_request(), std::move(entry));
  detail::bound_mpi.Start = &start_during_a_probe;

  MPI_Request request = some_request();
  REQUIRE(relay::Start(&request) == MPI_SUCCESS);

  CHECK(!may_probe);
  REQUIRE(relay::feature().requests.extract(&request) != nullptr);
}

TEST_CASE(
    "relayed: a persistent send that cannot be packed fails, and no rendezvous header is sent") {
  begin();
  auto entry = entry_of(Entry::Kind::persistent_send);
  const char byte = 0;
  entry->send_buffer = &byte;
  entry->send_count = 1;
  entry->header = std::make_unique<relay::RendezvousHeaderBytes>();
  relay::feature().requests.insert(some_request(), std::move(entry));
  Mpi& mpi = detail::bound_mpi;
  mpi.Type_get_envelope = &return_derived;
  mpi.Type_size_x = &set_hundred_bytes;
  mpi.Pack = &fail_to_pack;
  mpi.Start = &count_start;
  mpi.Comm_call_errhandler = &count_report;

  MPI_Request request = some_request();
  const int code = relay::Start(&request);

  CHECK(code != MPI_SUCCESS);
  CHECK(num_started == 0);
  CHECK(num_reported == 1);
  REQUIRE(relay::feature().requests.extract(&request) != nullptr);
}

TEST_CASE("relayed: a communicator is looked up while another thread frees one") {
  begin();
  REQUIRE(relay::peers_of(other_comm()) != nullptr);
  attributes.before_look = &look_while_another_is_freed;

  std::shared_ptr<Peers> found;
  std::thread looking([&] { found = relay::peers_of(fake::some_comm()); });
  free_communicator(other_comm());
  looking.join();

  CHECK(found->has_remote);
  attributes.before_look = [] {};
}
