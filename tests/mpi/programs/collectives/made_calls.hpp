// SPDX-License-Identifier: Apache-2.0
// A call of any operation, made by one of its functions.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace {

using Bytes = std::vector<std::byte>;

/// A datatype, and how many of it make a unit of six integers.
struct Kind {
  MPI_Datatype type = MPI_INT;
  int per_unit = 6;
};

struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool is_one_host = false;  // so blocking calls are the MPI's own, too
};

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

/// What differs between ranks are types only.
struct Call {
  int operation = 0, root = 0, units = 0;
  bool is_in_place = false;
  Kind send, receive;
  MPI_Op op = MPI_SUM;
  std::vector<int> units_of_rank;  // allgatherv, reduce_scatter
};

/// Which function makes a call. Ranks may differ in the first two.
enum class Function { blocking, large_counts, nonblocking };

// Without functions of large counts, the others take their place.
#if MPI_VERSION >= 4
#define LARGE(name) MPI_##name##_c
using LargeCount = MPI_Count;
using LargeOffset = MPI_Aint;
#else
#define LARGE(name) MPI_##name
using LargeCount = int;
using LargeOffset = int;
#endif

/// Elements of the type, and where each rank's begin, with gaps between them.
template <class Count = int, class Offset = int>
struct Parts {
  std::vector<Count> counts;
  std::vector<Offset> offsets;
  Parts(const Call& call, const Kind& kind, bool has_gaps) {
    int place = 0;
    for (const int units : call.units_of_rank) {
      counts.push_back(units * kind.per_unit);
      offsets.push_back(place);
      place += (units + (has_gaps ? 1 : 0)) * kind.per_unit;
    }
  }
};

using LargeParts = Parts<LargeCount, LargeOffset>;

int made(const Call& call, const Place& at, Function function, const Bytes& out, Bytes& in) {
  const bool is_large = function == Function::large_counts;
  const bool is_root = at.rank == call.root;
  const Kind& send = call.send;
  const Kind& receive = call.receive;
  const int out_count = call.units * send.per_unit, in_count = call.units * receive.per_unit;
  void* to = in.data();
  const void* in_place = call.is_in_place ? MPI_IN_PLACE : out.data();
  const void* at_root = is_root ? in_place : out.data();
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_ERR_INTERN;
#define CALL_SMALL(name, iname, ...)                                            \
  code = function == Function::nonblocking ? MPI_##iname(__VA_ARGS__, &request) \
                                           : MPI_##name(__VA_ARGS__)
#define CALL(name, iname, ...)            \
  if (is_large) {                         \
    code = LARGE(name)(__VA_ARGS__);      \
  } else {                                \
    CALL_SMALL(name, iname, __VA_ARGS__); \
  }
  switch (call.operation) {
    case barrier:
      CALL_SMALL(Barrier, Ibarrier, at.comm);
      break;
    case bcast:
      CALL(Bcast, Ibcast, to, out_count, send.type, call.root, at.comm);
      break;
    case reduce: {
      // MPICH 4.0 fails in place at any root but rank 0.
      const Bytes copied = in;
      const bool is_nonblocking = function == Function::nonblocking;
      const bool is_native = is_nonblocking || at.is_one_host;
      if (is_native && is_root && call.is_in_place) at_root = copied.data();
      CALL(Reduce, Ireduce, at_root, to, out_count, send.type, call.op, call.root, at.comm);
      if (is_nonblocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
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
      if (is_large) {
        const LargeParts large(call, receive, call.root % 2 == 0);
        code = LARGE(Allgatherv)(in_place, own, send.type, to, large.counts.data(),
                                 large.offsets.data(), receive.type, at.comm);
        break;
      }
      CALL_SMALL(Allgatherv, Iallgatherv, in_place, own, send.type, to, parts.counts.data(),
                 parts.offsets.data(), receive.type, at.comm);
      if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case alltoall:
      CALL(Alltoall, Ialltoall, in_place, out_count, send.type, to, in_count, receive.type,
           at.comm);
      break;
    case reduce_scatter: {
      const Parts parts(call, send, false);
      if (is_large) {
        const LargeParts large(call, send, false);
        code =
            LARGE(Reduce_scatter)(in_place, to, large.counts.data(), send.type, call.op, at.comm);
        break;
      }
      CALL_SMALL(Reduce_scatter, Ireduce_scatter, in_place, to, parts.counts.data(), send.type,
                 call.op, at.comm);
      if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
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
#undef CALL_SMALL
  if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
}

}  // namespace
