// SPDX-License-Identifier: Apache-2.0
// Calls every entry with distinct values over a PMPI that only notes what arrives: through its
// wrapper, and past it with the wider handles of another MPI.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "entries.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "reorder/reorder.hpp"
#include "table/call_names.hpp"
#include "trace/recorder.hpp"

namespace {

using Bits = std::vector<std::uint64_t>;

constexpr int kFakeCode = 77;  // no success: nothing is recorded, and the code comes back
std::map<std::string, void*> fakes;
Bits arrived;

template <class Value>
std::uint64_t bits_of(Value value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class Value>
Value distinct_value(std::uint64_t index) {
  const std::uint64_t bits = (0x5000 + index) << 40 | (0x1000 + 0x40 * index);
  Value value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Function>
struct Fake;

template <class... Parameters>
struct Fake<int (*)(Parameters...)> {
  static int note(Parameters... values) {
    arrived = {bits_of(values)...};
    return kFakeCode;
  }

  // Whether `wrapper` reaches the fake with the values it was given, in their order.
  static bool hands_on(int (*wrapper)(Parameters...)) {
    return call(wrapper, std::index_sequence_for<Parameters...>{});
  }

 private:
  template <std::size_t... Index>
  static bool call(int (*wrapper)(Parameters...), std::index_sequence<Index...>) {
    arrived.clear();
    const Bits given = {bits_of(distinct_value<Parameters>(Index))...};
    const int code = wrapper(distinct_value<Parameters>(Index)...);
    return code == kFakeCode && arrived == given;
  }
};

}  // namespace

namespace fairlead::intercept {

// Stands in for mpi_symbols.cpp: every function of MPI is a fake.
Mpi detail::bound_mpi;
void* require_symbol(const char* name) noexcept {
  return fakes.at(name);
}
void* find_symbol(const char* name) noexcept {
  return fakes.at(name);
}
bool is_linked_with_another_mpi() noexcept {
  return false;
}
MPI_Comm comm_world() noexcept {
  return {};
}

// Stands in for what places topologies: the same fakes note what arrives there.
std::atomic<bool> reordering{false};
namespace reorder {
int cart_create(MPI_Comm comm_old, int num_dimensions, const int dims[], const int periods[],
                int may_reorder, MPI_Comm* comm) {
  return Fake<decltype(&MPI_Cart_create)>::note(comm_old, num_dimensions, dims, periods,
                                                may_reorder, comm);
}
int dist_graph_create(MPI_Comm comm_old, int num_sources, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int may_reorder,
                      MPI_Comm* comm) {
  return Fake<decltype(&MPI_Dist_graph_create)>::note(
      comm_old, num_sources, sources, degrees, destinations, weights, info, may_reorder, comm);
}
int dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                               const int source_weights[], int outdegree, const int destinations[],
                               const int destination_weights[], MPI_Info info, int may_reorder,
                               MPI_Comm* comm) {
  return Fake<decltype(&MPI_Dist_graph_create_adjacent)>::note(
      comm_old, indegree, sources, source_weights, outdegree, destinations, destination_weights,
      info, may_reorder, comm);
}
}  // namespace reorder

}  // namespace fairlead::intercept

int main() {
  // A released handle is looked up, so RELEASE rows are tried while nothing is recorded.
#define ADD(name, ...) \
  fakes["PMPI_" #name] = reinterpret_cast<void*>(&Fake<decltype(&MPI_##name)>::note);
#define CALL(...) ADD(__VA_ARGS__)
#define COLLECTIVE_CALL(...) ADD(__VA_ARGS__)
#define COLLECTIVE_INIT(...) ADD(__VA_ARGS__)
#define RELEASE(...) ADD(__VA_ARGS__)
#define TOPOLOGY(...) ADD(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

  int num_wrappers = 0;
  int num_failures = 0;
#define TRY(name, is_traced)                                                        \
  fairlead::intercept::recording = is_traced;                                       \
  fairlead::intercept::reordering = is_traced;                                      \
  if (!Fake<decltype(&MPI_##name)>::hands_on(&MPI_##name)) {                        \
    std::printf("MPI_%s, %s\n", #name, is_traced ? "switched on" : "switched off"); \
    ++num_failures;                                                                 \
  }
#define TRY_BOTH(name, ...) TRY(name, false) TRY(name, true)++ num_wrappers;
#define TRY_UNTRACED(name, ...) TRY(name, false)++ num_wrappers;
#define CALL(...) TRY_BOTH(__VA_ARGS__)
#define COLLECTIVE_CALL(...) TRY_BOTH(__VA_ARGS__)
#define COLLECTIVE_INIT(...) TRY_BOTH(__VA_ARGS__)
#define RELEASE(...) TRY_UNTRACED(__VA_ARGS__)
#define TOPOLOGY(...) TRY_BOTH(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

  // Handles as words: the bits beyond an int arrive, too.
#define MPI_Comm std::uintptr_t
#define MPI_Datatype std::uintptr_t
#define MPI_Info std::uintptr_t
#define MPI_Op std::uintptr_t
#define MPI_Request std::uintptr_t
#define ADD_WIDE(name, parameters) \
  fakes["PMPI_" #name] = reinterpret_cast<void*>(&Fake<int(*) parameters>::note);
#define EACH_ROW(name, parameters, ...) ADD_WIDE(name, parameters)
#define CALL(...) EACH_ROW(__VA_ARGS__)
#define COLLECTIVE_CALL(...) EACH_ROW(__VA_ARGS__)
#define COLLECTIVE_INIT(...) EACH_ROW(__VA_ARGS__)
#define RELEASE(...) EACH_ROW(__VA_ARGS__)
#define TOPOLOGY(...) EACH_ROW(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
#undef EACH_ROW

  fairlead::intercept::bypass_wrappers();
#define TRY_WIDE(name, parameters)                                                            \
  if (!Fake<int(*) parameters>::hands_on(reinterpret_cast<int(*) parameters>(&MPI_##name))) { \
    std::printf("MPI_%s, bypassed\n", #name);                                                 \
    ++num_failures;                                                                           \
  }
#define EACH_ROW(name, parameters, ...) TRY_WIDE(name, parameters)
#define CALL(...) EACH_ROW(__VA_ARGS__)
#define COLLECTIVE_CALL(...) EACH_ROW(__VA_ARGS__)
#define COLLECTIVE_INIT(...) EACH_ROW(__VA_ARGS__)
#define RELEASE(...) EACH_ROW(__VA_ARGS__)
#define TOPOLOGY(...) EACH_ROW(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

  if (num_failures == 0) std::printf("%d wrappers\n", num_wrappers);
  return num_failures == 0 ? 0 : 1;
}
