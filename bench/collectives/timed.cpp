// SPDX-License-Identifier: Apache-2.0
// Times collective operations in SMPI, and checks what they deliver.
//
// timed METHOD OPERATION:BYTES:ROOT...
//   METHOD: native, mpich2, bine_small, bine_large, or the path of a file with a list of schedules,
//   one for each call
// timed FILE OPERATION:BYTES:ROOT:ALGORITHM...
//   ALGORITHM: an index in that list, or mpich2; what the schedules leave to the MPI is then
//   MPICH2's, too
//
// BYTES is the whole message of bcast, reduce and allreduce, the block of one rank of scatter and
// gather, and what a rank holds in all of the others. Prints two lines for each: operation, bytes,
// root, seconds, and 1 where the result is right; and the seconds of each rank.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "mpich2.hpp"
#include "tune/trial.hpp"

namespace {

using fairlead::collectives::Operation;
using fairlead::tune::Calls;
using fairlead::tune::Trial;

/// As it was asked for.
struct Asked {
  std::string operation;
  std::uint64_t bytes = 0;
  int root = 0;
  std::string algorithm{};  ///< empty: that of all calls
};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int num_ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// As trials have it: the whole message or the block of one rank.
fairlead::tune::Call call_of(const Asked& asked, std::uint64_t bytes) {
  const Operation operation = fairlead::collectives::operation_of(asked.operation);
  const bool is_of_all = operation == Operation::allgather ||
                         operation == Operation::reduce_scatter || operation == Operation::alltoall;
  return {.operation = operation,
          .message_bytes = is_of_all ? bytes / static_cast<std::uint64_t>(num_ranks()) : bytes,
          .root = asked.root};
}

/// Waits until all are here, and then to a full second that all agree on: a barrier alone lets
/// some ranks go earlier.
double common_start_s() {
  double now_s = MPI_Wtime(), latest_s = 0;
  MPI_Allreduce(&now_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double start_s = std::ceil(latest_s) + 1;
  while (MPI_Wtime() < start_s)
    usleep(static_cast<useconds_t>(std::ceil((start_s - MPI_Wtime()) * 1e6)));
  double mine_s = MPI_Wtime(), common_s = 0;
  MPI_Allreduce(&mine_s, &common_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double then_s = std::ceil(common_s) + 1;
  usleep(static_cast<useconds_t>(std::llround((then_s - MPI_Wtime()) * 1e6)));
  return then_s;
}

/// A short call first: the first on a communicator may set things up. Of a bcast it has 4 KiB, for
/// Open MPI's split binary tree takes another algorithm for less, which is broken in SMPI.
void warm_up(const Asked& asked, const Calls& calls) {
  const auto one_each = sizeof(Trial::Value) * static_cast<std::uint64_t>(num_ranks());
  const std::uint64_t least = asked.operation == "bcast" ? 4096 : one_each;
  const std::uint64_t bytes = std::min<std::uint64_t>(asked.bytes, least);
  Trial(call_of(asked, bytes), world_rank(), num_ranks()).run(calls);
}

void time_call(const Asked& asked, const Calls& calls) {
  warm_up(asked, calls);
  Trial trial(call_of(asked, asked.bytes), world_rank(), num_ranks());
  const double start_s = common_start_s();
  const bool has_run = trial.run(calls) == MPI_SUCCESS;
  const double mine_s = MPI_Wtime() - start_s;
  std::vector<double> rank_s(static_cast<std::size_t>(num_ranks()));
  MPI_Gather(&mine_s, 1, MPI_DOUBLE, rank_s.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int mine = has_run && trial.is_right() ? 1 : 0;
  int is_right = 0;
  MPI_Reduce(&mine, &is_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (world_rank() == 0) {
    std::printf("timed %s %llu %d %.9g %d\n", asked.operation.c_str(),
                static_cast<unsigned long long>(asked.bytes), asked.root,
                *std::max_element(rank_s.begin(), rank_s.end()), is_right);
    std::printf("ranks");
    for (const double each_s : rank_s) std::printf(" %.9g", each_s);
    std::printf("\n");
    std::fflush(stdout);
  }
}

Asked asked_in(const std::string& text) {
  std::istringstream fields(text);
  Asked asked;
  std::string bytes, root;
  std::getline(fields, asked.operation, ':');
  std::getline(fields, bytes, ':');
  std::getline(fields, root, ':');
  std::getline(fields, asked.algorithm);
  asked.bytes = std::stoul(bytes);
  asked.root = std::stoi(root);
  return asked;
}

/// SMPI's own. Some of its algorithms for a reduce write to what is a buffer on the root only, and
/// some know no datatype of a fixed width: they are given what they need.
Calls smpi_calls(MPI_Comm comm) {
  static_assert(sizeof(unsigned) == sizeof(Trial::Value));
  Calls calls = fairlead::tune::native_calls(comm);
  calls.reduce = [comm](const void* out, void* in, int count, MPI_Datatype, MPI_Op op, int root) {
    std::vector<Trial::Value> scratch;
    if (world_rank() != root) {
      scratch.resize(static_cast<std::size_t>(count));
      in = scratch.data();
    }
    return MPI_Reduce(out, in, count, MPI_UNSIGNED, op, root, comm);
  };
  calls.allreduce = [comm](const void* out, void* in, int count, MPI_Datatype, MPI_Op op) {
    return MPI_Allreduce(out, in, count, MPI_UNSIGNED, op, comm);
  };
  return calls;
}

using AlgorithmOfCall = std::function<Calls(std::size_t index, const Asked&)>;

/// By the schedules of a file.
AlgorithmOfCall planned_algorithms(const std::string& path) {
  return [schedules = bench::schedules_in(path)](std::size_t index, const Asked& asked) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    if (!asked.algorithm.empty()) bench::mpich2::make_native();
    if (asked.algorithm == "mpich2") return bench::mpich2::calls(comm);
    const std::size_t number = asked.algorithm.empty() ? index : std::stoul(asked.algorithm);
    return fairlead::tune::planned_calls(schedules.at(number), bench::members_of(comm));
  };
}

/// The algorithm of each call.
AlgorithmOfCall algorithms_of(const std::string& method) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  // What SMPI is set to use: a library's selector, or one algorithm.
  if (method == "native") {
    return [=](std::size_t, const Asked&) { return smpi_calls(comm); };
  }
  if (method == "mpich2") {
    return [=](std::size_t, const Asked&) { return bench::mpich2::calls(comm); };
  }
  if (method == "bine_small") {
    return [=](std::size_t, const Asked&) { return bench::bine_small(comm); };
  }
  if (method == "bine_large") {
    return [=](std::size_t, const Asked&) { return bench::bine_large(comm); };
  }
  return planned_algorithms(method);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto algorithms = algorithms_of(argv[1]);
  for (int index = 2; index < argc; ++index) {
    const Asked asked = asked_in(argv[index]);
    time_call(asked, algorithms(static_cast<std::size_t>(index - 2), asked));
  }
  MPI_Finalize();
  return 0;
}
