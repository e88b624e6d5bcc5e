// SPDX-License-Identifier: Apache-2.0
// Moves bodies that all attract one another, and checks where they are in the end.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

#include "../common/allgather.hpp"
#include "../common/breakdown.hpp"
#include "../common/options.hpp"
#include "../common/program.hpp"
#include "../common/ranges.hpp"
#include "motion.hpp"
#include "ring.hpp"

namespace {

/// Rounding is about 1e-16 per step, and grows a little as the ring turns.
constexpr double kTolerance = 1e-9;
/// Radians by which the ring turns in all.
constexpr double kTurn = 1.0;

struct Settings {
  std::int64_t bodies = 2048;
  std::int64_t steps = 50;
};

/// The largest distance of a coordinate from where it should be; the ring's radius is 1.
/// Collective.
double largest_error(const nbody::Positions& computed, const nbody::Positions& exact) {
  double largest = 0.0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const double error = std::abs(computed[i] - exact[i]);
    largest =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

void report(const Settings& settings, int num_ranks, double elapsed_s, double allgather_s,
            const example::Breakdown& breakdown, double error) {
  std::printf("nbody: %lld bodies, %d ranks\n", static_cast<long long>(settings.bodies), num_ranks);
  std::printf("steps          %lld\n", static_cast<long long>(settings.steps));
  std::printf("solve_s        %.6f\n", elapsed_s);
  std::printf("allgather_s    %.6f (the slowest rank's)\n", allgather_s);
  example::print(breakdown);
  std::printf("error          %.3e (allowed: %.0e)\n", error, kTolerance);
  std::printf("%s\n", error <= kTolerance ? "PASSED" : "FAILED");
}

int run(std::span<char* const> arguments) {
  Settings settings;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::array options = {
      example::Option{"--bodies", example::one(settings.bodies), 1, kMax / 64,
                      "of 24 bytes each, which every rank gets in each step"},
      example::Option{"--steps", example::one(settings.steps), 1, kMax, "time steps"},
  };
  const int rank = example::rank_in(MPI_COMM_WORLD);
  if (!example::parse_options(arguments, options)) {
    if (rank == 0) std::printf("%s", example::help_text(options).c_str());
    return example::kPassed;
  }

  const int num_ranks = example::num_ranks_in(MPI_COMM_WORLD);
  const example::Range own = example::equal_part_of(settings.bodies, num_ranks, rank);
  const nbody::Ring ring(settings.bodies, kTurn / static_cast<double>(settings.steps));
  const auto block_length = example::equal_part_of(settings.bodies, num_ranks, 0).size();
  example::Allgather allgather(block_length * nbody::kNumDimensions, MPI_COMM_WORLD);

  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  const nbody::Positions computed =
      nbody::moved(ring, own, settings.bodies, settings.steps, allgather);
  double elapsed_s = MPI_Wtime() - start_s;
  const example::Breakdown breakdown =
      example::breakdown_of(elapsed_s, allgather.own_s(), MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &elapsed_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  const double error = largest_error(
      computed, nbody::exact_positions(ring, own, static_cast<double>(settings.steps)));
  const double allgather_s = allgather.elapsed_s();
  if (rank == 0) report(settings, num_ranks, elapsed_s, allgather_s, breakdown, error);
  return error <= kTolerance ? example::kPassed : example::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program("nbody", argc, argv, run);
}
