// SPDX-License-Identifier: Apache-2.0
// Makes the same allreduce again and again, and prints the time of one, the slowest rank's.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int num_calls = std::atoi(argv[1]);
  const int count = std::max(1, std::atoi(argv[2]) / static_cast<int>(sizeof(double)));
  std::vector<double> out(static_cast<std::size_t>(count), 1.0), in(out.size());
  const auto call = [&] {
    MPI_Allreduce(out.data(), in.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
  // The first ones set things up.
  for (int done = 0; done < 100; ++done) call();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (int done = 0; done < num_calls; ++done) call();
  const double mine_s = (MPI_Wtime() - start_s) / num_calls;
  double longest_s = 0;
  MPI_Reduce(&mine_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.9g\n", longest_s);
  MPI_Finalize();
}
