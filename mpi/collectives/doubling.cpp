// SPDX-License-Identifier: Apache-2.0
// Recursive doubling between positions of an order.
#include <algorithm>

#include "forms.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

class Doubling {
 public:
  Doubling(const Schedule& schedule, const Team& team, const Reduction& reduction, void* vector,
           Buffers& buffers)
      : schedule_(schedule),
        team_(team),
        reduction_(reduction),
        vector_(vector),
        other_(buffers.slots.room_for(reduction.elements, reduction.elements.count)),
        count_(static_cast<int>(reduction.elements.count)) {
    const auto found = std::find(schedule.order.begin(), schedule.order.end(), team.host);
    position_ = static_cast<int>(found - schedule.order.begin());
  }

  int run() {
    int power = 1;
    while (2 * power <= team_.num_hosts()) power *= 2;
    const int num_others = team_.num_hosts() - power;
    if (position_ >= power) {
      const int code = send(position_ - power);
      return code == MPI_SUCCESS ? receive(position_ - power, vector_) : code;
    }
    if (position_ < num_others) {
      if (const int code = receive(position_ + power, other_); code != MPI_SUCCESS) return code;
      if (const int code = combine(); code != MPI_SUCCESS) return code;
    }
    for (int distance = 1; distance < power; distance *= 2) {
      if (const int code = exchange(position_ ^ distance); code != MPI_SUCCESS) return code;
      if (const int code = combine(); code != MPI_SUCCESS) return code;
    }
    return position_ < num_others ? send(position_ + power) : MPI_SUCCESS;
  }

 private:
  [[nodiscard]] int rank_at(int position) const {
    return team_.rank_of(schedule_.order[static_cast<std::size_t>(position)]);
  }
  int send(int position) {
    return mpi().Send(vector_, count_, reduction_.elements.type, rank_at(position), kTag,
                      team_.comm);
  }
  int receive(int position, void* memory) {
    return mpi().Recv(memory, count_, reduction_.elements.type, rank_at(position), kTag, team_.comm,
                      MPI_STATUS_IGNORE);
  }
  int exchange(int position) {
    return mpi().Sendrecv(vector_, count_, reduction_.elements.type, rank_at(position), kTag,
                          other_, count_, reduction_.elements.type, rank_at(position), kTag,
                          team_.comm, MPI_STATUS_IGNORE);
  }
  int combine() {
    return mpi().Reduce_local(other_, vector_, count_, reduction_.elements.type, reduction_.op);
  }

  const Schedule& schedule_;
  const Team& team_;
  const Reduction& reduction_;
  void* vector_;
  void* other_;
  int count_;
  int position_ = 0;
};

}  // namespace

int doubling_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                       void* vector, Buffers& buffers) {
  return Doubling(schedule, team, reduction, vector, buffers).run();
}

}  // namespace fairlead::collectives
