// SPDX-License-Identifier: Apache-2.0
// Asks the MPI, by combining nothing.
#include "collectives/combining.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "operations.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"

namespace fairlead::intercept {
namespace {

bool is_predefined(MPI_Op op) {
  static const std::array predefined{op_max(),  op_min(),  op_sum(),    op_prod(),
                                     op_land(), op_band(), op_lor(),    op_bor(),
                                     op_lxor(), op_bxor(), op_minloc(), op_maxloc()};
  return std::find(predefined.begin(), predefined.end(), op) != predefined.end();
}

// Pairs that fit. Predefined operations take predefined types only, whose handles last.
struct KnownPairs {
  struct Pair {
    MPI_Op op;
    MPI_Datatype type;
    bool operator==(const Pair&) const = default;
  };
  std::array<Pair, 8> pairs{};
  std::size_t num_pairs = 0;

  [[nodiscard]] bool has(const Pair& pair) const {
    return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
  }
  void add(const Pair& pair) { pairs[num_pairs++ % pairs.size()] = pair; }
};

bool is_taken(MPI_Op op, MPI_Datatype type) {
  thread_local KnownPairs known{};
  if (known.has({op, type})) return true;
  // MPIs differ in which of the two an error without communicator goes to.
  const ReturnedErrors of_world(comm_world());
  const ReturnedErrors of_self(comm_self());
  std::max_align_t in{};
  std::max_align_t inout{};
  if (mpi().Reduce_local(&in, &inout, 0, type, op) != MPI_SUCCESS) return false;
  known.add({op, type});
  return true;
}

}  // namespace

bool can_combine(MPI_Op op, MPI_Datatype type) {
  if (op == op_null() || type == datatype_null()) return false;
  if (!fairlead::collectives::commutes(op)) return false;
  return !is_predefined(op) || is_taken(op, type);
}

}  // namespace fairlead::intercept
