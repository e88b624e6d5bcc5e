// SPDX-License-Identifier: Apache-2.0
// Calls with an error are left by the error handler: by an exception, by a longjmp, or by the end
// of their thread (first argument). After each, every rank sends 10 bytes to the next. With a
// second argument the calls are receives.
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
int rank = 0;
int size = 0;

void leave(MPI_Comm*, int*, ...) {
  if (std::strcmp(way, "exception") == 0) throw Left{};
  if (std::strcmp(way, "longjmp") == 0) std::longjmp(back, 1);
  if (std::strcmp(way, "pthread_exit") == 0) pthread_exit(nullptr);
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

// Each goes through another kind of wrapper.
constexpr int kCalls = 5;
void make_wrong_call(int call);

// Each goes through another function where messages are relayed.
constexpr int kReceives = 5;
void receive_wrongly(int call) {
  static std::array<char, 4096> sent{};
  std::array<char, 100> buffer{};
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  static MPI_Request request;
  // What the last call has left of it.
  if (call == 4 && request != MPI_REQUEST_NULL) std::printf("a request of a call that was left\n");
  request = MPI_REQUEST_NULL;
  if (call == 0) MPI_Recv(buffer.data(), 100, MPI_BYTE, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (call == 1) MPI_Irecv(buffer.data(), 100, MPI_BYTE, size, 0, MPI_COMM_WORLD, &request);
  // The others are too short for what comes.
  const int num_bytes = call == 3 ? 300 : 4096;
  MPI_Send(sent.data(), num_bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD);
  if (call == 2) {
    MPI_Recv(buffer.data(), 100, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(buffer.data(), 100, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request);
  if (call >= 3) MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::printf("receive %d was not left\n", call);
}

void (*leave_call)(int) = make_wrong_call;

void make_wrong_call(int call) {
  std::array<char, 8> buffer{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  const int too_many = 1000;
  const int is_periodic = 0;
  if (call == 0) MPI_Send(buffer.data(), 1, MPI_BYTE, size, 0, MPI_COMM_WORLD);
  if (call == 1) MPI_Bcast(buffer.data(), -1, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (call == 2) MPI_Send_init(buffer.data(), 1, MPI_BYTE, size, 0, MPI_COMM_WORLD, &request);
  if (call == 3) MPI_Cart_create(MPI_COMM_WORLD, 1, &too_many, &is_periodic, 1, &made);
  if (call == 4) MPI_Comm_free(&made);
  std::printf("call %d was not left\n", call);
}

void* in_thread(void* call) {
  leave_call(*static_cast<int*>(call));
  return nullptr;
}

void make_and_leave(int call) {
  if (std::strcmp(way, "exception") == 0) {
    try {
      leave_call(call);
    } catch (const Left&) {
    }
  } else if (std::strcmp(way, "longjmp") == 0) {
    if (setjmp(back) == 0) leave_call(call);
  } else {
    pthread_t thread{};
    pthread_create(&thread, nullptr, in_thread, &call);
    pthread_join(thread, nullptr);
  }
}

// Further down the stack than the call that was left.
[[gnu::noinline]] void send_to_next() {
  std::array<char, 4096> buffer{};
  MPI_Sendrecv(buffer.data(), 10, MPI_BYTE, (rank + 1) % size, 0, buffer.data() + 2048, 10,
               MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  way = argv[1];
  const bool are_receives = argc > 2;
  if (are_receives) leave_call = receive_wrongly;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  for (int call = 0; call < (are_receives ? kReceives : kCalls); ++call) {
    make_and_leave(call);
    send_to_next();
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
}
