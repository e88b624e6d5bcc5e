// SPDX-License-Identifier: Apache-2.0
// The handlers: a call follows a schedule, or is the MPI's own.
//
// The MPI's own call, and the program's error handler, may be left by a longjmp, an exception or
// the end of the thread. So what has something to clean up is in a function that has returned.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "collectives/accepted_arguments.hpp"
#include "collectives/call_sizes.hpp"
#include "collectives/combining.hpp"
#include "collectives/communicator_schedules.hpp"
#include "collectives/host_copy.hpp"
#include "collectives/watched_call.hpp"
#include "collectives/wrong_arguments.hpp"
#include "operations.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/cancellation.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"
#include "session/feature.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::kNoHost;
using executors::Members;
using executors::Operation;
using executors::Schedule;

// Its own rank can see that a root does not exist, such as MPI_PROC_NULL, which may be the same
// number as kNoHost. The MPI reports it at once: so nothing collective comes before.
bool has_right_root(MPI_Comm comm, const CollectiveCall& call) {
  if (!executors::has_root(call.operation)) return true;
  return 0 <= call.root && call.root < num_ranks_with_rules(comm);
}

struct Outcome {
  bool is_native = false;
  int code = MPI_SUCCESS;
};

// `is_accepted` asks whether the MPI would make the call with this rank's arguments; `facts`
// returns the call as all ranks see it; `follow` makes it by its schedule. What is not accepted is
// the MPI's own call, which reports the error, after this rank has done its part. Where the MPI's
// own call is compared with a schedule, its error is a code: the ranks agree on times after it.
template <class Native, class IsAccepted, class Facts, class Follow>
[[gnu::noinline]] Outcome try_to_follow(MPI_Comm comm, Native native, IsAccepted is_accepted,
                                        Facts facts, Follow follow) noexcept {
  const NoCancellation no_cancellation;
  try {
    // In the root's group of an intercommunicator, other ranks may pass invalid arguments.
    if (num_ranks_with_rules(comm) == 0) return {.is_native = true};
    const bool is_right = is_accepted();
    const CollectiveCall call = facts(is_right);
    if (!has_right_root(comm, call)) return {.is_native = true};
    if (!is_right && !may_take_part(call.operation)) return {.is_native = true};
    const Followed found = find_schedule(comm, call);
    if (found.schedule == nullptr && found.watched == nullptr) return {.is_native = true};
    const auto make = [&] {
      if (found.schedule != nullptr && is_right) return follow(*found.schedule, *found.members);
      const ReturnedErrors errors(comm);
      return is_right ? native() : take_part(comm, found, call);
    };
    const int code = found.watched == nullptr ? code_of(make) : watched_call(*found.watched, make);
    // After an error, too: the others may have none, and agree with this rank now.
    if (found.watched != nullptr && found.watched->is_due()) check_calls(comm, *found.watched);
    return {.is_native = !is_right, .code = code};
  } catch (const MpiFailure& failure) {
    return {.code = failure.code};
  } catch (...) {
    return {.code = MPI_ERR_NO_MEM};
  }
}

template <class Native, class IsAccepted, class Facts, class Follow>
int handle(MPI_Comm comm, Native native, IsAccepted is_accepted, Facts facts, Follow follow) {
  if (comm == comm_null()) return native();
  const Outcome outcome = try_to_follow(comm, native, is_accepted, facts, follow);
  if (outcome.is_native) return native();
  if (outcome.code != MPI_SUCCESS) mpi().Comm_call_errhandler(comm, outcome.code);
  return outcome.code;
}

template <class Count>
int bcast(int (*native)(void*, Count, MPI_Datatype, int, MPI_Comm), void* buffer, Count count,
          MPI_Datatype type, int root, MPI_Comm comm) {
  return handle(
      comm, [&] { return native(buffer, count, type, root, comm); },
      [&] {
        return is_rank(comm, root) ? may_send(buffer, count, type)
                                   : may_receive(buffer, count, type);
      },
      [&](bool) { return CollectiveCall{Operation::bcast, bytes_of(count, type), root}; },
      [&](const Schedule& schedule, Members& members) {
        const HostCopy copy(buffer, type, members, one_block(count));
        return call_in_host_memory(copy, members.rank() == root, [&](void* data) {
          return executors::bcast(schedule, members, data, narrow(count), type, root);
        });
      });
}

template <class Count>
int reduce(int (*native)(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm),
           const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  return handle(
      comm, [&] { return native(send, receive, count, type, op, root, comm); },
      [&] {
        const bool is_root = is_rank(comm, root);
        if (!may_send(send, count, type, at_root(is_root))) return false;
        return !is_root ||
               (may_receive(receive, count, type) && may_reduce(send, receive, count, type, op));
      },
      [&](bool is_right) {
        const std::uint64_t bytes = is_right && can_combine(op, type) ? bytes_of(count, type) : 0;
        return CollectiveCall{Operation::reduce, bytes, root};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            HostCopy(send, type, members, one_block(count)),
            members.rank() == root ? HostCopy(receive, type, members, one_block(count))
                                   : HostCopy::unused(receive),
            [&](const void* from, void* to) {
              return executors::reduce(schedule, members, from, to, narrow(count), type, op, root);
            });
      });
}

template <class Count>
int allreduce(int (*native)(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm),
              const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  return handle(
      comm, [&] { return native(send, receive, count, type, op, comm); },
      [&] {
        return may_send(send, count, type, InPlace::yes) && may_receive(receive, count, type) &&
               may_reduce(send, receive, count, type, op);
      },
      [&](bool is_right) {
        const std::uint64_t bytes = is_right && can_combine(op, type) ? bytes_of(count, type) : 0;
        return CollectiveCall{Operation::allreduce, bytes, kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            HostCopy(send, type, members, one_block(count)),
            HostCopy(receive, type, members, one_block(count)), [&](const void* from, void* to) {
              return executors::allreduce(schedule, members, from, to, narrow(count), type, op);
            });
      });
}

template <class Count>
using Exchange = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm);
template <class Count>
using RootedExchange = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int,
                               MPI_Comm);

// At the root of a gather only what it receives counts, elsewhere only what is sent.
template <class Count>
int gather(RootedExchange<Count> native, const void* send, Count send_count, MPI_Datatype send_type,
           void* receive, Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  return handle(
      comm,
      [&] {
        return native(send, send_count, send_type, receive, receive_count, receive_type, root,
                      comm);
      },
      [&] {
        const bool is_root = is_rank(comm, root);
        if (!may_send(send, send_count, send_type, at_root(is_root))) return false;
        if (!is_root) return true;
        return may_receive(receive, receive_count, receive_type) &&
               (send == MPI_IN_PLACE ||
                may_move(send, send_count, send_type,
                         own_block(receive, receive_count, receive_type, comm), receive_count,
                         receive_type));
      },
      [&](bool is_right) {
        const bool is_root = is_rank(comm, root);
        std::uint64_t bytes =
            is_root ? bytes_of(receive_count, receive_type) : bytes_of(send_count, send_type);
        // Where what it receives is wrong, what the root sends has the same size.
        const bool has_other = is_root && send != MPI_IN_PLACE;
        if (!is_right && bytes == 0 && has_other) bytes = bytes_of(send_count, send_type);
        return CollectiveCall{Operation::gather, bytes, root};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            HostCopy(send, send_type, members, one_block(send_count)),
            members.rank() == root
                ? HostCopy(receive, receive_type, members, block_of_each(members, receive_count))
                : HostCopy::unused(receive),
            [&](const void* from, void* to) {
              return executors::gather(schedule, members, from, narrow(send_count), send_type, to,
                                       narrow(receive_count), receive_type, root);
            });
      });
}

template <class Count>
int scatter(RootedExchange<Count> native, const void* send, Count send_count,
            MPI_Datatype send_type, void* receive, Count receive_count, MPI_Datatype receive_type,
            int root, MPI_Comm comm) {
  return handle(
      comm,
      [&] {
        return native(send, send_count, send_type, receive, receive_count, receive_type, root,
                      comm);
      },
      [&] {
        const bool is_root = is_rank(comm, root);
        if (!may_receive(receive, receive_count, receive_type, at_root(is_root))) return false;
        if (!is_root) return true;
        return may_send(send, send_count, send_type) &&
               (receive == MPI_IN_PLACE ||
                may_move(own_block(send, send_count, send_type, comm), send_count, send_type,
                         receive, receive_count, receive_type));
      },
      [&](bool is_right) {
        const bool is_root = is_rank(comm, root);
        std::uint64_t bytes =
            is_root ? bytes_of(send_count, send_type) : bytes_of(receive_count, receive_type);
        const bool has_other = is_root && receive != MPI_IN_PLACE;
        if (!is_right && bytes == 0 && has_other) bytes = bytes_of(receive_count, receive_type);
        return CollectiveCall{Operation::scatter, bytes, root};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            members.rank() == root
                ? HostCopy(send, send_type, members, block_of_each(members, send_count))
                : HostCopy::unused(send),
            HostCopy(receive, receive_type, members, one_block(receive_count)),
            [&](const void* from, void* to) {
              return executors::scatter(schedule, members, from, narrow(send_count), send_type, to,
                                        narrow(receive_count), receive_type, root);
            });
      });
}

template <class Count>
int allgather(Exchange<Count> native, const void* send, Count send_count, MPI_Datatype send_type,
              void* receive, Count receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  return handle(
      comm,
      [&] {
        return native(send, send_count, send_type, receive, receive_count, receive_type, comm);
      },
      [&] {
        return may_send(send, send_count, send_type, InPlace::yes) &&
               may_receive(receive, receive_count, receive_type) &&
               (send == MPI_IN_PLACE ||
                may_move(send, send_count, send_type,
                         own_block(receive, receive_count, receive_type, comm), receive_count,
                         receive_type));
      },
      [&](bool) {
        return CollectiveCall{Operation::allgather, bytes_of(receive_count, receive_type), kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            HostCopy(send, send_type, members, one_block(send_count)),
            HostCopy(receive, receive_type, members, block_of_each(members, receive_count)),
            [&](const void* from, void* to) {
              return executors::allgather(schedule, members, from, narrow(send_count), send_type,
                                          to, narrow(receive_count), receive_type);
            });
      });
}

template <class Count, class Offset>
int allgatherv(int (*native)(const void*, Count, MPI_Datatype, void*, const Count[], const Offset[],
                             MPI_Datatype, MPI_Comm),
               const void* send, Count send_count, MPI_Datatype send_type, void* receive,
               const Count counts[], const Offset offsets[], MPI_Datatype receive_type,
               MPI_Comm comm) {
  return handle(
      comm,
      [&] {
        return native(send, send_count, send_type, receive, counts, offsets, receive_type, comm);
      },
      [&] {
        const MPI_Count total = total_of(counts, num_ranks_with_rules(comm));
        return offsets != nullptr && may_send(send, send_count, send_type, InPlace::yes) &&
               may_receive(receive, total, receive_type);
      },
      [&](bool is_right) {
        const int num_ranks = is_right ? num_ranks_with_rules(comm) : 0;
        return CollectiveCall{Operation::allgather, mean_bytes_of(counts, num_ranks, receive_type),
                              kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        const std::vector<std::ptrdiff_t> wide(offsets, offsets + members.num_ranks());
        const std::vector<int> num_received = narrow(counts, members.num_ranks());
        const auto pieces = [&] {
          std::vector<Piece> all;
          for (std::size_t rank = 0; rank < wide.size(); ++rank) {
            all.push_back({.displacement = wide[rank], .count = num_received[rank]});
          }
          return all;
        };
        return call_in_host_memory(
            HostCopy(send, send_type, members, one_block(send_count)),
            HostCopy(receive, receive_type, members, pieces), [&](const void* from, void* to) {
              return executors::allgatherv(schedule, members, from, narrow(send_count), send_type,
                                           to, num_received, wide, receive_type);
            });
      });
}

// In place the values are where the result comes.
int scatter_reduced(const Schedule& schedule, Members& members, const void* send, void* receive,
                    const std::vector<int>& counts, MPI_Datatype type, MPI_Op op) {
  const int num_values = std::accumulate(counts.begin(), counts.end(), 0);
  const int num_own = counts[static_cast<std::size_t>(members.rank())];
  return call_in_host_memory(
      HostCopy(send, type, members, one_block(num_values)),
      HostCopy(receive, type, members, one_block(send == MPI_IN_PLACE ? num_values : num_own)),
      [&](const void* from, void* to) {
        return executors::reduce_scatter(schedule, members, from, to, counts.data(), type, op);
      });
}

template <class Count>
int reduce_scatter(int (*native)(const void*, void*, const Count[], MPI_Datatype, MPI_Op, MPI_Comm),
                   const void* send, void* receive, const Count counts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
  return handle(
      comm, [&] { return native(send, receive, counts, type, op, comm); },
      [&] {
        const MPI_Count total = total_of(counts, num_ranks_with_rules(comm));
        if (total < 0 || !may_send(send, total, type, InPlace::yes)) return false;
        const MPI_Count own = send == MPI_IN_PLACE ? total : counts[rank_of_this(comm)];
        return may_receive(receive, own, type) && may_reduce(send, receive, own, type, op);
      },
      [&](bool is_right) {
        const int num_ranks = is_right && can_combine(op, type) ? num_ranks_with_rules(comm) : 0;
        return CollectiveCall{Operation::reduce_scatter, mean_bytes_of(counts, num_ranks, type),
                              kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        return scatter_reduced(schedule, members, send, receive,
                               narrow(counts, members.num_ranks()), type, op);
      });
}

template <class Count>
int reduce_scatter_block(int (*native)(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm),
                         const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  return handle(
      comm, [&] { return native(send, receive, count, type, op, comm); },
      [&] {
        return may_send(send, count, type, InPlace::yes) && may_receive(receive, count, type) &&
               may_reduce(send, receive, count, type, op);
      },
      [&](bool is_right) {
        const std::uint64_t bytes = is_right && can_combine(op, type) ? bytes_of(count, type) : 0;
        return CollectiveCall{Operation::reduce_scatter, bytes, kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        const std::vector<int> counts(static_cast<std::size_t>(members.num_ranks()), narrow(count));
        return scatter_reduced(schedule, members, send, receive, counts, type, op);
      });
}

template <class Count>
int alltoall(Exchange<Count> native, const void* send, Count send_count, MPI_Datatype send_type,
             void* receive, Count receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  return handle(
      comm,
      [&] {
        return native(send, send_count, send_type, receive, receive_count, receive_type, comm);
      },
      [&] {
        return may_send(send, send_count, send_type, InPlace::yes) &&
               may_receive(receive, receive_count, receive_type) &&
               (send == MPI_IN_PLACE ||
                may_move(send, send_count, send_type, receive, receive_count, receive_type));
      },
      [&](bool) {
        return CollectiveCall{Operation::alltoall, bytes_of(receive_count, receive_type), kNoHost};
      },
      [&](const Schedule& schedule, Members& members) {
        return call_in_host_memory(
            HostCopy(send, send_type, members, block_of_each(members, send_count)),
            HostCopy(receive, receive_type, members, block_of_each(members, receive_count)),
            [&](const void* from, void* to) {
              return executors::alltoall(schedule, members, from, narrow(send_count), send_type, to,
                                         narrow(receive_count), receive_type);
            });
      });
}

}  // namespace

namespace collectives {

int Barrier(MPI_Comm comm) {
  return handle(
      comm, [&] { return mpi().Barrier(comm); }, [] { return true; },
      [](bool) { return CollectiveCall{Operation::barrier, 0, kNoHost}; },
      [](const Schedule& schedule, Members& members) {
        return executors::barrier(schedule, members);
      });
}

// The functions with int counts, and those with large counts (suffix _c).
#define FAIRLEAD_COLLECTIVES(suffix, COUNT, OFFSET)                                                \
  int Bcast##suffix(void* buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm) {       \
    return bcast<COUNT>(mpi().Bcast##suffix, buffer, count, type, root, comm);                     \
  }                                                                                                \
  int Reduce##suffix(const void* send, void* receive, COUNT count, MPI_Datatype type, MPI_Op op,   \
                     int root, MPI_Comm comm) {                                                    \
    return reduce<COUNT>(mpi().Reduce##suffix, send, receive, count, type, op, root, comm);        \
  }                                                                                                \
  int Allreduce##suffix(const void* send, void* receive, COUNT count, MPI_Datatype type,           \
                        MPI_Op op, MPI_Comm comm) {                                                \
    return allreduce<COUNT>(mpi().Allreduce##suffix, send, receive, count, type, op, comm);        \
  }                                                                                                \
  int Gather##suffix(const void* send, COUNT send_count, MPI_Datatype send_type, void* receive,    \
                     COUNT receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {    \
    return gather<COUNT>(mpi().Gather##suffix, send, send_count, send_type, receive,               \
                         receive_count, receive_type, root, comm);                                 \
  }                                                                                                \
  int Scatter##suffix(const void* send, COUNT send_count, MPI_Datatype send_type, void* receive,   \
                      COUNT receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {   \
    return scatter<COUNT>(mpi().Scatter##suffix, send, send_count, send_type, receive,             \
                          receive_count, receive_type, root, comm);                                \
  }                                                                                                \
  int Allgather##suffix(const void* send, COUNT send_count, MPI_Datatype send_type, void* receive, \
                        COUNT receive_count, MPI_Datatype receive_type, MPI_Comm comm) {           \
    return allgather<COUNT>(mpi().Allgather##suffix, send, send_count, send_type, receive,         \
                            receive_count, receive_type, comm);                                    \
  }                                                                                                \
  int Allgatherv##suffix(const void* send, COUNT send_count, MPI_Datatype send_type,               \
                         void* receive, const COUNT counts[], const OFFSET offsets[],              \
                         MPI_Datatype receive_type, MPI_Comm comm) {                               \
    return allgatherv<COUNT, OFFSET>(mpi().Allgatherv##suffix, send, send_count, send_type,        \
                                     receive, counts, offsets, receive_type, comm);                \
  }                                                                                                \
  int Reduce_scatter##suffix(const void* send, void* receive, const COUNT counts[],                \
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {                        \
    return reduce_scatter<COUNT>(mpi().Reduce_scatter##suffix, send, receive, counts, type, op,    \
                                 comm);                                                            \
  }                                                                                                \
  int Reduce_scatter_block##suffix(const void* send, void* receive, COUNT count,                   \
                                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {                  \
    return reduce_scatter_block<COUNT>(mpi().Reduce_scatter_block##suffix, send, receive, count,   \
                                       type, op, comm);                                            \
  }                                                                                                \
  int Alltoall##suffix(const void* send, COUNT send_count, MPI_Datatype send_type, void* receive,  \
                       COUNT receive_count, MPI_Datatype receive_type, MPI_Comm comm) {            \
    return alltoall<COUNT>(mpi().Alltoall##suffix, send, send_count, send_type, receive,           \
                           receive_count, receive_type, comm);                                     \
  }

FAIRLEAD_COLLECTIVES(, int, int)
#if FAIRLEAD_LARGE_COUNTS
FAIRLEAD_COLLECTIVES(_c, MPI_Count, MPI_Aint)
#endif

}  // namespace collectives
}  // namespace fairlead::intercept
