// SPDX-License-Identifier: Apache-2.0
// Requests and their names.
#include "messages.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {

Messages::Messages(MPI_Comm comm, std::size_t max_under_way)
    : comm_(comm), requests_(max_under_way, request_null()), places_(max_under_way) {
  // The first places are taken first, and requests that finish at once are found early.
  for (std::size_t place = max_under_way; place > 0; --place) free_places_.push_back(place - 1);
}

Messages::~Messages() {
  for (std::size_t place = 0; num_under_way_ > 0 && place < requests_.size(); ++place) {
    if (requests_[place] == request_null()) continue;
    if (places_[place].is_receive) mpi().Cancel(&requests_[place]);
    mpi().Request_free(&requests_[place]);
    --num_under_way_;
  }
}

int Messages::send(const void* data, std::uint64_t count, MPI_Datatype type, int rank, int tag,
                   MessageName name) {
  return mpi().Isend(data, static_cast<int>(count), type, rank, tag, comm_,
                     &requests_[take_place(name, false)]);
}

int Messages::send_synchronously(const void* data, std::uint64_t count, MPI_Datatype type, int rank,
                                 int tag, MessageName name) {
  return mpi().Issend(data, static_cast<int>(count), type, rank, tag, comm_,
                      &requests_[take_place(name, false)]);
}

int Messages::receive(void* data, std::uint64_t count, MPI_Datatype type, int rank, int tag,
                      MessageName name) {
  return mpi().Irecv(data, static_cast<int>(count), type, rank, tag, comm_,
                     &requests_[take_place(name, true)]);
}

int Messages::wait(MessageName& name) {
  int index = MPI_UNDEFINED;
  const int code = mpi().Waitany(static_cast<int>(requests_.size()), requests_.data(), &index,
                                 MPI_STATUS_IGNORE);
  if (index == MPI_UNDEFINED) return code == MPI_SUCCESS ? MPI_ERR_INTERN : code;
  const auto place = static_cast<std::size_t>(index);
  name = places_[place].name;
  free_places_.push_back(place);
  --num_under_way_;
  return code;
}

int Messages::wait_for_all() {
  for (MessageName name; is_any_under_way();) {
    if (const int code = wait(name); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

std::size_t Messages::take_place(MessageName name, bool is_receive) {
  const std::size_t place = free_places_.back();
  free_places_.pop_back();
  places_[place] = {.name = name, .is_receive = is_receive};
  ++num_under_way_;
  return place;
}

}  // namespace fairlead::collectives
