// SPDX-License-Identifier: Apache-2.0
// The communication of N-body: in each step an allgather of all bodies, a gather and a bcast.
//
// body_steps STEPS BODIES    24 bytes each
//
// Forces are not computed, which a simulator could not do for a megabyte of bodies: each rank
// takes the time of `kOperations` for each of its bodies and each other one at the simulated speed.
// `examples/nbody` computes them; that blocks arrive where they should is checked here.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "../../../examples/common/allgather.hpp"
#include "../../../examples/common/breakdown.hpp"
#include "../../../examples/common/ranges.hpp"

namespace {

constexpr std::int64_t kDimensions = 3;
/// An assumption, of the force between two bodies: the paper names neither its cost nor its method.
constexpr double kOperations = 20.0;

/// What rank `rank` sends in a step.
double value_of(int rank, std::int64_t step) {
  return 1000.0 * rank + static_cast<double>(step);
}

bool is_right(std::span<const double> all, std::size_t block_length, std::int64_t step) {
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index] != value_of(static_cast<int>(index / block_length), step)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t num_steps = std::atoll(argv[1]), num_bodies = std::atoll(argv[2]);
  const int rank = example::rank_in(MPI_COMM_WORLD);
  const int num_ranks = example::num_ranks_in(MPI_COMM_WORLD);
  const auto own = static_cast<double>(example::equal_part_of(num_bodies, num_ranks, rank).size());
  const auto length = example::equal_part_of(num_bodies, num_ranks, 0).size() *
                      static_cast<std::size_t>(kDimensions);
  example::Allgather allgather(length, MPI_COMM_WORLD);
  int is_all_right = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (std::int64_t step = 0; step < num_steps; ++step) {
    const std::vector<double> block(length, value_of(rank, step));
    if (!is_right(allgather(block), length, step)) is_all_right = 0;
    smpi_execute_flops(kOperations * own * static_cast<double>(num_bodies));
  }
  double solve_s = MPI_Wtime() - start_s;
  const auto breakdown = example::breakdown_of(solve_s, allgather.own_s(), MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &solve_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &is_all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("steps          %lld\n", static_cast<long long>(num_steps));
    std::printf("solve_s        %.6f\n", solve_s);
    example::print(breakdown);
    std::printf("%s\n", is_all_right != 0 ? "PASSED" : "FAILED");
  }
  MPI_Finalize();
}
