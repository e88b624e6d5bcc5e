// SPDX-License-Identifier: Apache-2.0
// Computes heat flow in a cube, split over any number of ranks, and checks it against the exact
// decay.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>

#include "../common/options.hpp"
#include "../common/program.hpp"
#include "domain.hpp"
#include "field.hpp"
#include "halo.hpp"
#include "heat.hpp"

namespace {

/// Rounding leaves about 1e-16 per step at worst.
constexpr double kTolerance_ratio = 1e-9;

struct Settings {
  std::int64_t size = 96;
  std::int64_t steps = 100;
  std::array<std::int64_t, stencil::kNumDimensions> dims = {0, 0, 0};
};

/// Advances `field` and returns the seconds of the slowest rank. Collective.
double advance(stencil::Field& field, const stencil::Domain& domain, std::int64_t num_steps) {
  stencil::Field next(domain.box());
  const stencil::Halo halo(domain, field);
  MPI_Barrier(domain.comm());
  const double start_s = MPI_Wtime();
  for (std::int64_t step = 0; step < num_steps; ++step) {
    halo.exchange(field);
    stencil::step(field, next);
    std::swap(field, next);
  }
  double elapsed_s = MPI_Wtime() - start_s;
  MPI_Allreduce(MPI_IN_PLACE, &elapsed_s, 1, MPI_DOUBLE, MPI_MAX, domain.comm());
  return elapsed_s;
}

/// |computed - exact| / |exact| in the Euclidean norm over the whole cube. Collective.
double error_ratio(const stencil::Field& computed, const stencil::Field& exact, MPI_Comm comm) {
  std::array<double, 2> sums = {0.0, 0.0};
  computed.for_each_point([&](std::size_t x, std::size_t y, std::size_t z) {
    const std::size_t i = computed.at(x, y, z);
    const double error = computed.values()[i] - exact.values()[i];
    sums[0] += error * error;
    sums[1] += exact.values()[i] * exact.values()[i];
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm);
  // Far below this the heat is gone, and with it the digits of squares this small.
  constexpr double kGone = 1e-100;
  return std::sqrt(sums[0]) / std::max(std::sqrt(sums[1]), kGone);
}

void report(const Settings& settings, const stencil::Domain& domain, double elapsed_s,
            double error) {
  std::printf("stencil: %lld^3 points, %s ranks\n", static_cast<long long>(settings.size),
              stencil::as_text(domain.dims()).c_str());
  std::printf("steps          %lld\n", static_cast<long long>(settings.steps));
  std::printf("solve_s        %.6f\n", elapsed_s);
  std::printf("error_ratio    %.3e (allowed: %.0e)\n", error, kTolerance_ratio);
  std::printf("%s\n", error <= kTolerance_ratio ? "PASSED" : "FAILED");
}

int run(std::span<char* const> arguments) {
  Settings settings;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::array options = {
      example::Option{"--size", example::one(settings.size), 1, 4096,
                      "points per side of the cube"},
      example::Option{"--steps", example::one(settings.steps), 0, kMax, "time steps"},
      example::Option{"--dims", settings.dims, 0, kMax, "ranks along x, y, z; 0: MPI chooses"},
  };
  const int world_rank = example::rank_in(MPI_COMM_WORLD);
  if (!example::parse_options(arguments, options)) {
    if (world_rank == 0) std::printf("%s", example::help_text(options).c_str());
    return example::kPassed;
  }

  const stencil::PerDimension wanted = {static_cast<int>(settings.dims[0]),
                                        static_cast<int>(settings.dims[1]),
                                        static_cast<int>(settings.dims[2])};
  const stencil::Domain domain(
      settings.size, stencil::process_grid(example::num_ranks_in(MPI_COMM_WORLD), wanted));

  stencil::Field field = stencil::exact_field(domain.box(), settings.size, 0);
  const double elapsed_s = advance(field, domain, settings.steps);
  const stencil::Field exact = stencil::exact_field(domain.box(), settings.size, settings.steps);
  const double error = error_ratio(field, exact, domain.comm());
  if (world_rank == 0) report(settings, domain, elapsed_s, error);
  return error <= kTolerance_ratio ? example::kPassed : example::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program("stencil", argc, argv, run);
}
