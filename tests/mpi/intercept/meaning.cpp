// SPDX-License-Identifier: Apache-2.0
// What calls mean, and the tables that count them, without any MPI at work.
#include "trace/meaning.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>

#include "../../core/catch.hpp"
#include "trace/call_time.hpp"
#include "trace/counters.hpp"
#include "trace/record.hpp"

using namespace fairlead::intercept;

namespace {

// Each handle is a number, that of a type its size.
template <class Handle>
Handle handle(std::uintptr_t bits) {
  return (Handle)bits;
}

MPI_Datatype type_of_size(std::uintptr_t bytes) {
  return handle<MPI_Datatype>(bytes);
}
std::uint64_t size_of_type(MPI_Datatype type) {
  return (std::uint64_t)(std::uintptr_t)type;
}

using Parts = std::map<int, std::uint64_t>;

// One rank's view of a call: what it hands in, and what goes to each peer.
struct View {
  Communicator communicator;
  Parts parts;

  auto collective() {
    const auto emit = [this](int peer, std::uint64_t bytes) { parts[peer] += bytes; };
    return Collective<decltype(emit)>(communicator, &size_of_type, emit);
  }
};

View rank_of(int rank, int size) {
  View view;
  view.communicator.size = size;
  view.communicator.rank = rank;
  for (int peer = 0; peer < size; ++peer) {
    view.communicator.world_rank_of_peer.push_back(10 * peer);
  }
  return view;
}

View rank_of_inter(int rank, int size, int remote_size) {
  View view = rank_of(rank, remote_size);
  view.communicator.size = size;
  view.communicator.is_inter = true;
  return view;
}

const int kBuffer = 0;

}  // namespace

TEST_CASE("payload: counts and sizes are widened before they are multiplied") {
  CHECK(payload_bytes(2147483647, 8) == 17179869176U);
  CHECK(payload_bytes(0, 8) == 0);
}

TEST_CASE("gather: with MPI_IN_PLACE the root hands in its part of the receive buffer") {
  View root = rank_of(0, 3);
  CHECK(root.collective().gather(&kBuffer, 5, type_of_size(4), 9, type_of_size(2), 0) == 20);
  CHECK(root.collective().gather(MPI_IN_PLACE, 5, type_of_size(4), 9, type_of_size(2), 0) == 18);
}

TEST_CASE("gatherv and allgatherv: the own part is the one of the own rank") {
  View second = rank_of(1, 3);
  const std::array counts = {1, 20, 300};
  const MPI_Datatype ints = type_of_size(4);
  CHECK(second.collective().gather_v(MPI_IN_PLACE, 0, ints, counts.data(), ints, 1) == 80);
  CHECK(second.collective().allgather_v(MPI_IN_PLACE, 0, ints, counts.data(), ints) == 80);
  CHECK(second.collective().allgather_v<int>(&kBuffer, 7, ints, nullptr, ints) == 28);
}

TEST_CASE("scatter: root and others have the part of one rank") {
  View view = rank_of(2, 3);
  const std::array counts = {1, 20, 300};
  CHECK(view.collective().scatter(5, type_of_size(4), 10, type_of_size(2), 2) == 20);
  CHECK(view.collective().scatter(0, type_of_size(4), 11, type_of_size(2), 0) == 22);
  CHECK(view.collective().scatter_v(counts.data(), type_of_size(4), 0, type_of_size(1), 2) == 1200);
  CHECK(view.collective().scatter_v<int>(nullptr, type_of_size(4), 6, type_of_size(2), 0) == 12);
}

TEST_CASE("root: kept of the calls that have one") {
  View view = rank_of(0, 3);
  const MPI_Datatype ints = type_of_size(4);
  const auto root_after = [&view](auto call) {
    const auto collective = view.collective();
    (void)call(collective);
    return collective.root();
  };
  CHECK(root_after([&](const auto& c) { return c.broadcast(5, ints, 2); }) == 2);
  CHECK(root_after([&](const auto& c) { return c.reduce_to(5, ints, 2); }) == 2);
  CHECK(root_after([&](const auto& c) { return c.gather(&kBuffer, 5, ints, 5, ints, 2); }) == 2);
  CHECK(root_after([&](const auto& c) { return c.scatter(5, ints, 5, ints, 2); }) == 2);
  CHECK(root_after([&](const auto& c) { return c.reduce(5, ints); }) == kNoRoot);
  view.communicator.is_inter = true;
  CHECK(root_after([&](const auto& c) { return c.broadcast(5, ints, MPI_ROOT); }) == kNoRoot);
}

TEST_CASE("intercommunicator: the root's group hands in nothing to a gather or reduce") {
  View view = rank_of_inter(0, 2, 3);
  const MPI_Datatype ints = type_of_size(4);
  for (const int root : {MPI_ROOT, MPI_PROC_NULL}) {
    CHECK(view.collective().gather(&kBuffer, 5, ints, 5, ints, root) == 0);
    CHECK(view.collective().reduce_to(5, ints, root) == 0);
  }
  CHECK(view.collective().reduce_to(5, ints, 1) == 20);
  CHECK(view.collective().broadcast(5, ints, MPI_PROC_NULL) == 0);
  CHECK(view.collective().broadcast(5, ints, MPI_ROOT) == 20);
}

TEST_CASE("intercommunicator: alltoall goes to all of the remote group") {
  View view = rank_of_inter(1, 2, 3);
  const MPI_Datatype ints = type_of_size(4);
  CHECK(view.collective().alltoall(&kBuffer, 5, ints, 5, ints) == 60);
  CHECK(view.parts == Parts{{0, 20}, {1, 20}, {2, 20}});
}

TEST_CASE("alltoall: the own part stays, in place the receive buffer counts") {
  View view = rank_of(1, 3);
  CHECK(view.collective().alltoall(MPI_IN_PLACE, 0, type_of_size(1), 7, type_of_size(2)) == 42);
  CHECK(view.parts == Parts{{0, 14}, {2, 14}});
}

TEST_CASE("alltoallv and alltoallw: empty parts are no messages") {
  const std::array counts = {0, 2, 3};
  const std::array types = {MPI_Datatype{}, type_of_size(4), type_of_size(8)};
  View by_v = rank_of(0, 3);
  View by_w = rank_of(0, 3);
  CHECK(by_v.collective().alltoall_v<int>(&kBuffer, counts.data(), type_of_size(4), nullptr,
                                          type_of_size(1)) == 20);
  CHECK(by_v.parts == Parts{{1, 8}, {2, 12}});
  CHECK(by_w.collective().alltoall_w<int>(&kBuffer, counts.data(), types.data(), nullptr,
                                          nullptr) == 32);
  CHECK(by_w.parts == Parts{{1, 8}, {2, 24}});
}

TEST_CASE("neighbours: parts follow the send buffer, beyond an edge there is no rank") {
  View view = rank_of(0, 4);
  view.communicator.neighbors = {MPI_PROC_NULL, 3, 0, 3};
  const std::array counts = {9, 1, 2, 4};
  CHECK(view.collective().neighbor_alltoall_v(counts.data(), type_of_size(10)) == 70);
  CHECK(view.parts == Parts{{0, 20}, {3, 50}});
  view.parts.clear();
  CHECK(view.collective().neighbor_allgather(2, type_of_size(10)) == 20);
  CHECK(view.parts == Parts{{0, 20}, {3, 40}});
}

TEST_CASE("reduce_scatter: the send buffer has a part for each rank") {
  View view = rank_of(0, 3);
  const std::array counts = {1, 20, 300};
  CHECK(view.collective().reduce_scatter(counts.data(), type_of_size(2)) == 642);
  CHECK(view.collective().reduce_scatter_block(7, type_of_size(2)) == 42);
}

TEST_CASE("table of collectives: loses no call before it is full, then counts what it drops") {
  auto table = std::make_unique<CollectiveTable>();
  constexpr int kSizes = 5000;
  for (int size = 1; size <= kSizes; ++size) {
    table->add({.call = Call::Bcast, .communicator_size = size, .message_bytes = 3, .calls = 1});
  }
  std::uint64_t calls = 0;
  std::size_t entries = 0;
  table->for_each([&](const CollectiveTally& entry) {
    calls += entry.calls;
    ++entries;
  });
  CHECK(entries == CollectiveTable::kCapacity);
  CHECK(calls + table->num_dropped() == kSizes);
}

TEST_CASE("table of collectives: roots are apart until it is crowded, communicators always") {
  auto table = std::make_unique<CollectiveTable>();
  constexpr int kRoots = 4096;
  for (const std::uint64_t communicator : {1U, 2U}) {
    for (int root = 0; root < kRoots; ++root) {
      table->add({.call = Call::Bcast,
                  .root = root,
                  .communicator_size = kRoots,
                  .communicator = communicator,
                  .message_bytes = 1000,
                  .calls = 1});
    }
  }
  std::map<std::uint64_t, std::uint64_t> calls_of_communicator;
  std::size_t with_root = 0;
  table->for_each([&](const CollectiveTally& entry) {
    calls_of_communicator[entry.communicator] += entry.calls;
    if (entry.root >= 0) ++with_root;
    CHECK((entry.root >= 0 ? entry.message_bytes == 1000 : entry.message_bytes == 1024));
    CHECK((entry.root >= 0 || entry.root == kSeveralRoots));
  });
  CHECK(with_root == CollectiveTable::kExact);
  CHECK(calls_of_communicator == std::map<std::uint64_t, std::uint64_t>{{1, kRoots}, {2, kRoots}});
  CHECK(table->num_dropped() == 0);
}

TEST_CASE("communicators: recorded by their first rank, once, and up to a bound") {
  Communicator first{.size = 2, .rank = 0, .id = 7, .world_rank_of_peer = {5, 3}, .neighbors = {}};
  Communicator second = first;
  second.rank = 1;
  second.id = 8;
  Communicator unknown = first;
  unknown.id = 0;
  CommunicatorMembers members;
  for (const Communicator& one : {first, first, second, unknown}) members.add(one);
  CHECK(members.members_of_id() == std::map<std::uint64_t, std::vector<int>>{{7, {5, 3}}});

  Communicator large = first;
  large.world_rank_of_peer.resize(CommunicatorMembers::kMostMembers / 2);
  for (const std::uint64_t id : {10U, 11U, 12U}) {
    large.id = id;
    members.add(large);
  }
  CHECK(members.members_of_id().size() == 2);
}

TEST_CASE("record: a rank computes while it is not in a call, if one thread alone calls") {
  Counters main_thread(2), other_thread(2), windows(2);
  main_thread.call_time.begin(100);
  main_thread.call_time.end(400);
  main_thread.call_time.begin(1000);  // and still in it
  other_thread.call_time.begin(100);
  other_thread.call_time.end(105);
  windows.one_sided_calls = 1;
  const auto computing = [](std::initializer_list<const Counters*> threads) {
    Counters sum(2);
    for (const Counters* thread : threads) sum.add(*thread, 1100);
    return record_of_rank(1, 2.0, sum, 0.001, "h1").computing.at(0);
  };

  CHECK(computing({}).seconds == 2.0);
  CHECK(computing({&main_thread}).seconds == Approx(2.0 - 0.4));
  CHECK(std::isnan(computing({&main_thread, &other_thread}).seconds));
  CHECK(std::isnan(computing({&windows}).seconds));
  CHECK((computing({}).rank == 1 && std::string(computing({}).host) == "h1"));
}

TEST_CASE("call time: at any moment each call counts once") {
  using fairlead::intercept::CallTime;
  CallTime time;
  CHECK((!time.has_called() && time.ticks_until(1000) == 0));
  time.begin(1000);
  CHECK((time.has_called() && time.is_in_call()));
  CHECK(time.ticks_until(1200) == 200);
  time.end(1300);
  // A reader whose clock value is from before the end gets the whole call, counted once.
  CHECK((!time.is_in_call() && time.ticks_until(1200) == 300));
  time.begin(2000);
  CHECK(time.ticks_until(2050) == 350);
  // One that was left by a jump does not count.
  time.begin(5000);
  time.end(5010);
  CHECK(time.ticks_until(6000) == 310);

  CallTime later;
  later.begin(1000);
  CHECK(later.ticks_until(990) == 0);
}

TEST_CASE("collectives: calls without a place in the table of a thread are in the sum of threads") {
  Counters thread(1), sum(1);
  constexpr std::uint64_t kKinds = CollectiveTable::kCapacity + 500;
  for (std::uint64_t communicator = 1; communicator <= kKinds; ++communicator) {
    thread.collectives.add({.call = Call::Bcast, .communicator = communicator, .calls = 2});
  }
  sum.add(thread, 0);
  std::uint64_t num_calls = sum.collectives.num_dropped();
  sum.collectives.for_each([&](const CollectiveTally& entry) { num_calls += entry.calls; });
  CHECK(thread.collectives.num_dropped() == 1000);
  CHECK(num_calls == 2 * kKinds);
}

TEST_CASE("calls: those that return at once are not timed") {
  using fairlead::intercept::may_wait;
  CHECK((may_wait("Wait") && may_wait("Recv_c") && may_wait("Test") && may_wait("Iprobe")));
  CHECK((may_wait("Send") && may_wait("Allreduce") && may_wait("Comm_free")));
  CHECK((!may_wait("Isend") && !may_wait("Iallreduce") && !may_wait("Irecv_c")));
  CHECK((!may_wait("Send_init") && !may_wait("Bcast_init_c") && !may_wait("Startall")));
}

TEST_CASE("record: rows of what was counted, and the bytes of each table") {
  Counters counters(3);
  counters.sent[2].add(100);
  counters.sent[2].add(50);
  counters.exchanged[0].add(8);
  counters.fetched_tallies()[2].add(30);
  counters.shared_windows = 5;
  counters.spawned_processes = 6;
  counters.untranslated.add(9);
  counters.collectives.add({.call = Call::Bcast,
                            .root = 1,
                            .communicator_size = 2,
                            .communicator = 7,
                            .message_bytes = 4,
                            .calls = 3,
                            .seconds = 0.5});
  counters.communicators.add(
      {.size = 2, .rank = 0, .id = 7, .world_rank_of_peer = {1, 0}, .neighbors = {}});

  const RankRecord record = record_of_rank(1, 2.5, counters, 0.0, "here");

  CHECK(record.rank.run_time_s == 2.5);
  CHECK(record.rank.untranslated_bytes == 9);
  REQUIRE(record.sent.size() == 1);
  CHECK((record.sent[0].src == 1 && record.sent[0].dst == 2));
  CHECK((record.sent[0].messages == 2 && record.sent[0].bytes == 150));
  CHECK(record.sent[0].max_bytes == 100);
  REQUIRE(record.fetched.size() == 1);
  CHECK((record.fetched[0].src == 2 && record.fetched[0].dst == 1));
  CHECK(record.fetched[0].bytes == 30);
  CHECK((record.rank.shared_windows == 5 && record.rank.spawned_processes == 6));
  REQUIRE(record.collectives.size() == 1);
  CHECK((record.collectives[0].communicator == 7 && record.collectives[0].root == 1));
  CHECK(record.members == std::vector<MemberRow>{1, 0});
  CHECK(record.tables()[0].size() == 32);
  CHECK(record.tables()[5].size() == 8);
}
