// SPDX-License-Identifier: Apache-2.0
// Calls every entry with distinct values over functions that only note what arrives: as the first
// call, through its wrapper to the MPI and to a handler, and past it with the wider handles of
// another MPI.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "entries.hpp"
#include "fake_mpi.hpp"
#include "table/handlers.hpp"
#include "trace/recorder.hpp"

namespace {

using Bits = std::vector<std::uint64_t>;

// An error code, so that nothing is recorded.
constexpr int kOfMpi = 77;
constexpr int kOfHandler = 78;
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
  template <int kCode>
  static int note(Parameters... values) {
    arrived = {bits_of(values)...};
    return kCode;
  }

  // Whether `entry` reaches the function with that code, with the values it was given in their
  // order.
  static bool hands_on(int (*entry)(Parameters...), int code) {
    return call(entry, code, std::index_sequence_for<Parameters...>{});
  }

 private:
  template <std::size_t... Index>
  static bool call(int (*entry)(Parameters...), int code, std::index_sequence<Index...>) {
    arrived.clear();
    const Bits given = {bits_of(distinct_value<Parameters>(Index))...};
    return entry(distinct_value<Parameters>(Index)...) == code && arrived == given;
  }
};

}  // namespace

namespace fairlead::intercept {

// Every function is a fake.
constinit OriginalCalls detail::handlers;

bool bind_mpi() noexcept {
#define BIND(name, ...) detail::bound_mpi.name = &Fake<decltype(&MPI_##name)>::note<kOfMpi>;
#define CALL(...) BIND(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
  return true;
}

}  // namespace fairlead::intercept

namespace {

using namespace fairlead::intercept;

int num_failures = 0;

void expect(bool is_handed_on, const char* name, const char* state) {
  if (is_handed_on) return;
  std::printf("MPI_%s, %s\n", name, state);
  ++num_failures;
}

void set_handlers() {
#define HANDLE(name, ...) detail::handlers.name = &Fake<decltype(&MPI_##name)>::note<kOfHandler>;
#define CALL(...) HANDLE(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
}

// A released handle is looked up, so these calls are left out where calls are recorded.
constexpr bool is_release_of_a_handle(std::string_view observe) {
  return observe.starts_with("released");
}

int try_all(int code, const char* state) {
  int num_entries = 0;
#define TRY(name, parameters, arguments, observe)                                   \
  if (!is_recording() || !is_release_of_a_handle(#observe)) {                       \
    expect(Fake<decltype(&MPI_##name)>::hands_on(&MPI_##name, code), #name, state); \
  }                                                                                 \
  ++num_entries;
#define CALL(...) TRY(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
  return num_entries;
}

}  // namespace

// Handles as words: the bits beyond an int arrive, too.
#define MPI_Comm std::uintptr_t
#define MPI_Datatype std::uintptr_t
#define MPI_Info std::uintptr_t
#define MPI_Op std::uintptr_t
#define MPI_Request std::uintptr_t
#define MPI_Win std::uintptr_t

namespace {

void try_other_mpi() {
#define BIND_WIDE(name, parameters, ...)                             \
  detail::bound_mpi.name = reinterpret_cast<decltype(&PMPI_##name)>( \
      reinterpret_cast<void*>(&Fake<int(*) parameters>::note<kOfMpi>));
#define CALL(...) BIND_WIDE(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
  bypass_wrappers();
#define TRY_WIDE(name, parameters, ...)                                                          \
  expect(Fake<int(*) parameters>::hands_on(                                                      \
             reinterpret_cast<int(*) parameters>(reinterpret_cast<void*>(&MPI_##name)), kOfMpi), \
         #name, "of another MPI");
#define CALL(...) TRY_WIDE(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
}

}  // namespace

int main() {
  const int num_entries = try_all(kOfMpi, "before MPI_Init");
  detail::handlers = mpi();
  recording = true;
  enter_wrappers();
  try_all(kOfMpi, "traced");
  set_handlers();
  enter_wrappers();
  try_all(kOfHandler, "traced and handled");
  recording = false;
  try_all(kOfHandler, "handled");
  detail::handlers = mpi();
  enter_wrappers();
  try_all(kOfMpi, "with nothing switched on");
  try_other_mpi();
  if (num_failures == 0) std::printf("%d entries\n", num_entries);
  return num_failures == 0 ? 0 : 1;
}
