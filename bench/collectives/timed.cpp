// SPDX-License-Identifier: Apache-2.0
// Times collective operations in SMPI, and checks what they deliver.
//
// timed METHOD OPERATION:BYTES:ROOT...   METHOD: native, bine_small, bine_large, or the path of a
//                                        file with a list of schedules, one for each of the calls
//
// BYTES is the whole message of bcast, reduce and allreduce, the block of one rank of scatter and
// gather, and what a rank holds in all of the others. Prints a line for each: operation, bytes,
// root, seconds, and 1 where the result is right.
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "collectives.hpp"

namespace {

using bench::Collectives;
using Value = std::uint32_t;

// In SMPI no constant.
#define TYPE MPI_UINT32_T

struct World {
  int rank = 0;
  int num_ranks = 0;
};

World world() {
  World result;
  MPI_Comm_rank(MPI_COMM_WORLD, &result.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &result.num_ranks);
  return result;
}

/// What rank `src` holds at `index`; sums of it depend on both.
Value pattern(int src, std::size_t index) {
  return static_cast<Value>(index) * 2654435761U + static_cast<Value>(src) * 40503U;
}

Value sum_of_patterns(int num_ranks, std::size_t index) {
  const auto count = static_cast<Value>(num_ranks);
  return count * pattern(0, index) + count * (count - 1) / 2 * 40503U;
}

std::vector<Value> patterns(int src, std::size_t count, std::size_t first = 0) {
  std::vector<Value> result(count);
  for (std::size_t index = 0; index < count; ++index) result[index] = pattern(src, first + index);
  return result;
}

struct Call {
  std::string operation;
  std::size_t bytes = 0;
  int root = 0;
};

/// One operation with its buffers: `run` may be called again, `is_right` looks at what came.
class Trial {
 public:
  Trial(const Call& call, World world)
      : call_(call), world_(world), num_ranks_(static_cast<std::size_t>(world.num_ranks)) {
    const std::size_t count = call.bytes / sizeof(Value);
    const bool is_root = world.rank == call.root;
    const auto& name = call.operation;
    if (name == "scatter" || name == "gather")
      block_ = count;
    else
      block_ = count / num_ranks_;
    if (name == "bcast")
      out_ = is_root ? patterns(call.root, count) : std::vector<Value>(count);
    else if (name == "scatter")
      out_ = is_root ? patterns(call.root, block_ * num_ranks_) : std::vector<Value>();
    else if (name == "gather" || name == "allgather")
      out_ = patterns(0, block_, block_ * static_cast<std::size_t>(world.rank));
    else if (name == "alltoall")
      out_ = patterns(world.rank, block_ * num_ranks_);
    else if (name == "reduce_scatter")
      out_ = patterns(world.rank, block_ * num_ranks_);
    else if (name != "barrier")
      out_ = patterns(world.rank, count);
    if (name == "reduce")
      in_.resize(is_root ? count : 0);
    else if (name == "allreduce")
      in_.resize(count);
    else if (name == "scatter" || name == "reduce_scatter")
      in_.resize(block_);
    else if (name == "gather")
      in_.resize(is_root ? block_ * num_ranks_ : 0);
    else if (name == "allgather" || name == "alltoall")
      in_.resize(block_ * num_ranks_);
    counts_.assign(num_ranks_, static_cast<int>(block_));
  }

  int run(const Collectives& method) {
    const int count = static_cast<int>(call_.bytes / sizeof(Value));
    const int block = static_cast<int>(block_);
    const MPI_Comm comm = MPI_COMM_WORLD;
    const auto& name = call_.operation;
    if (name == "bcast") return method.bcast(out_.data(), count, TYPE, call_.root, comm);
    if (name == "reduce")
      return method.reduce(out_.data(), in_.data(), count, TYPE, MPI_SUM, call_.root, comm);
    if (name == "allreduce")
      return method.allreduce(out_.data(), in_.data(), count, TYPE, MPI_SUM, comm);
    if (name == "scatter")
      return method.scatter(out_.data(), block, TYPE, in_.data(), block, TYPE, call_.root, comm);
    if (name == "gather")
      return method.gather(out_.data(), block, TYPE, in_.data(), block, TYPE, call_.root, comm);
    if (name == "allgather")
      return method.allgather(out_.data(), block, TYPE, in_.data(), block, TYPE, comm);
    if (name == "reduce_scatter")
      return method.reduce_scatter(out_.data(), in_.data(), counts_.data(), TYPE, MPI_SUM, comm);
    if (name == "alltoall")
      return method.alltoall(out_.data(), block, TYPE, in_.data(), block, TYPE, comm);
    return method.barrier(comm);
  }

  bool is_right() const {
    const auto& name = call_.operation;
    const auto rank = static_cast<std::size_t>(world_.rank);
    const auto& result = name == "bcast" ? out_ : in_;
    for (std::size_t index = 0; index < result.size(); ++index) {
      Value expected = 0;
      if (name == "bcast")
        expected = pattern(call_.root, index);
      else if (name == "reduce" || name == "allreduce")
        expected = sum_of_patterns(world_.num_ranks, index);
      else if (name == "reduce_scatter")
        expected = sum_of_patterns(world_.num_ranks, rank * block_ + index);
      else if (name == "scatter")
        expected = pattern(call_.root, rank * block_ + index);
      else if (name == "gather" || name == "allgather")
        expected = pattern(0, index);
      else
        expected = pattern(static_cast<int>(index / block_), rank * block_ + index % block_);
      if (result[index] != expected) return false;
    }
    return true;
  }

 private:
  Call call_;
  World world_;
  std::size_t num_ranks_;
  std::size_t block_ = 0;
  std::vector<Value> out_, in_;
  std::vector<int> counts_;
};

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

/// A short call first: the first on a communicator may set things up.
void warm_up(const Call& call, World world, const Collectives& method) {
  Call small = call;
  small.bytes = std::min(call.bytes, sizeof(Value) * static_cast<std::size_t>(world.num_ranks));
  Trial(small, world).run(method);
}

void time_call(const Call& call, World world, const Collectives& method) {
  warm_up(call, world, method);
  Trial trial(call, world);
  const double start_s = common_start_s();
  const bool has_run = trial.run(method) == MPI_SUCCESS;
  const double mine_s = MPI_Wtime() - start_s;
  double longest_s = 0;
  MPI_Reduce(&mine_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const int mine = has_run && trial.is_right() ? 1 : 0;
  int is_right = 0;
  MPI_Reduce(&mine, &is_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (world.rank == 0) {
    std::printf("timed %s %zu %d %.9g %d\n", call.operation.c_str(), call.bytes, call.root,
                longest_s, is_right);
    std::fflush(stdout);
  }
}

Call call_of(const std::string& text) {
  const auto first = text.find(':'), second = text.find(':', first + 1);
  return {.operation = text.substr(0, first),
          .bytes = std::stoul(text.substr(first + 1, second - first - 1)),
          .root = std::stoi(text.substr(second + 1))};
}

/// What SMPI was told to use: a library's selector, or one algorithm.
Collectives native() {
  return {MPI_Bcast,     MPI_Reduce,         MPI_Allreduce, MPI_Scatter, MPI_Gather,
          MPI_Allgather, MPI_Reduce_scatter, MPI_Alltoall,  MPI_Barrier};
}

/// For the call at each index its method.
std::function<Collectives(std::size_t)> methods_of(const std::string& name) {
  if (name == "native") return [](std::size_t) { return native(); };
  if (name == "bine_small") return [](std::size_t) { return bench::bine_small(); };
  if (name == "bine_large") return [](std::size_t) { return bench::bine_large(); };
  return [schedules = bench::schedules_in(name)](std::size_t index) {
    return bench::planned(schedules.at(index));
  };
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto methods = methods_of(argv[1]);
  for (int index = 2; index < argc; ++index)
    time_call(call_of(argv[index]), world(), methods(static_cast<std::size_t>(index - 2)));
  MPI_Finalize();
  return 0;
}
