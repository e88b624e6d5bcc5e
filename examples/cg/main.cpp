// SPDX-License-Identifier: Apache-2.0
// Solves sparse systems by conjugate gradients, on a 2-D process grid or by rows, and checks the
// solutions.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "../common/breakdown.hpp"
#include "../common/options.hpp"
#include "../common/program.hpp"
#include "exchange.hpp"
#include "grid.hpp"
#include "known.hpp"
#include "matrix.hpp"
#include "solve.hpp"
#include "whole_vector.hpp"

namespace {

/// A condition number of at most 3 lets 25 steps reduce the error to 2 * 0.27^25 = 1e-14 (Saad,
/// Iterative Methods for Sparse Linear Systems, 2003, section 6.11.3), so that what is left is
/// rounding.
constexpr double kTolerance_ratio = 1e-10;

struct Settings {
  // A quarter of the work of NPB CG class A, whose size is 14000 with 15 x 25 iterations.
  std::int64_t size = 14000;
  std::int64_t nonzeros = 14;
  std::int64_t iterations = 25;
  std::int64_t systems = 4;
  std::int64_t seed = 1;
  std::int64_t allgather = 0;
};

struct Solved {
  std::vector<std::vector<double>> solution_of_system;
  double own_s = 0.0;      ///< this rank's time
  double elapsed_s = 0.0;  ///< the slowest rank's
};

template <typename AnyExchange>
Solved solve_all(AnyExchange& exchange, const std::vector<std::vector<double>>& rhs_of_system,
                 std::int64_t num_iterations) {
  Solved solved;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (const std::vector<double>& rhs : rhs_of_system) {
    solved.solution_of_system.push_back(cg::solve(exchange, rhs, num_iterations));
  }
  solved.own_s = solved.elapsed_s = MPI_Wtime() - start_s;
  MPI_Allreduce(MPI_IN_PLACE, &solved.elapsed_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return solved;
}

double worse_of(double a, double b) {
  return std::isnan(a) || a >= b ? a : b;
}

/// The largest deviation of all systems; `nan` if one is.
template <typename AnyExchange>
cg::Deviation worst_deviation(AnyExchange& exchange, cg::Range piece, const Solved& solved,
                              const std::vector<std::vector<double>>& rhs_of_system) {
  cg::Deviation worst;
  for (std::size_t system = 0; system < rhs_of_system.size(); ++system) {
    const cg::Deviation one =
        cg::deviation(exchange, piece, static_cast<std::int64_t>(system),
                      solved.solution_of_system[system], rhs_of_system[system]);
    worst.residual_ratio = worse_of(worst.residual_ratio, one.residual_ratio);
    worst.error_ratio = worse_of(worst.error_ratio, one.error_ratio);
  }
  return worst;
}

/// What one way of exchanging found.
struct Result {
  int num_rows = 1;  ///< Rows of the grid of ranks.
  int num_cols = 1;
  double elapsed_s = 0.0;
  double allgather_s = 0.0;
  example::Breakdown breakdown;
  cg::Deviation worst;
};

void report(const Settings& settings, const Result& result) {
  const cg::Deviation& worst = result.worst;
  std::printf("cg: %lld unknowns, %lld nonzeros per row, %d x %d ranks\n",
              static_cast<long long>(settings.size), static_cast<long long>(settings.nonzeros),
              result.num_rows, result.num_cols);
  std::printf("iterations     %lld (%lld systems, %lld each)\n",
              static_cast<long long>(settings.systems * settings.iterations),
              static_cast<long long>(settings.systems),
              static_cast<long long>(settings.iterations));
  std::printf("solve_s        %.6f\n", result.elapsed_s);
  if (settings.allgather != 0) {
    std::printf("allgather_s    %.6f (the slowest rank's)\n", result.allgather_s);
    example::print(result.breakdown);
  }
  std::printf("residual_ratio %.3e (allowed: %.0e)\n", worst.residual_ratio, kTolerance_ratio);
  std::printf("error_ratio    %.3e (allowed: %.0e)\n", worst.error_ratio, kTolerance_ratio);
  std::printf("%s\n", worst.is_within(kTolerance_ratio) ? "PASSED" : "FAILED");
}

/// Solves all systems and compares what comes out. Collective.
/// @param layout  A `Grid` or `Rows`.
template <typename AnyExchange, typename Layout>
Result solve_on(const Layout& layout, const Settings& settings) {
  const cg::Matrix matrix({settings.size, settings.nonzeros, settings.seed});
  const cg::Block block(matrix, layout.row_block(), layout.col_block());
  std::vector<std::vector<double>> rhs_of_system;
  for (std::int64_t system = 0; system < settings.systems; ++system) {
    rhs_of_system.push_back(cg::right_hand_side(matrix, layout.piece(), system));
  }
  AnyExchange exchange(layout, block, MPI_COMM_WORLD);
  const Solved solved = solve_all(exchange, rhs_of_system, settings.iterations);
  Result result;
  result.elapsed_s = solved.elapsed_s;
  if constexpr (std::is_same_v<AnyExchange, cg::WholeVector>) {
    // Before any more communication, which would count.
    result.breakdown =
        example::breakdown_of(solved.own_s, exchange.communication_s(), MPI_COMM_WORLD);
    result.allgather_s = exchange.allgather_s();
  }
  result.worst = worst_deviation(exchange, layout.piece(), solved, rhs_of_system);
  return result;
}

Result solve_as_asked(const Settings& settings, int num_ranks, int rank) {
  if (settings.allgather != 0) {
    Result result = solve_on<cg::WholeVector>(cg::Rows(settings.size, num_ranks, rank), settings);
    result.num_rows = num_ranks;
    return result;
  }
  const cg::Grid grid(settings.size, num_ranks, rank);
  Result result = solve_on<cg::Exchange>(grid, settings);
  result.num_rows = grid.num_rows();
  result.num_cols = grid.num_cols();
  return result;
}

int run(std::span<char* const> arguments) {
  Settings settings;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::array options = {
      example::Option{"--size", example::one(settings.size), 1, kMax, "unknowns"},
      example::Option{"--nonzeros", example::one(settings.nonzeros), 0, 1000,
                      "per row, off the diagonal"},
      example::Option{"--iterations", example::one(settings.iterations), 1, kMax,
                      "steps for each system"},
      example::Option{"--systems", example::one(settings.systems), 1, kMax,
                      "right-hand sides, one by one"},
      example::Option{"--seed", example::one(settings.seed), 0, kMax, "of the random matrix"},
      example::Option{"--allgather", example::one(settings.allgather), 0, 1,
                      "1: every rank gets the whole vector in each step, by gather and bcast"},
  };
  const int rank = example::rank_in(MPI_COMM_WORLD);
  if (!example::parse_options(arguments, options)) {
    if (rank == 0) std::printf("%s", example::help_text(options).c_str());
    return example::kPassed;
  }

  const Result result = solve_as_asked(settings, example::num_ranks_in(MPI_COMM_WORLD), rank);
  if (rank == 0) report(settings, result);
  return result.worst.is_within(kTolerance_ratio) ? example::kPassed : example::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program("cg", argc, argv, run);
}
