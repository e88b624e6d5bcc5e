// SPDX-License-Identifier: Apache-2.0
// Makes blocking collectives, which follow schedules or are the MPI's own.
//
// collectives single SEED CALLS    random calls, each compared byte for byte with the nonblocking
//                                  one, which is always the MPI's own; prints what differs, and
//                                  then "compared N"
// collectives funneled SEED CALLS  the same of a program that may have other threads
// collectives serialized SEED CALLS
//                                  the same, each call by a thread of its own
// collectives multiple SEED CALLS  the same by two threads at once, on communicators of their own
// collectives handlers CALLS       two threads reduce values of many types; prints how often the
//                                  error handler of MPI_COMM_WORLD was another one meanwhile, and
//                                  how often it was called by a wrong call at the end
// collectives reals COUNT...       prints the bits of sums of so many values whose order matters, a
//                                  line for each COUNT
// collectives often CALLS          calls on communicators that come and go; prints what memory grew
//                                  by
// collectives wrong                calls with wrong arguments; prints the class of each error
// collectives repeat CALLS         the same sum on overlapping communicators, in another order on
//                                  each rank; prints "repeated N" where all are right
// collectives sizes CALLS          sums of two sizes in turn; prints "repeated N" likewise
// collectives near CALLS           the same, of sizes between the same powers of two
// collectives errors CALLS [RANK]  broadcasts by rank 0, every fourth of which fails on one rank,
// by
//                                  default the last one; prints "errors N, right M"
// collectives roots CALLS          broadcasts and sums by all roots in turn, of growing messages;
//                                  prints "errors N, right M"
// collectives crowded CALLS        the same where the MPI has hardly any communicator left
// collectives between              calls between two groups of ranks; prints "right N", the least
//                                  of all ranks
// collectives spawned              the same between these ranks and two spawned ones, then calls of
//                                  all together; the spawned ones run "collectives child"
// collectives leave                rank 1 ends in the middle, between two calls
// collectives fail                 rank 1 ends inside of a call, where it combines values
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "collectives/between.hpp"
#include "collectives/errors.hpp"
#include "collectives/random_calls.hpp"
#include "collectives/repeated.hpp"
#include "collectives/roots.hpp"
#include "collectives/types.hpp"

namespace {

void add_bits(const std::vector<double>& values, std::uint64_t& bits) {
  for (const double value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    bits = (bits ^ word) * 0x00000100000001b3;  // FNV-1a over words
  }
}

void add_reals(const std::vector<int>& counts) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const int count : counts) {
    Random random(static_cast<std::uint64_t>(rank + 1));
    std::uint64_t bits = 0xcbf29ce484222325;
    std::vector<double> values(static_cast<std::size_t>(count * size)), sum(values.size());
    for (double& value : values) value = 1.0 / (1 + random.below(1 << 20));
    MPI_Allreduce(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    add_bits(sum, bits);
    MPI_Reduce(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
    add_bits(sum, bits);
    MPI_Reduce_scatter_block(values.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    add_bits(sum, bits);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &bits, &bits, 1, MPI_UINT64_T, MPI_BXOR, 0,
               MPI_COMM_WORLD);
    if (rank == 0) std::printf("bits %016llx\n", static_cast<unsigned long long>(bits));
  }
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

void leave() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> values(10000);
  for (int done = 0; done < 100; ++done) {
    if (rank == 1 && done == 50) std::abort();
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 10000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

void end_on_rank_1(void* in, void* inout, int* length, MPI_Datatype*) {
  static std::atomic<int> num_combined{0};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && ++num_combined == 50) std::abort();
  const auto* const from = static_cast<const int*>(in);
  auto* const to = static_cast<int*>(inout);
  for (int index = 0; index < *length; ++index) to[index] += from[index];
}

void fail() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(end_on_rank_1, 1, &op);
  std::vector<int> values(10000);
  for (int done = 0; done < 200; ++done) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 10000, MPI_INT, op, MPI_COMM_WORLD);
  }
  MPI_Op_free(&op);
}

void compare_in_threads(int seed, int num_calls) {
  constexpr int kNumThreads = 2;
  std::array<MPI_Comm, kNumThreads> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kNumThreads; ++thread) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(thread)];
    threads.emplace_back([=] { compare(comm, seed + thread, num_calls); });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

int thread_level_of(const std::string& mode) {
  if (mode == "multiple" || mode == "handlers") return MPI_THREAD_MULTIPLE;
  if (mode == "serialized") return MPI_THREAD_SERIALIZED;
  return mode == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argv[1];
  const int needed = thread_level_of(mode);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, needed, &provided);
  if (provided < needed) MPI_Abort(MPI_COMM_WORLD, 2);
  if (mode == "single" || mode == "funneled" || mode == "serialized") {
    const bool has_threads = mode == "serialized";
    compare(MPI_COMM_WORLD, std::atoi(argv[2]), std::atoi(argv[3]), has_threads);
  }
  if (mode == "multiple") compare_in_threads(std::atoi(argv[2]), std::atoi(argv[3]));
  if (mode == "reals") {
    std::vector<int> counts;
    std::transform(argv + 2, argv + argc, std::back_inserter(counts), std::atoi);
    add_reals(counts);
  }
  if (mode == "often") call_often(std::atoi(argv[2]));
  if (mode == "wrong") call_wrongly();
  if (mode == "repeat") repeat(std::atoi(argv[2]));
  if (mode == "sizes") repeat_sizes(std::atoi(argv[2]), 4096, 32768);
  if (mode == "near") repeat_sizes(std::atoi(argv[2]), 4096, 6144);
  if (mode == "handlers") watch_handler(std::atoi(argv[2]));
  if (mode == "errors") go_on_after_errors(std::atoi(argv[2]), argc > 3 ? std::atoi(argv[3]) : -1);
  if (mode == "roots") call_by_all_roots(MPI_COMM_WORLD, std::atoi(argv[2]));
  if (mode == "crowded") call_where_communicators_are_few(std::atoi(argv[2]));
  if (mode == "between") call_between_groups();
  if (mode == "spawned") call_with_spawned(argv[0]);
  if (mode == "child") be_spawned();
  if (mode == "leave") leave();
  if (mode == "fail") fail();
  MPI_Finalize();
}
