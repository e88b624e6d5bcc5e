// SPDX-License-Identifier: Apache-2.0
// Solves a differential equation by 3-D Fourier transforms in pencils and checks the solution.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>

#include "../common/options.hpp"
#include "../common/program.hpp"
#include "pencils.hpp"
#include "solver.hpp"

namespace {

/// Rounding leaves about 1e-15.
constexpr double kTolerance_ratio = 1e-12;

struct Settings {
  std::int64_t size = 64;
  std::int64_t systems = 4;
  std::array<std::int64_t, 2> dims = {0, 0};
};

/// |computed - exact| / |exact| in the Euclidean norm over the whole cube. Collective.
double error_ratio(const fft::Field& computed, const fft::Field& exact, MPI_Comm comm) {
  std::array<double, 2> sums = {0.0, 0.0};
  for (std::size_t i = 0; i < computed.values.size(); ++i) {
    sums[0] += std::norm(computed.values[i] - exact.values[i]);
    sums[1] += std::norm(exact.values[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(sums[0] / sums[1]);
}

struct Solved {
  double elapsed_s = 0.0;    ///< Time of the slowest rank, all systems.
  double error_ratio = 0.0;  ///< The largest of all systems; `nan` if one is.
};

/// Collective.
Solved solve_all(const Settings& settings, const fft::Pencils& pencils) {
  fft::Solver solver(pencils, settings.size);
  Solved solved;
  for (std::int64_t system = 0; system < settings.systems; ++system) {
    fft::Field field(pencils.box(fft::Axis::z, pencils.own()));
    fft::Field exact = field;
    fft::fill(field, settings.size, system,
              [](const fft::Wave& wave) { return wave.eigenvalue(); });
    fft::fill(exact, settings.size, system, [](const fft::Wave&) { return 1.0; });
    MPI_Barrier(pencils.comm());
    const double start_s = MPI_Wtime();
    solver.solve(field);
    solved.elapsed_s += MPI_Wtime() - start_s;
    const double error = error_ratio(field, exact, pencils.comm());
    if (!(error <= solved.error_ratio)) solved.error_ratio = error;
    if (std::isnan(error)) break;
  }
  MPI_Allreduce(MPI_IN_PLACE, &solved.elapsed_s, 1, MPI_DOUBLE, MPI_MAX, pencils.comm());
  return solved;
}

void report(const Settings& settings, const fft::Pencils& pencils, const Solved& solved) {
  std::printf("fft: %lld^3 points, %s ranks\n", static_cast<long long>(settings.size),
              pencils.text().c_str());
  std::printf("systems        %lld\n", static_cast<long long>(settings.systems));
  std::printf("solve_s        %.6f\n", solved.elapsed_s);
  std::printf("error_ratio    %.3e (allowed: %.0e)\n", solved.error_ratio, kTolerance_ratio);
  std::printf("%s\n", solved.error_ratio <= kTolerance_ratio ? "PASSED" : "FAILED");
}

int run(std::span<char* const> arguments) {
  Settings settings;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::array options = {
      example::Option{"--size", example::one(settings.size), fft::kMinPoints, 4096,
                      "points per side of the cube, a power of two"},
      example::Option{"--systems", example::one(settings.systems), 1, kMax,
                      "right-hand sides, one by one"},
      example::Option{"--dims", settings.dims, 0, 65536,
                      "ranks along both sides of the grid; 0: MPI chooses"},
  };
  const int world_rank = example::rank_in(MPI_COMM_WORLD);
  if (!example::parse_options(arguments, options)) {
    if (world_rank == 0) std::printf("%s", example::help_text(options).c_str());
    return example::kPassed;
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(settings.size))) {
    throw example::UsageError("--size: " + std::to_string(settings.size) +
                              " is not a power of two");
  }

  const fft::Pencils pencils(
      settings.size, {static_cast<int>(settings.dims[0]), static_cast<int>(settings.dims[1])});
  const Solved solved = solve_all(settings, pencils);
  if (world_rank == 0) report(settings, pencils, solved);
  return solved.error_ratio <= kTolerance_ratio ? example::kPassed : example::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program("fft", argc, argv, run);
}
