// SPDX-License-Identifier: Apache-2.0
// fairlead-tune: times collective operations, the MPI's own and those by schedules, where the ranks
// of a program are placed.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "comparison.hpp"
#include "order.hpp"
#include "orders.hpp"
#include "result.hpp"

namespace fairlead::tune {
namespace {

/// A communicator of the order's ranks in their order; MPI_COMM_NULL on all others.
MPI_Comm comm_of(const Order& order, int rank) {
  const auto place = std::find(order.ranks.begin(), order.ranks.end(), rank);
  const bool is_member = place != order.ranks.end();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED,
                 static_cast<int>(place - order.ranks.begin()), &comm);
  // A failed call is an algorithm that is not taken, and no reason to end.
  if (is_member) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/// The main flow: one order after the other.
void run() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (std::string line = next_order(MPI_COMM_WORLD); !line.empty();
       line = next_order(MPI_COMM_WORLD)) {
    const Order order = parse_order(line);
    MPI_Comm comm = comm_of(order, rank);
    ComparisonResult result;
    if (comm != MPI_COMM_NULL) {
      result = compare(order, comm);
      MPI_Comm_free(&comm);
    }
    // The first of them has it, and rank 0 prints.
    const int first = order.ranks.front();
    if (rank == first) print_result(result);
  }
}

}  // namespace
}  // namespace fairlead::tune

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  try {
    fairlead::tune::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead-tune: error %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
