// SPDX-License-Identifier: Apache-2.0
// One of three receives is too small for its message, for each call that completes several.
// Rank 1 prints, for each call and each receive that may be too small, what the calls say of every
// receive (MPI 4.0, 3.7.5). Two ranks.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kNum = 3, kBytes = 1000, kNumCalls = 6 };
static const char* const kNames[kNumCalls] = {"Waitall", "Waitany", "Waitsome",
                                              "Testall", "Testany", "Testsome"};

static int class_of(int code) {
  int result = MPI_SUCCESS;
  MPI_Error_class(code, &result);
  return result;
}

// What one call returns: which receives are complete, and the class of each.
struct Completions {
  int num_done;
  int indices[kNum];
  int classes[kNum];
  MPI_Status statuses[kNum];
};

static struct Completions completions_of_one(int code, int index, int flag,
                                             const MPI_Status* status) {
  struct Completions completions = {0};
  if (!flag || index == MPI_UNDEFINED) return completions;
  completions.num_done = 1;
  completions.indices[0] = index;
  completions.classes[0] = class_of(code);
  completions.statuses[0] = *status;
  return completions;
}

// In calls that complete all, statuses of errors say which are.
static struct Completions completions_of_all(int code, int flag, const int* was_done,
                                             const MPI_Status* statuses) {
  struct Completions completions = {0};
  if (!flag && code == MPI_SUCCESS) return completions;
  for (int index = 0; index < kNum; ++index) {
    const int class = code == MPI_SUCCESS ? MPI_SUCCESS : class_of(statuses[index].MPI_ERROR);
    if (was_done[index] || class == MPI_ERR_PENDING) continue;
    completions.indices[completions.num_done] = index;
    completions.classes[completions.num_done] = class;
    completions.statuses[completions.num_done++] = statuses[index];
  }
  return completions;
}

static struct Completions completions_of_some(int code, int num_done, const int* indices,
                                              const MPI_Status* statuses) {
  struct Completions completions = {0};
  if (num_done == MPI_UNDEFINED) return completions;
  for (int done = 0; done < num_done; ++done) {
    completions.indices[done] = indices[done];
    completions.classes[done] =
        code == MPI_SUCCESS ? MPI_SUCCESS : class_of(statuses[done].MPI_ERROR);
    completions.statuses[done] = statuses[done];
  }
  completions.num_done = num_done;
  return completions;
}

static struct Completions make_call(int call, MPI_Request* requests, const int* was_done) {
  int flag = 1, index = 0, num_done = 0, indices[kNum], code;
  MPI_Status statuses[kNum];
  // What the MPI leaves alone is not to look like a success.
  memset(statuses, 0x55, sizeof statuses);
  switch (call) {
    case 0:
      code = MPI_Waitall(kNum, requests, statuses);
      return completions_of_all(code, 1, was_done, statuses);
    case 1:
      code = MPI_Waitany(kNum, requests, &index, statuses);
      return completions_of_one(code, index, 1, statuses);
    case 2:
      code = MPI_Waitsome(kNum, requests, &num_done, indices, statuses);
      return completions_of_some(code, num_done, indices, statuses);
    case 3:
      code = MPI_Testall(kNum, requests, &flag, statuses);
      return completions_of_all(code, flag, was_done, statuses);
    case 4:
      code = MPI_Testany(kNum, requests, &index, &flag, statuses);
      return completions_of_one(code, index, flag, statuses);
    default:
      code = MPI_Testsome(kNum, requests, &num_done, indices, statuses);
      return completions_of_some(code, num_done, indices, statuses);
  }
}

static void receive(int call, int small, int room) {
  static char in[kNum][kBytes];
  MPI_Request requests[kNum];
  int is_done[kNum] = {0};
  memset(in, 0, sizeof in);
  for (int index = 0; index < kNum; ++index)
    MPI_Irecv(in[index], index == small ? room : kBytes, MPI_CHAR, 0, index, MPI_COMM_WORLD,
              &requests[index]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int num_left = kNum; num_left > 0;) {
    const struct Completions completions = make_call(call, requests, is_done);
    for (int done = 0; done < completions.num_done; ++done) {
      const int index = completions.indices[done];
      int count = -1;
      MPI_Get_count(&completions.statuses[done], MPI_CHAR, &count);
      const int is_right = count == kBytes && completions.statuses[done].MPI_SOURCE == 0 &&
                           completions.statuses[done].MPI_TAG == index &&
                           in[index][0] == index + 1 && in[index][kBytes - 1] == index + 1;
      if (is_done[index]++ || requests[index] != MPI_REQUEST_NULL) printf("complete twice\n");
      printf("%s, %d of %d: receive %d: %s%s\n", kNames[call], room, small, index,
             completions.classes[done] == MPI_SUCCESS        ? "success"
             : completions.classes[done] == MPI_ERR_TRUNCATE ? "truncated"
                                                             : "another error",
             index == small ? ""
             : is_right     ? ", right"
                            : ", wrong");
      --num_left;
    }
  }
}

int main(int argc, char** argv) {
  static char out[kNum][kBytes];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int index = 0; index < kNum; ++index) memset(out[index], index + 1, kBytes);
  for (int call = 0; call < kNumCalls; ++call) {
    for (int small = 0; small < kNum; ++small) {
      // Also below what the library sends in place of a message.
      for (int room = 10; room <= 500; room += 490) {
        if (rank == 1) receive(call, small, room);
        if (rank != 0) continue;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int index = 0; index < kNum; ++index)
          MPI_Send(out[index], kBytes, MPI_CHAR, 1, index, MPI_COMM_WORLD);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
