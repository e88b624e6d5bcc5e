// SPDX-License-Identifier: Apache-2.0
// Calls that fail, and what programs find then.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

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
  // Some of them are MPI_PROC_NULL and MPI_ROOT.
  for (const int root : {1000, -1, -2, -3, -4}) {
    print_class("root", rank, MPI_Bcast(in, 1, MPI_INT, root, comm));
    print_class("root", rank, MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, root, comm));
    print_class("root", rank, MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm));
    print_class("root", rank, MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, comm));
  }
  print_class("type", rank, MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm));
  print_class("null_op", rank, MPI_Allreduce(out, in, 4, MPI_INT, MPI_OP_NULL, comm));
  print_class("op", rank, MPI_Allreduce(out, in, 4, MPI_DOUBLE, MPI_BAND, comm));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  print_class("comm", rank, MPI_Barrier(MPI_COMM_NULL));
  MPI_Comm_free(&comm);
}

/// The greatest number of errors, and the least of right results, of all ranks.
void print_errors(int num_errors, int num_right) {
  int rank = 0;
  std::array<int, 2> own{num_errors, -num_right}, of_all{};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(own.data(), of_all.data(), 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("errors %d, right %d\n", of_all[0], -of_all[1]);
}

/// A type that is not committed cannot be unpacked: what was sent has arrived by then.
/// @param failing  the rank whose every fourth call fails, negative: the last one; those of the
/// root deliver nothing
void go_on_after_errors(int calls, int failing) {
  constexpr int kCount = 512;
  int rank = 0, size = 0, num_errors = 0, num_right = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype unfinished = MPI_DATATYPE_NULL;
  MPI_Type_vector(kCount, 1, 2, MPI_INT, &unfinished);
  std::vector<int> values(std::size_t{2} * kCount);
  for (int call = 0; call < calls; ++call) {
    values[0] = rank == 0 ? call : -1;
    const bool fails = call % 4 == 3 && rank == (failing + size) % size;
    const int code = fails ? MPI_Bcast(values.data(), 1, unfinished, 0, comm)
                           : MPI_Bcast(values.data(), kCount, MPI_INT, 0, comm);
    num_errors += code == MPI_SUCCESS ? 0 : 1;
    num_right += fails || values[0] == call ? 1 : 0;
  }
  MPI_Type_free(&unfinished);
  MPI_Comm_free(&comm);
  print_errors(num_errors, num_right);
}

std::atomic<int> num_handled{0};

void count_error(MPI_Comm*, int*, ...) {
  ++num_handled;
}

/// Nothing is sent without content, so nearly all the time goes to what is asked about a call.
void reduce_many_types(MPI_Comm comm, int calls) {
  const std::array ops{MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR};
  const std::array types{MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_UNSIGNED, MPI_LONG_LONG};
  long long in = 0, out = 0;
  for (int call = 0; call < calls; ++call) {
    const auto pair = static_cast<std::size_t>(call);
    const MPI_Datatype type = types[pair / ops.size() % types.size()];
    MPI_Allreduce(&in, &out, 0, type, ops[pair % ops.size()], comm);
  }
}

void watch_handler(int calls) {
  constexpr std::size_t kNumThreads = 2;
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  std::array<MPI_Comm, kNumThreads> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<std::size_t> num_done{0};
  std::vector<std::thread> threads;
  for (const MPI_Comm comm : comms) {
    threads.emplace_back([=, &num_done] {
      reduce_many_types(comm, calls);
      ++num_done;
    });
  }
  int num_others = 0;
  while (num_done < kNumThreads) {
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    num_others += found == own ? 0 : 1;
    MPI_Errhandler_free(&found);
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Bcast(&num_others, -1, MPI_INT, 0, MPI_COMM_WORLD);
  const int handled = num_handled;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
  int rank = 0;
  std::array<int, 2> sums{num_others, handled};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : sums.data(), sums.data(), 2, MPI_INT, MPI_SUM, 0,
             MPI_COMM_WORLD);
  if (rank == 0) std::printf("other handlers %d, handled %d\n", sums[0], sums[1]);
}

}  // namespace
