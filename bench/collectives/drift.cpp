// SPDX-License-Identifier: Apache-2.0
// Steps of three collectives for some time. Prints when each step ended and what it took, by the
// clock that bench/collectives/drift.py reads as well, and whether every step was right.
//
// drift SECONDS BYTES
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Step {
  double end_s;
  double step_s;
};

/// The vectors of one rank.
class Vectors {
 public:
  explicit Vectors(int count) : count_(count), sums_(size(count)), blocks_(size(count)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks_);
    all_.resize(sums_.size() * size(num_ranks_));
  }

  /// The root's vector, then the sum of all, then all of them; whether each is what it must be.
  bool step(double number) {
    std::fill(blocks_.begin(), blocks_.end(), rank_ == 0 ? number : -1.0);
    MPI_Bcast(blocks_.data(), count_, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (double& value : blocks_) value += rank_;
    MPI_Allreduce(blocks_.data(), sums_.data(), count_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(blocks_.data(), count_, MPI_DOUBLE, all_.data(), count_, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    const double sum = num_ranks_ * number + num_ranks_ * (num_ranks_ - 1) / 2.0;
    const bool adds_up =
        std::all_of(sums_.begin(), sums_.end(), [sum](double each) { return each == sum; });
    bool is_in_order = true;
    for (std::size_t at = 0; at < all_.size(); ++at) {
      is_in_order = is_in_order && all_[at] == number + static_cast<double>(at / sums_.size());
    }
    return adds_up && is_in_order;
  }

 private:
  static std::size_t size(int count) { return static_cast<std::size_t>(count); }

  int count_;
  int rank_ = 0, num_ranks_ = 1;
  std::vector<double> sums_, blocks_, all_;
};

/// Rank 0 says when the last step has been.
bool goes_on(double end_s) {
  int goes_on = now_s() < end_s ? 1 : 0;
  MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return goes_on != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  Vectors vectors(std::max(1, std::atoi(argv[2]) / static_cast<int>(sizeof(double))));
  std::vector<Step> steps;
  int is_right = 1;
  const double end_s = now_s() + std::atof(argv[1]);
  for (double number = 0; goes_on(end_s); ++number) {
    const double begin_s = now_s();
    if (!vectors.step(number)) is_right = 0;
    const double step_end_s = now_s();
    steps.push_back({step_end_s, step_end_s - begin_s});
  }
  MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (const Step& step : steps) std::printf("step %.6f %.6f\n", step.end_s, step.step_s);
    std::printf("%s\n", is_right != 0 ? "right" : "WRONG");
  }
  MPI_Finalize();
}
