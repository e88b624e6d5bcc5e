// SPDX-License-Identifier: Apache-2.0
// Forwards each operation.
#include "calls.hpp"

namespace fairlead::tune {

Calls native_calls(MPI_Comm comm) {
  return {
      .bcast = [comm](void* buffer, int count, MPI_Datatype type,
                      int root) { return MPI_Bcast(buffer, count, type, root, comm); },
      .reduce = [comm](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                       int root) { return MPI_Reduce(out, in, count, type, op, root, comm); },
      .gather = [comm](
                    const void* out, void* in, int count, MPI_Datatype type,
                    int root) { return MPI_Gather(out, count, type, in, count, type, root, comm); },
      .scatter =
          [comm](const void* out, void* in, int count, MPI_Datatype type, int root) {
            return MPI_Scatter(out, count, type, in, count, type, root, comm);
          },
      .allgather =
          [comm](const void* out, void* in, int count, MPI_Datatype type) {
            return MPI_Allgather(out, count, type, in, count, type, comm);
          },
      .allreduce = [comm](const void* out, void* in, int count, MPI_Datatype type,
                          MPI_Op op) { return MPI_Allreduce(out, in, count, type, op, comm); },
      .reduce_scatter =
          [comm](const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op) {
            return MPI_Reduce_scatter(out, in, counts, type, op, comm);
          },
      .alltoall =
          [comm](const void* out, void* in, int count, MPI_Datatype type) {
            return MPI_Alltoall(out, count, type, in, count, type, comm);
          },
      .barrier = [comm] { return MPI_Barrier(comm); },
  };
}

Calls planned_calls(const collectives::Schedule& schedule, collectives::Members& members) {
  namespace ours = collectives;
  const auto* plan = &schedule;
  auto* all = &members;
  return {
      .bcast = [plan, all](
                   void* buffer, int count, MPI_Datatype type,
                   int root) { return ours::bcast(*plan, *all, buffer, count, type, root); },
      .reduce = [plan, all](
                    const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                    int root) { return ours::reduce(*plan, *all, out, in, count, type, op, root); },
      .gather =
          [plan, all](const void* out, void* in, int count, MPI_Datatype type, int root) {
            return ours::gather(*plan, *all, out, count, type, in, count, type, root);
          },
      .scatter =
          [plan, all](const void* out, void* in, int count, MPI_Datatype type, int root) {
            return ours::scatter(*plan, *all, out, count, type, in, count, type, root);
          },
      .allgather =
          [plan, all](const void* out, void* in, int count, MPI_Datatype type) {
            return ours::allgather(*plan, *all, out, count, type, in, count, type);
          },
      .allreduce =
          [plan, all](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op) {
            return ours::allreduce(*plan, *all, out, in, count, type, op);
          },
      .reduce_scatter =
          [plan, all](const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op) {
            return ours::reduce_scatter(*plan, *all, out, in, counts, type, op);
          },
      .alltoall =
          [plan, all](const void* out, void* in, int count, MPI_Datatype type) {
            return ours::alltoall(*plan, *all, out, count, type, in, count, type);
          },
      .barrier = [plan, all] { return ours::barrier(*plan, *all); },
  };
}

}  // namespace fairlead::tune
