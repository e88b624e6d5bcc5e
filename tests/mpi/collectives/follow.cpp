// SPDX-License-Identifier: Apache-2.0
// Calls collectives by their schedules and natively, and compares every byte of every buffer.
//
// follow cases FILE   a JSON list of cases, each with its schedule; prints what differs, and then
//                     "compared N"
// follow leaks FILE CALLS   the first case again and again, on communicators that come and go;
//                     prints what memory grew by
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "collectives/types.hpp"
#include "operations.hpp"
#include "schedule_json.hpp"

namespace {

using namespace fairlead::collectives;

struct Case {
  std::string comm;
  std::vector<int> host_of_rank;
  int root = 0;
  int count = 0;     // units of 6 integers
  std::string kind;  // what is sent, or combined and how
  bool is_in_place = false;
  unsigned seed = 0;
  Schedule schedule;
};

/// A datatype, how many of it make a unit, and what combines it.
struct Kind {
  MPI_Datatype type = MPI_INT;
  int per_unit = 6;
  MPI_Op op = MPI_SUM;
  bool is_exact = true;  // in any order of combining
};

/// Product of 2 x 2 matrices with equal diagonals and equal others, which commutes.
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int index = 0; index < *length; ++index, left += 2, right += 2) {
    const std::uint32_t first = left[0] * right[0] + left[1] * right[1];
    right[1] = left[0] * right[1] + left[1] * right[0];
    right[0] = first;
  }
}

struct Kinds {
  Types types = made_types();
  MPI_Op multiply = MPI_OP_NULL;
};

/// @param rank  each has a type of its own where the kind is "mixed": the same integers
Kind kind_of(const std::string& name, const Kinds& kinds, int rank) {
  if (name == "mixed") {
    const char* names[] = {"integers", "pairs", "strided", "swapped"};
    return kind_of(names[rank % 4], kinds, rank);
  }
  if (name == "pairs") return {.type = kinds.types.pair, .per_unit = 3, .op = kinds.multiply};
  if (name == "strided")
    return {.type = kinds.types.strided, .per_unit = 2, .op = kinds.types.add_strided};
  if (name == "swapped") return {.type = kinds.types.swapped, .per_unit = 3, .op = kinds.multiply};
  if (name == "places") return {.type = MPI_2INT, .per_unit = 3, .op = MPI_MINLOC};
  if (name == "reals") return {.type = MPI_DOUBLE, .per_unit = 3, .op = MPI_SUM, .is_exact = false};
  return {};
}

struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0;
  Members* members = nullptr;
};

struct Buffers2 {
  std::vector<std::byte> send, receive;
};

Buffers2 filled(const Case& wanted, World world) {
  const auto blocks = static_cast<std::size_t>(world.size);
  const std::size_t length = (static_cast<std::size_t>(wanted.count) + 3) * kUnitBytes * blocks;
  Buffers2 buffers{std::vector<std::byte>(length), std::vector<std::byte>(length)};
  std::mt19937 random(wanted.seed + 1000U * static_cast<unsigned>(world.rank));
  for (auto* buffer : {&buffers.send, &buffers.receive}) {
    for (std::size_t at = 0; at + 8 <= length; at += 8) {
      // As a double it is a number near 1, as integers it is anything.
      const double value = 1.0 + static_cast<double>(random()) / 8e9;
      std::memcpy(buffer->data() + at, &value, 8);
    }
  }
  return buffers;
}

/// Elements of each rank in reduce_scatter, some of them none.
std::vector<int> counts_of(const Case& wanted, const Kind& kind, int num_ranks) {
  std::vector<int> counts;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const unsigned more = (wanted.seed + static_cast<unsigned>(rank)) % 3;
    counts.push_back(more == 0 ? 0 : wanted.count * kind.per_unit + static_cast<int>(more) - 1);
  }
  return counts;
}

int call(const Case& wanted, const Kind& kind, World world, bool follows, Buffers2& buffers) {
  const Schedule& plan = wanted.schedule;
  const int count = wanted.count * kind.per_unit, root = wanted.root;
  const bool is_root = world.rank == root, in_place = wanted.is_in_place;
  const bool is_rooted = has_root(plan.operation);
  void* to = buffers.receive.data();
  const void* from = in_place && (is_root || !is_rooted) ? MPI_IN_PLACE : buffers.send.data();
  const MPI_Datatype type = kind.type;
  Members& members = *world.members;
  switch (plan.operation) {
    case Operation::bcast:
      return follows ? bcast(plan, members, to, count, type, root)
                     : MPI_Bcast(to, count, type, root, world.comm);
    case Operation::reduce:
      // MPICH 4.0 fails in place at any root but rank 0.
      if (!follows && from == MPI_IN_PLACE) {
        const auto own = buffers.receive;
        return MPI_Reduce(own.data(), to, count, type, kind.op, root, world.comm);
      }
      return follows ? reduce(plan, members, from, to, count, type, kind.op, root)
                     : MPI_Reduce(from, to, count, type, kind.op, root, world.comm);
    case Operation::allreduce:
      return follows ? allreduce(plan, members, from, to, count, type, kind.op)
                     : MPI_Allreduce(from, to, count, type, kind.op, world.comm);
    case Operation::gather:
      return follows ? gather(plan, members, from, count, type, to, count, type, root)
                     : MPI_Gather(from, count, type, to, count, type, root, world.comm);
    case Operation::scatter: {
      void* into = in_place && is_root ? MPI_IN_PLACE : to;
      from = buffers.send.data();
      return follows ? scatter(plan, members, from, count, type, into, count, type, root)
                     : MPI_Scatter(from, count, type, into, count, type, root, world.comm);
    }
    case Operation::allgather:
      return follows ? allgather(plan, members, from, count, type, to, count, type)
                     : MPI_Allgather(from, count, type, to, count, type, world.comm);
    case Operation::alltoall:
      return follows ? alltoall(plan, members, from, count, type, to, count, type)
                     : MPI_Alltoall(from, count, type, to, count, type, world.comm);
    case Operation::reduce_scatter: {
      const auto counts = counts_of(wanted, kind, world.size);
      return follows ? reduce_scatter(plan, members, from, to, counts.data(), type, kind.op)
                     : MPI_Reduce_scatter(from, to, counts.data(), type, kind.op, world.comm);
    }
    case Operation::barrier:
      return follows ? barrier(plan, members) : MPI_Barrier(world.comm);
  }
  return MPI_ERR_INTERN;
}

/// In place, the elements behind the own result are undefined.
void forget_undefined(const Case& wanted, const Kind& kind, World world, Buffers2& buffers) {
  if (wanted.schedule.operation != Operation::reduce_scatter || !wanted.is_in_place) return;
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(kind.type, &size);
  MPI_Type_get_extent(kind.type, &lower, &extent);
  const auto counts = counts_of(wanted, kind, world.size);
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank)]);
  std::fill(buffers.receive.begin() + static_cast<std::ptrdiff_t>(own) * extent,
            buffers.receive.end(), std::byte{0});
}

bool is_close(const std::vector<std::byte>& left, const std::vector<std::byte>& right) {
  for (std::size_t at = 0; at + 8 <= left.size(); at += 8) {
    double one = 0, other = 0;
    std::memcpy(&one, left.data() + at, 8);
    std::memcpy(&other, right.data() + at, 8);
    if (!(std::abs(one - other) <= 1e-12 * std::abs(other))) return false;
  }
  return true;
}

World made_world(const Case& wanted) {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  const auto num_members = static_cast<int>(wanted.host_of_rank.size());
  if (wanted.comm == "world" && num_members == world.size) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
  } else {  // the first ones, backwards
    const int color = world.rank < num_members ? 0 : MPI_UNDEFINED;
    MPI_Comm_split(MPI_COMM_WORLD, color, -world.rank, &world.comm);
  }
  if (world.comm == MPI_COMM_NULL) return world;
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  if (Members::attach(world.comm, wanted.host_of_rank, world.members) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return world;
}

/// Empty, or what differs at this rank.
std::string difference(const Case& wanted, const Kind& kind, World world) {
  Buffers2 native = filled(wanted, world), ours = native, again = native;
  if (!fits(wanted.schedule, *world.members, has_root(wanted.schedule.operation) ? wanted.root : -1,
            static_cast<std::uint64_t>(wanted.count) * 24)) {
    return "the schedule does not fit";
  }
  if (call(wanted, kind, world, false, native) != MPI_SUCCESS) return "the native call failed";
  if (call(wanted, kind, world, true, ours) != MPI_SUCCESS) return "the call failed";
  if (call(wanted, kind, world, true, again) != MPI_SUCCESS) return "the second call failed";
  for (Buffers2* buffers : {&native, &ours, &again}) {
    forget_undefined(wanted, kind, world, *buffers);
  }
  if (ours.receive != again.receive) return "two calls differ";
  if (ours.send != native.send) return "the send buffer has changed";
  if (!kind.is_exact && !is_close(ours.receive, native.receive)) return "another sum";
  if (kind.is_exact && ours.receive != native.receive) return "another result";
  return "";
}

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  const fairlead::json::Document document(path, content);
  std::vector<Case> cases;
  for (const fairlead::json::Value& value : document.root().items()) {
    const auto number = [&value](const char* field) {
      return static_cast<int>(value.at(field).whole_number(0, INT_MAX));
    };
    Case next{.comm = value.at("comm").text(),
              .host_of_rank = {},
              .root = number("root"),
              .count = number("count"),
              .kind = value.at("kind").text(),
              .is_in_place = value.at("is_in_place").truth(),
              .seed = static_cast<unsigned>(number("seed")),
              .schedule = read_schedule(value.at("schedule"))};
    for (const std::int64_t host : value.at("host_of_rank").whole_numbers(0, INT_MAX)) {
      next.host_of_rank.push_back(static_cast<int>(host));
    }
    cases.push_back(std::move(next));
  }
  return cases;
}

void compare(const std::vector<Case>& cases, const Kinds& kinds) {
  for (std::size_t index = 0; index < cases.size(); ++index) {
    World world = made_world(cases[index]);
    if (world.comm == MPI_COMM_NULL) continue;
    const Kind kind = kind_of(cases[index].kind, kinds, world.rank);
    const std::string found = difference(cases[index], kind, world);
    if (!found.empty()) {
      std::printf("case %zu, rank %d: %s\n", index, world.rank, found.c_str());
      std::fflush(stdout);
    }
    MPI_Comm_free(&world.comm);
  }
}

void call_often(const Case& wanted, const Kinds& kinds, int num_calls) {
  World world = made_world(wanted);
  const Kind kind = kind_of(wanted.kind, kinds, world.rank);
  Buffers2 buffers = filled(wanted, world);
  long before = 0;
  for (int done = 0; done < num_calls; ++done) {
    if (done == num_calls / 10) before = memory_in_use();
    if (done % 500 == 499) {
      MPI_Comm_free(&world.comm);
      world = made_world(wanted);
    }
    call(wanted, kind, world, true, buffers);
  }
  const long grown = memory_in_use() - before;
  long most = 0;
  MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world.rank == 0) std::printf("grown %ld\n", most);
  MPI_Comm_free(&world.comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kinds kinds;
  MPI_Op_create(multiply, 1, &kinds.multiply);
  const auto cases = read_cases(argv[2]);
  if (std::string(argv[1]) == "cases") {
    compare(cases, kinds);
  } else {
    call_often(cases.front(), kinds, std::stoi(argv[3]));
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("compared %zu\n", cases.size());
  MPI_Op_free(&kinds.multiply);
  free_types(kinds.types);
  MPI_Finalize();
  return 0;
}
