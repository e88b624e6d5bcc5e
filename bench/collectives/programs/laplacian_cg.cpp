// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients on a 5-point Laplacian until the residual is 1e-5 of the first, by rows.
//
// laplacian_cg WIDTH HEIGHT    of the grid, whose points are the unknowns
//
// CMPI (section 5.4) has an allgather of the vector in each step, a gather and a bcast, and stops
// so; its matrix is not named. The paper's larger vectors need more steps; by the right-hand side
// here 51,200 unknowns need fewer than 1,600, and each step costs the same. Computing takes the
// time of `kOperations` for a row and step at the simulated speed.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "../../../examples/common/allgather.hpp"
#include "../../../examples/common/breakdown.hpp"
#include "../../../examples/common/ranges.hpp"

namespace {

using Vector = std::vector<double>;

constexpr double kTolerance = 1e-5;  // section 5.4
/// 10 of a row of the matrix, and 10 of the vectors' updates and products.
constexpr double kOperations = 20.0;

struct Grid {
  std::int64_t width, height;

  [[nodiscard]] std::int64_t size() const { return width * height; }
  [[nodiscard]] double row_times(std::int64_t row, std::span<const double> all) const {
    const std::int64_t column = row % width;
    const auto at = [&](std::int64_t other) { return all[static_cast<std::size_t>(other)]; };
    double sum = 4.0 * at(row);
    if (column > 0) sum -= at(row - 1);
    if (column + 1 < width) sum -= at(row + 1);
    if (row >= width) sum -= at(row - width);
    if (row + width < size()) sum -= at(row + width);
    return sum;
  }
};

/// This rank's rows; the vector comes together on all ranks for each product.
class Rows {
 public:
  Rows(const Grid& grid, int num_ranks, int rank)
      : grid_(grid),
        own_(example::equal_part_of(grid.size(), num_ranks, rank)),
        allgather_(example::equal_part_of(grid.size(), num_ranks, 0).size(), MPI_COMM_WORLD) {}

  [[nodiscard]] std::size_t num_rows() const { return own_.size(); }
  [[nodiscard]] std::int64_t first_row() const { return own_.begin; }
  [[nodiscard]] double communication_s() const { return allgather_.own_s() + sums_s_; }

  Vector times(const Vector& in) {
    Vector block = in;
    block.resize(allgather_.block_length());
    const auto all = allgather_(block);
    Vector out;
    for (std::int64_t row = own_.begin; row < own_.end; ++row) {
      out.push_back(grid_.row_times(row, all));
    }
    smpi_execute_flops(kOperations * static_cast<double>(num_rows()));
    return out;
  }

  double dot(const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t index = 0; index < a.size(); ++index) sum += a[index] * b[index];
    const double start_s = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sums_s_ += MPI_Wtime() - start_s;
    return sum;
  }

 private:
  Grid grid_;
  example::Range own_;
  example::Allgather allgather_;
  double sums_s_ = 0.0;
};

struct Solution {
  Vector values;
  int num_steps = 0;
};

/// Source: Hestenes, Stiefel, Methods of conjugate gradients (1952), section 3.
Solution solve(Rows& rows, const Vector& rhs) {
  Solution solution{.values = Vector(rhs.size(), 0.0)};
  Vector residual = rhs, direction = rhs;
  double norm2 = rows.dot(residual, residual);
  const double enough = kTolerance * kTolerance * norm2;
  while (norm2 > enough) {
    const Vector product = rows.times(direction);
    const double alpha = norm2 / rows.dot(direction, product);
    for (std::size_t index = 0; index < rhs.size(); ++index) {
      solution.values[index] += alpha * direction[index];
      residual[index] -= alpha * product[index];
    }
    const double previous2 = norm2;
    norm2 = rows.dot(residual, residual);
    for (std::size_t index = 0; index < rhs.size(); ++index) {
      direction[index] = residual[index] + norm2 / previous2 * direction[index];
    }
    ++solution.num_steps;
  }
  return solution;
}

/// The norm of what is left of the right-hand side, over its own.
double residual_ratio(Rows& rows, const Solution& solution, const Vector& rhs) {
  Vector left = rows.times(solution.values);
  for (std::size_t index = 0; index < rhs.size(); ++index) left[index] -= rhs[index];
  return std::sqrt(rows.dot(left, left) / rows.dot(rhs, rhs));
}

void report(int num_steps, double solve_s, const example::Breakdown& breakdown, double ratio) {
  std::printf("steps          %d\n", num_steps);
  std::printf("solve_s        %.6f\n", solve_s);
  example::print(breakdown);
  // Rounding lets the computed residual and the true one differ a little.
  std::printf("residual_ratio %.3e\n%s\n", ratio, ratio <= 1.01 * kTolerance ? "PASSED" : "FAILED");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Grid grid{std::atoll(argv[1]), std::atoll(argv[2])};
  const int rank = example::rank_in(MPI_COMM_WORLD);
  Rows rows(grid, example::num_ranks_in(MPI_COMM_WORLD), rank);
  Vector rhs;
  for (std::size_t index = 0; index < rows.num_rows(); ++index) {
    const auto row = static_cast<double>(rows.first_row()) + static_cast<double>(index);
    rhs.push_back(std::sin(7.0 * row) + std::cos(0.3 * row));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  const Solution solution = solve(rows, rhs);
  double solve_s = MPI_Wtime() - start_s;
  const auto breakdown = example::breakdown_of(solve_s, rows.communication_s(), MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &solve_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double ratio = residual_ratio(rows, solution, rhs);
  if (rank == 0) report(solution.num_steps, solve_s, breakdown, ratio);
  MPI_Finalize();
}
