// SPDX-License-Identifier: Apache-2.0
// Preloaded by tests/mpi/examples/test_examples.py: adds 1 to one number that one rank receives.
#include <mpi.h>

#include <cstdlib>

namespace {

/// The last nonblocking receive: where and of what type the number to corrupt is.
void* received = nullptr;
MPI_Datatype received_type = MPI_DATATYPE_NULL;

/// Adds 1 to the first double of a message, if this is the rank and the receive to be corrupted.
void corrupt_if_chosen(void* buffer, MPI_Datatype type) {
  static int num_receives = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_chosen_rank = rank == std::atoi(std::getenv("CORRUPT_RANK"));
  const bool is_chosen_receive = num_receives++ == std::atoi(std::getenv("CORRUPT_RECEIVE"));
  if (!is_chosen_rank || !is_chosen_receive) return;
  MPI_Aint first_byte = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_true_extent(type, &first_byte, &extent);
  *reinterpret_cast<double*>(static_cast<char*>(buffer) + first_byte) += 1.0;
}

}  // namespace

extern "C" int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                            int dest, int send_tag, void* receive_buffer, int receive_count,
                            MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                            MPI_Status* status) {
  const int code = PMPI_Sendrecv(send_buffer, send_count, send_type, dest, send_tag, receive_buffer,
                                 receive_count, receive_type, source, receive_tag, comm, status);
  corrupt_if_chosen(receive_buffer, receive_type);
  return code;
}

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int code = PMPI_Bcast(buffer, count, type, root, comm);
  corrupt_if_chosen(buffer, type);
  return code;
}

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  if (source != MPI_PROC_NULL) {
    received = buffer;
    received_type = type;
  }
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  const int code = PMPI_Waitall(count, requests, statuses);
  if (received != nullptr) corrupt_if_chosen(received, received_type);
  return code;
}
