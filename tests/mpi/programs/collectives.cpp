// SPDX-License-Identifier: Apache-2.0
// Makes blocking collectives, whoever handles them.
//
// collectives compare SEED CALLS   random calls, each compared byte for byte with the nonblocking
//                                  one, which is always the MPI's own; prints what differs, and
//                                  then "compared N"
// collectives reals                prints the bits of sums whose order matters
// collectives often CALLS          calls on communicators that come and go; prints what memory grew
// by collectives wrong                calls with wrong arguments; prints the class of each error
// collectives repeat CALLS         the same sum on overlapping communicators, in another order on
//                                  each rank; prints "repeated N" where all are right
// collectives leave                rank 1 ends in the middle
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::byte>;

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

constexpr int kUnitIntegers = 6;
constexpr std::size_t kUnitBytes = 48;  // the longest unit in memory, with its gaps

/// A datatype, and how many of it make a unit of six integers.
struct Kind {
  MPI_Datatype type = MPI_INT;
  int per_unit = kUnitIntegers;
};

struct Kinds {
  std::array<Kind, 4> all;
  MPI_Op add_strided = MPI_OP_NULL;
  MPI_Op keep_left = MPI_OP_NULL;  // does not commute
};

/// Sum of integers with gaps between them, which stay as they are.
void add_strided(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int index = 0; index < *length; ++index, left += 5, right += 5) {
    for (int part = 0; part < 5; part += 2) right[part] += left[part];
  }
}

void keep_left(void* in, void* inout, int* length, MPI_Datatype*) {
  std::memcpy(inout, in, 4 * static_cast<std::size_t>(*length));
}

Kinds made_kinds() {
  Kinds kinds;
  MPI_Datatype pair = MPI_DATATYPE_NULL, strided = MPI_DATATYPE_NULL, swapped = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
  const int lengths[] = {1, 1}, places[] = {1, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
  for (MPI_Datatype* type : {&pair, &strided, &swapped}) MPI_Type_commit(type);
  kinds.all = {Kind{MPI_INT, 6}, Kind{pair, 3}, Kind{strided, 2}, Kind{swapped, 3}};
  MPI_Op_create(add_strided, 1, &kinds.add_strided);
  MPI_Op_create(keep_left, 0, &kinds.keep_left);
  return kinds;
}

void free_kinds(Kinds& kinds) {
  for (std::size_t index = 1; index < kinds.all.size(); ++index) {
    MPI_Type_free(&kinds.all[index].type);
  }
  MPI_Op_free(&kinds.add_strided);
  MPI_Op_free(&kinds.keep_left);
}

struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
};

/// World, a duplicate, the ranks backwards, every second, all but the first.
std::vector<Place> made_places() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<Place> places(6);
  places[0].comm = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &places[1].comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &places[2].comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &places[3].comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &places[4].comm);
  places[5].comm = MPI_COMM_SELF;
  for (Place& place : places) {
    if (place.comm == MPI_COMM_NULL) continue;
    MPI_Comm_rank(place.comm, &place.rank);
    MPI_Comm_size(place.comm, &place.size);
  }
  return places;
}

void free_places(std::vector<Place>& places) {
  for (std::size_t index = 1; index < 5; ++index) {
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
    call.op = kinds.add_strided;
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

void compare(int seed, int num_calls) {
  Kinds kinds = made_kinds();
  std::vector<Place> places = made_places();
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
  free_kinds(kinds);
  if (world_rank == 0) std::printf("compared %d\n", num_calls);
}

void print_bits(const std::vector<double>& values, std::uint64_t& bits) {
  for (const double value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    bits = (bits ^ word) * 0x00000100000001b3;  // FNV-1a over words
  }
}

void add_reals() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Random random(static_cast<std::uint64_t>(rank + 1));
  std::uint64_t bits = 0xcbf29ce484222325;
  for (const int count : {1, 10, 1000, 20000}) {
    std::vector<double> values(static_cast<std::size_t>(count * size)), sum(values.size());
    for (double& value : values) value = 1.0 / (1 + random.below(1 << 20));
    MPI_Allreduce(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    print_bits(sum, bits);
    MPI_Reduce(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
    print_bits(sum, bits);
    MPI_Reduce_scatter_block(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    print_bits(sum, bits);
  }
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &bits, &bits, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("bits %016llx\n", static_cast<unsigned long long>(bits));
}

long memory_in_use() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  return static_cast<long>(mallinfo2().uordblks);
#else
  return mallinfo().uordblks;
#endif
}

/// One call of each operation in turn.
void call_once(int number, MPI_Comm comm, const std::vector<int>& out, std::vector<int>& in) {
  switch (number % 9) {
    case 0:
      MPI_Allreduce(out.data(), in.data(), 64, MPI_INT, MPI_SUM, comm);
      break;
    case 1:
      MPI_Bcast(in.data(), 64, MPI_INT, 0, comm);
      break;
    case 2:
      MPI_Allgather(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, comm);
      break;
    case 3:
      MPI_Reduce(out.data(), in.data(), 64, MPI_INT, MPI_SUM, 0, comm);
      break;
    case 4:
      MPI_Gather(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, 0, comm);
      break;
    case 5:
      MPI_Scatter(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, 0, comm);
      break;
    case 6:
      MPI_Reduce_scatter_block(out.data(), in.data(), 2, MPI_INT, MPI_SUM, comm);
      break;
    case 7:
      MPI_Alltoall(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, comm);
      break;
    default:
      MPI_Barrier(comm);
  }
}

void call_often(int num_calls) {
  constexpr int kCallsPerComm = 100;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto length = static_cast<std::size_t>(std::max(64, 2 * size));
  std::vector<int> out(length), in(length);
  long before = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  for (int done = 0; done < num_calls; ++done) {
    if (done == num_calls / 10) before = memory_in_use();
    if (done % kCallsPerComm == 0) {
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    }
    call_once(done, comm, out, in);
  }
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  const long grown = memory_in_use() - before;
  long most = 0;
  MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("grown %ld\n", most);
}

void print_class(const char* call, int rank, int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  if (rank == 0) std::printf("%s %d\n", call, error_class);
}

void call_wrongly() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  double in[64] = {}, out[64] = {};
  print_class("count", rank, MPI_Bcast(in, -1, MPI_INT, 0, comm));
  print_class("root", rank, MPI_Bcast(in, 1, MPI_INT, 1000, comm));
  print_class("type", rank, MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm));
  print_class("null_op", rank, MPI_Allreduce(out, in, 4, MPI_INT, MPI_OP_NULL, comm));
  print_class("op", rank, MPI_Allreduce(out, in, 4, MPI_DOUBLE, MPI_BAND, comm));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  print_class("comm", rank, MPI_Barrier(MPI_COMM_NULL));
  MPI_Comm_free(&comm);
}

/// Whether the sum of ranks + call is right.
bool adds_up(MPI_Comm comm, int call) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<int> values(4096, rank + call), sums(4096);
  MPI_Allreduce(values.data(), sums.data(), 4096, MPI_INT, MPI_SUM, comm);
  const int expected = size * call + size * (size - 1) / 2;
  return std::all_of(sums.begin(), sums.end(), [=](int sum) { return sum == expected; });
}

void repeat(int calls) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // The rank in the middle is in both.
  std::array<MPI_Comm, 2> halves{MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, rank <= size / 2 ? 0 : MPI_UNDEFINED, rank, &halves[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2 ? 0 : MPI_UNDEFINED, -rank, &halves[1]);
  int num_right = 0;
  for (int call = 0; call < calls; ++call) {
    bool is_right = adds_up(MPI_COMM_WORLD, call);
    for (const std::size_t turn : {0U, 1U}) {
      const MPI_Comm comm = halves[(turn + static_cast<std::size_t>(call)) % 2];
      if (comm != MPI_COMM_NULL) is_right = adds_up(comm, call) && is_right;
    }
    num_right += is_right ? 1 : 0;
  }
  int least = 0;
  MPI_Reduce(&num_right, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("repeated %d\n", least);
  for (MPI_Comm& comm : halves) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

void leave() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> values(10000);
  for (int done = 0; done < 100; ++done) {
    if (rank == 1 && done == 50) std::abort();
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 10000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string mode = argv[1];
  if (mode == "compare") compare(std::atoi(argv[2]), std::atoi(argv[3]));
  if (mode == "reals") add_reals();
  if (mode == "often") call_often(std::atoi(argv[2]));
  if (mode == "wrong") call_wrongly();
  if (mode == "repeat") repeat(std::atoi(argv[2]));
  if (mode == "leave") leave();
  MPI_Finalize();
}
