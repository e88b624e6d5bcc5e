// SPDX-License-Identifier: Apache-2.0
// Random calls, each made by its blocking function and by its nonblocking one.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

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

using Bytes = std::vector<std::byte>;

/// A datatype, and how many of it make a unit of six integers.
struct Kind {
  MPI_Datatype type = MPI_INT;
  int per_unit = 6;
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

struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
};

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
  }
  return places;
}

void free_places(std::vector<Place>& places) {
  for (std::size_t index = 1; index < places.size(); ++index) {
    if (places[index].comm != MPI_COMM_NULL) MPI_Comm_free(&places[index].comm);
  }
}

const char* const kOperations[] = {"barrier",
                                   "bcast",
                                   "reduce",
                                   "allreduce",
                                   "gather",
                                   "scatter",
                                   "allgather",
                                   "allgatherv",
                                   "alltoall",
                                   "reduce_scatter",
                                   "reduce_scatter_block"};
enum Operation : int {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  reduce_scatter,
  reduce_scatter_block,
  num_operations
};

/// What is random is the same on all ranks, but for the two types.
struct Call {
  int operation = 0, root = 0, units = 0;
  bool is_in_place = false;
  Kind send, receive;
  MPI_Op op = MPI_SUM;
  std::vector<int> units_of_rank;  // allgatherv, reduce_scatter
};

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
    Random& of_receiver = call.operation == allgatherv ? random : own;
    call.send = kinds.all[static_cast<std::size_t>(own.below(4))];
    call.receive = kinds.all[static_cast<std::size_t>(of_receiver.below(4))];
  } else if (way == 0) {
    call.send = kinds.all[2];
    call.op = kinds.types.add_strided;
  } else if (way == 1) {
    call.op = kinds.keep_left;
  } else {
    call.op = way == 2 ? MPI_BXOR : MPI_SUM;
  }
  return call;
}

/// Elements of the type, and where each rank's begin, with gaps between them.
struct Parts {
  std::vector<int> counts, offsets;
  Parts(const Call& call, const Kind& kind, bool has_gaps) {
    int place = 0;
    for (const int units : call.units_of_rank) {
      counts.push_back(units * kind.per_unit);
      offsets.push_back(place);
      place += (units + (has_gaps ? 1 : 0)) * kind.per_unit;
    }
  }
};

/// The call by its blocking function, or by its nonblocking one.
int made(const Call& call, const Place& at, bool is_blocking, const Bytes& out, Bytes& in) {
  const bool is_root = at.rank == call.root;
  const Kind& send = call.send;
  const Kind& receive = call.receive;
  const int out_count = call.units * send.per_unit, in_count = call.units * receive.per_unit;
  void* to = in.data();
  const void* in_place = call.is_in_place ? MPI_IN_PLACE : out.data();
  const void* at_root = is_root ? in_place : out.data();
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_ERR_INTERN;
#define CALL(name, iname, ...) \
  code = is_blocking ? MPI_##name(__VA_ARGS__) : MPI_##iname(__VA_ARGS__, &request)
  switch (call.operation) {
    case barrier:
      CALL(Barrier, Ibarrier, at.comm);
      break;
    case bcast:
      CALL(Bcast, Ibcast, to, out_count, send.type, call.root, at.comm);
      break;
    case reduce: {
      // MPICH 4.0 fails in place at any root but rank 0.
      const Bytes copied = in;
      if (!is_blocking && is_root && call.is_in_place) at_root = copied.data();
      CALL(Reduce, Ireduce, at_root, to, out_count, send.type, call.op, call.root, at.comm);
      if (!is_blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case allreduce:
      CALL(Allreduce, Iallreduce, in_place, to, out_count, send.type, call.op, at.comm);
      break;
    case gather:
      CALL(Gather, Igather, at_root, out_count, send.type, to, in_count, receive.type, call.root,
           at.comm);
      break;
    case scatter: {
      void* into = is_root && call.is_in_place ? MPI_IN_PLACE : to;
      CALL(Scatter, Iscatter, out.data(), out_count, send.type, into, in_count, receive.type,
           call.root, at.comm);
      break;
    }
    case allgather:
      CALL(Allgather, Iallgather, in_place, out_count, send.type, to, in_count, receive.type,
           at.comm);
      break;
    case allgatherv: {
      const Parts parts(call, receive, call.root % 2 == 0);
      const int own = call.units_of_rank[static_cast<std::size_t>(at.rank)] * send.per_unit;
      CALL(Allgatherv, Iallgatherv, in_place, own, send.type, to, parts.counts.data(),
           parts.offsets.data(), receive.type, at.comm);
      if (!is_blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case alltoall:
      CALL(Alltoall, Ialltoall, in_place, out_count, send.type, to, in_count, receive.type,
           at.comm);
      break;
    case reduce_scatter: {
      const Parts parts(call, send, false);
      CALL(Reduce_scatter, Ireduce_scatter, in_place, to, parts.counts.data(), send.type, call.op,
           at.comm);
      if (!is_blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case reduce_scatter_block:
      CALL(Reduce_scatter_block, Ireduce_scatter_block, in_place, to, out_count, send.type, call.op,
           at.comm);
      break;
    default:
      break;
  }
#undef CALL
  if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
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
  const bool has_worked = made(call, at, true, out, in) == MPI_SUCCESS &&
                          made(call, at, false, out, native) == MPI_SUCCESS;
  forget_undefined(call, at, in);
  forget_undefined(call, at, native);
  return has_worked && in == native && out == sent;
}

/// Says which of that many calls have another result by their blocking function.
/// @param all  all ranks; no other thread uses it meanwhile
void compare(MPI_Comm all, int seed, int num_calls) {
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
    if (is_same(call, at, own)) continue;
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
