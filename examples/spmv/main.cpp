// SPDX-License-Identifier: Apache-2.0
// Multiplies vectors by a sparse matrix again and again, and shares the tasks out anew meanwhile by
// what the network does. ORACLE's program: a Laplacian on a cube, 100 vectors, 10,000 products.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../common/options.hpp"
#include "../common/program.hpp"
#include "block.hpp"
#include "fairlead.h"
#include "known.hpp"
#include "task.hpp"

namespace {

/// Rounding leaves about 1e-16 per product.
constexpr double kTolerance_ratio = 1e-10;

struct Settings {
  std::int64_t size = 20;
  std::int64_t vectors = 100;
  std::int64_t products = 10000;
  std::int64_t every = 0;
  std::int64_t gain = 10;
  std::int64_t turn = 0;
};

struct Times {
  double products_s = 0.0;
  double last_product_s = 0.0;  ///< Median since the tasks were last shared out.
  double asking_s = 0.0;
  double moving_s = 0.0;
  int num_asked = 0;
  int num_moves = 0;
  int num_unanswered = 0;
};

/// What one product sends, as fairlead_remap takes it.
struct Sends {
  explicit Sends(const spmv::Task& task, std::int64_t num_vectors) {
    for (const spmv::Face& face : task.faces()) {
      neighbours.push_back(face.neighbour);
      bytes.push_back(static_cast<double>(face.num_points()) * static_cast<double>(num_vectors) *
                      sizeof(double));
    }
  }
  std::vector<int> neighbours;
  std::vector<double> bytes;
};

/// A process with its present task.
class Worker {
 public:
  Worker(MPI_Comm comm, const spmv::Boxes& boxes, const Settings& settings)
      : comm_(comm),
        boxes_(boxes),
        settings_(settings),
        rank_(example::rank_in(comm)),
        sharing_(comm, example::num_ranks_in(comm), rank_),
        task_(boxes, rank_, static_cast<std::size_t>(settings.vectors),
              {spmv::matrix_of(boxes, rank_, spmv::kStep),
               spmv::known_vectors(boxes, rank_, settings.vectors, 0)}) {}

  [[nodiscard]] const spmv::Task& task() const { return task_; }

  void multiply() { task_.multiply(comm_, sharing_); }

  /// Shares the tasks out anew where it pays. Collective.
  void remap(std::int64_t products_left, Times& times) {
    const double start_s = MPI_Wtime();
    const Sends sends(task_, settings_.vectors);
    int next = task_.number();
    spmv::Data data = task_.release();
    fairlead_remap_options options{};
    options.move_bytes = data.size_bytes();
    const auto middle = boxes_.middle_of(next);
    options.num_coordinates = static_cast<int>(middle.size());
    options.coordinates = middle.data();
    if (settings_.gain > 0) {
      options.least_gain_ratio = static_cast<double>(settings_.gain) / 100.0;
      options.repeats_left = static_cast<double>(products_left);
    } else {
      constexpr double kAny = 1e-9;
      options.least_gain_ratio = kAny;
    }
    const int state = fairlead_remap(comm_, static_cast<int>(sends.neighbours.size()),
                                     sends.neighbours.data(), sends.bytes.data(), &options, &next);
    const double asked_s = MPI_Wtime();
    ++times.num_asked;
    times.num_moves += state == FAIRLEAD_MOVED ? 1 : 0;
    times.num_unanswered += state == FAIRLEAD_NO_ORACLE ? 1 : 0;
    go_on(next, std::move(data));
    times.asking_s += asked_s - start_s;
    times.moving_s += MPI_Wtime() - asked_s;
  }

  /// Moves every task to the next process, for tests of moving without an oracle. Collective.
  void turn() { go_on((task_.number() + 1) % example::num_ranks_in(comm_), task_.release()); }

 private:
  void go_on(int next, spmv::Data data) {
    spmv::Sharing then(comm_, example::num_ranks_in(comm_), next);
    data = spmv::moved(comm_, std::move(data), sharing_, then, rank_);
    task_ = spmv::Task(boxes_, next, static_cast<std::size_t>(settings_.vectors), std::move(data));
    sharing_ = std::move(then);
  }

  MPI_Comm comm_;
  const spmv::Boxes& boxes_;
  const Settings& settings_;
  int rank_;
  spmv::Sharing sharing_;
  spmv::Task task_;
};

/// Not the mean: the first messages to a new neighbour also make its connection.
double median(std::vector<double>& values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Times multiply_all(Worker& worker, const Settings& settings, MPI_Comm comm) {
  Times times;
  MPI_Barrier(comm);
  const double start_s = MPI_Wtime();
  std::vector<double> last_s;
  for (std::int64_t product = 0; product < settings.products; ++product) {
    if (settings.every > 0 && product > 0 && product % settings.every == 0) {
      worker.remap(settings.products - product, times);
      last_s.clear();
    }
    if (settings.turn > 0 && product > 0 && product % settings.turn == 0) worker.turn();
    const double begin_s = MPI_Wtime();
    worker.multiply();
    last_s.push_back(MPI_Wtime() - begin_s);
  }
  const double end_s = MPI_Wtime();
  std::array<double, 4> slowest_s = {end_s - start_s - times.asking_s - times.moving_s,
                                     median(last_s), times.asking_s, times.moving_s};
  MPI_Allreduce(MPI_IN_PLACE, slowest_s.data(), 4, MPI_DOUBLE, MPI_MAX, comm);
  times.products_s = slowest_s[0];
  times.last_product_s = slowest_s[1];
  times.asking_s = slowest_s[2];
  times.moving_s = slowest_s[3];
  return times;
}

/// Vectors of all tasks on rank 0 in the order of the cube, shape (points, vectors). Collective.
std::vector<double> whole(const Worker& worker, const spmv::Boxes& boxes, std::int64_t num_vectors,
                          MPI_Comm comm) {
  constexpr int kTag = 3;
  const std::span<const double> own = worker.task().vectors();
  const int number = worker.task().number();
  if (example::rank_in(comm) != 0) {
    MPI_Send(&number, 1, MPI_INT, 0, kTag, comm);
    MPI_Send(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, 0, kTag, comm);
    return {};
  }
  const auto size = static_cast<std::size_t>(boxes.size());
  const auto length = static_cast<std::size_t>(num_vectors);
  std::vector<double> cube(size * size * size * length);
  for (int process = 0; process < example::num_ranks_in(comm); ++process) {
    int task = number;
    std::vector<double> values(own.begin(), own.end());
    if (process != 0) {
      MPI_Recv(&task, 1, MPI_INT, process, kTag, comm, MPI_STATUS_IGNORE);
      values.resize(boxes.num_points(task) * length);
      MPI_Recv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, process, kTag, comm,
               MPI_STATUS_IGNORE);
    }
    const auto box = boxes.box_of(task);
    auto from = values.begin();
    for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
      for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
        const auto row = (static_cast<std::size_t>(x) * size + static_cast<std::size_t>(y)) * size +
                         static_cast<std::size_t>(box[2].begin);
        const auto count = static_cast<std::ptrdiff_t>(box[2].size() * length);
        std::copy(from, from + count, cube.begin() + static_cast<std::ptrdiff_t>(row * length));
        from += count;
      }
    }
  }
  return cube;
}

/// How far one more product of all is from a serial one on rank 0. Collective.
double serial_error_ratio(Worker& worker, const spmv::Boxes& boxes, const Settings& settings,
                          MPI_Comm comm) {
  const std::vector<double> before = whole(worker, boxes, settings.vectors, comm);
  worker.multiply();
  const std::vector<double> after = whole(worker, boxes, settings.vectors, comm);
  spmv::Difference difference;
  if (example::rank_in(comm) == 0) {
    const spmv::Boxes one(settings.size, {1, 1, 1});
    std::vector<double> product(before.size());
    spmv::multiply(spmv::matrix_of(one, 0, spmv::kStep), static_cast<std::size_t>(settings.vectors),
                   before, product);
    difference.add(after, product);
  }
  return difference.ratio(comm);
}

int run(std::span<char* const> arguments) {
  Settings settings;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::array options = {
      example::Option{"--size", example::one(settings.size), 1, 512, "points per side of the cube"},
      example::Option{"--vectors", example::one(settings.vectors), 1, 1000,
                      "vectors that are multiplied together"},
      example::Option{"--products", example::one(settings.products), 0, kMax, "products"},
      example::Option{"--every", example::one(settings.every), 0, kMax,
                      "ask for a new mapping each N products; 0: never"},
      example::Option{
          "--gain", example::one(settings.gain), 0, 99,
          "percent of the time on the network that a move has to save, in addition to its "
          "own time; 0: any move that saves some"},
      example::Option{"--turn", example::one(settings.turn), 0, kMax,
                      "move all tasks by one process each N products; 0: never"},
  };
  MPI_Comm comm = MPI_COMM_WORLD;
  const bool is_first = example::rank_in(comm) == 0;
  if (!example::parse_options(arguments, options)) {
    if (is_first) std::printf("%s", example::help_text(options).c_str());
    return example::kPassed;
  }
  const spmv::Boxes boxes(settings.size, spmv::task_grid(example::num_ranks_in(comm)));
  Worker worker(comm, boxes, settings);
  const Times times = multiply_all(worker, settings, comm);
  spmv::Difference difference;
  const std::vector<double> known =
      spmv::known_vectors(boxes, worker.task().number(), settings.vectors, settings.products);
  difference.add(worker.task().vectors(), known);
  const double error = difference.ratio(comm);
  const double serial_error = serial_error_ratio(worker, boxes, settings, comm);
  const bool has_passed = error <= kTolerance_ratio && serial_error <= kTolerance_ratio;
  if (is_first) {
    const spmv::Place& grid = boxes.grid();
    std::printf("spmv: %lld^3 points, %d x %d x %d tasks, %lld vectors\n",
                static_cast<long long>(settings.size), grid[0], grid[1], grid[2],
                static_cast<long long>(settings.vectors));
    std::printf("products       %lld\n", static_cast<long long>(settings.products));
    std::printf("solve_s        %.6f\n", times.products_s);
    std::printf("last_product_s %.6f\n", times.last_product_s);
    std::printf("remappings     %d asked for, %d moved tasks, %d without an oracle\n",
                times.num_asked, times.num_moves, times.num_unanswered);
    std::printf("asking_s       %.6f\n", times.asking_s);
    std::printf("moving_s       %.6f\n", times.moving_s);
    std::printf("error_ratio    %.3e (allowed: %.0e)\n", error, kTolerance_ratio);
    std::printf("serial_ratio   %.3e (allowed: %.0e)\n", serial_error, kTolerance_ratio);
    std::printf("%s\n", has_passed ? "PASSED" : "FAILED");
  }
  return has_passed ? example::kPassed : example::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program("spmv", argc, argv, run);
}
