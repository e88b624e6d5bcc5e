// SPDX-License-Identifier: Apache-2.0
// Rank 0 makes a topology in which rank 1 takes no part: rank 1 sends it a message that is too long
// for the agreement on roles. Rank 0 leaves the call by its error handler: by an exception, by a
// longjmp, by the end of its thread, or with the error (first argument). Then every rank sends 10
// bytes to the next.
#include <mpi.h>
#include <pthread.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

namespace {

struct Left {};

const char* way = "";
std::jmp_buf back;
MPI_Comm old_comm = MPI_COMM_NULL;
int num_errors = 0;

void leave(MPI_Comm* comm, int*, ...) {
  if (*comm == old_comm) ++num_errors;
  if (std::strcmp(way, "exception") == 0) throw Left{};
  if (std::strcmp(way, "longjmp") == 0) std::longjmp(back, 1);
  if (std::strcmp(way, "pthread_exit") == 0) pthread_exit(nullptr);
}

void* make_topology(void*) {
  const int extent = 2;
  const int is_periodic = 0;
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Cart_create(old_comm, 1, &extent, &is_periodic, 1, &made);
  if (std::strcmp(way, "code") != 0 || code == MPI_SUCCESS) std::printf("was not left\n");
  return nullptr;
}

void make_and_leave() {
  if (std::strcmp(way, "pthread_exit") == 0) {
    pthread_t thread{};
    pthread_create(&thread, nullptr, make_topology, nullptr);
    pthread_join(thread, nullptr);
  } else if (std::strcmp(way, "longjmp") == 0) {
    if (setjmp(back) == 0) make_topology(nullptr);
  } else {
    try {
      make_topology(nullptr);
    } catch (const Left&) {
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  way = argv[1];
  int provided = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &old_comm);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(old_comm, handler);
  std::array<char, 1024> buffer{};
  if (rank == 0) {
    make_and_leave();
    std::printf("errors: %d\n", num_errors);
  } else {
    MPI_Gather(buffer.data(), 1024, MPI_BYTE, nullptr, 0, MPI_BYTE, 0, old_comm);
  }
  MPI_Sendrecv(buffer.data(), 10, MPI_BYTE, 1 - rank, 0, buffer.data() + 512, 10, MPI_BYTE,
               1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(old_comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
}
