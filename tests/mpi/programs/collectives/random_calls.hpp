// SPDX-License-Identifier: Apache-2.0
// Random calls, each made by a blocking function and by the nonblocking one.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "made_calls.hpp"
#include "types.hpp"

namespace {

/// The same numbers from the same seed everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) { (void)below(2); }
  int below(int limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

struct Kinds {
  Types types = made_types();
  std::array<Kind, 4> all{Kind{MPI_INT, 6}, Kind{types.pair, 3}, Kind{types.strided, 2},
                          Kind{types.swapped, 3}};
  MPI_Op keep_left = MPI_OP_NULL;  // does not commute
};

void keep_left(void* in, void* inout, int* length, MPI_Datatype*) {
  std::memcpy(inout, in, 4 * static_cast<std::size_t>(*length));
}

bool is_one_host(const Place& place) {
  constexpr int kLength = HOST_NAME_MAX + 1;
  std::vector<char> names(static_cast<std::size_t>(place.size * kLength));
  std::array<char, kLength> name{};
  gethostname(name.data(), name.size());
  MPI_Allgather(name.data(), kLength, MPI_CHAR, names.data(), kLength, MPI_CHAR, place.comm);
  for (int rank = 0; rank < place.size; ++rank) {
    if (std::strcmp(names.data() + rank * kLength, name.data()) != 0) return false;
  }
  return true;
}

/// All ranks, a duplicate, the ranks backwards, every second, all but the first.
std::vector<Place> made_places(MPI_Comm all) {
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  std::vector<Place> places(6);
  places[0].comm = all;
  MPI_Comm_dup(all, &places[1].comm);
  MPI_Comm_split(all, 0, -rank, &places[2].comm);
  MPI_Comm_split(all, rank % 2, rank, &places[3].comm);
  MPI_Comm_split(all, rank == 0 ? MPI_UNDEFINED : 0, rank, &places[4].comm);
  MPI_Comm_dup(MPI_COMM_SELF, &places[5].comm);
  for (Place& place : places) {
    if (place.comm == MPI_COMM_NULL) continue;
    MPI_Comm_rank(place.comm, &place.rank);
    MPI_Comm_size(place.comm, &place.size);
    place.is_one_host = is_one_host(place);
  }
  return places;
}

void free_places(std::vector<Place>& places) {
  for (std::size_t index = 1; index < places.size(); ++index) {
    if (places[index].comm != MPI_COMM_NULL) MPI_Comm_free(&places[index].comm);
  }
}

bool combines(int operation) {
  return operation == reduce || operation == allreduce || operation >= reduce_scatter;
}

Call drawn(Random& random, Random& own, const Kinds& kinds, const Place& place) {
  const int sizes[] = {0, 1, 2, 7, 100, 3000};
  Call call;
  call.operation = random.below(num_operations);
  call.root = random.below(place.size);
  call.units = sizes[random.below(6)];
  call.is_in_place = random.below(3) == 0;
  for (int rank = 0; rank < place.size; ++rank) {
    call.units_of_rank.push_back(random.below(3) == 0 ? 0 : random.below(call.units + 2));
  }
  const int way = random.below(4);
  if (!combines(call.operation)) {
    // MPICH 4.0 cuts long messages of MPI_Allgatherv between elements of the receiver's type, so it
    // fails where that differs between ranks.
    // Open MPI's chooses among algorithms by the size of the sender's type, so it hangs.
    Random& of_receiver = call.operation == allgatherv ? random : own;
    Random& of_sender = call.operation == allgatherv && place.is_one_host ? random : own;
    call.send = kinds.all[static_cast<std::size_t>(of_sender.below(4))];
    call.receive = kinds.all[static_cast<std::size_t>(of_receiver.below(4))];
  } else if (way == 0) {
    call.send = kinds.all[2];
    call.op = kinds.types.add_strided;
  } else {
    // Two names of one type.
    call.send.type = own.below(2) == 0 ? MPI_INT : MPI_INT32_T;
    call.op = way == 1 ? kinds.keep_left : way == 2 ? MPI_BXOR : MPI_SUM;
  }
  return call;
}

/// In place, what lies behind the own result of a reduce_scatter is undefined.
void forget_undefined(const Call& call, const Place& at, Bytes& in) {
  if (call.operation < reduce_scatter || !call.is_in_place) return;
  const auto rank = static_cast<std::size_t>(at.rank);
  const int units = call.operation == reduce_scatter ? call.units_of_rank[rank] : call.units;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(call.send.type, &lower, &extent);
  const auto own = static_cast<std::ptrdiff_t>(units) * call.send.per_unit * extent;
  std::fill(in.begin() + own, in.end(), std::byte{0});
}

bool is_same(const Call& call, const Place& at, Random& own) {
  const auto length = static_cast<std::size_t>(at.size * (call.units + 4)) * kUnitBytes;
  Bytes out(length), in(length);
  for (std::byte& byte : out) byte = static_cast<std::byte>(own.below(256));
  for (std::byte& byte : in) byte = static_cast<std::byte>(own.below(256));
  const Bytes sent = out;
  Bytes native = in;
  const Function followed = own.below(2) == 0 ? Function::blocking : Function::large_counts;
  const bool has_worked = made(call, at, followed, out, in) == MPI_SUCCESS &&
                          made(call, at, Function::nonblocking, out, native) == MPI_SUCCESS;
  forget_undefined(call, at, in);
  forget_undefined(call, at, native);
  return has_worked && in == native && out == sent;
}

/// Says which of that many calls have another result by their blocking function.
/// @param all  all ranks; no other thread uses it meanwhile
/// @param has_threads  each call is another thread's, one after the other
void compare(MPI_Comm all, int seed, int num_calls, bool has_threads = false) {
  Kinds kinds;
  MPI_Op_create(keep_left, 0, &kinds.keep_left);
  std::vector<Place> places = made_places(all);
  const int world_rank = places[0].rank;
  Random random(static_cast<std::uint64_t>(seed));
  Random own(static_cast<std::uint64_t>(1000 * seed + world_rank));
  for (int index = 0; index < num_calls; ++index) {
    const Place& at = places[static_cast<std::size_t>(random.below(6))];
    Random of_call(static_cast<std::uint64_t>(seed + 7919 * index));
    if (at.comm == MPI_COMM_NULL) continue;
    const Call call = drawn(of_call, own, kinds, at);
    bool is_right = false;
    const auto make = [&] { is_right = is_same(call, at, own); };
    if (has_threads) {
      std::thread(make).join();
    } else {
      make();
    }
    if (is_right) continue;
    std::printf("call %d, rank %d: another result of %s, root %d of %d, %d units%s\n", index,
                world_rank, kOperations[call.operation], call.root, at.size, call.units,
                call.is_in_place ? ", in place" : "");
    std::fflush(stdout);
  }
  free_places(places);
  MPI_Op_free(&kinds.keep_left);
  free_types(kinds.types);
  if (world_rank == 0) std::printf("compared %d\n", num_calls);
}

}  // namespace
