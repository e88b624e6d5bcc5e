// SPDX-License-Identifier: Apache-2.0
// Asks the MPI, by combining nothing.
#include "collectives/combining.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include "operations.hpp"
#include "pmpi/argument_check.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

bool is_predefined(MPI_Op op) {
  static const std::array predefined{op_max(),  op_min(),  op_sum(),    op_prod(),
                                     op_land(), op_band(), op_lor(),    op_bor(),
                                     op_lxor(), op_bxor(), op_minloc(), op_maxloc()};
  return std::find(predefined.begin(), predefined.end(), op) != predefined.end();
}

// An operation and a type.
struct Pair {
  MPI_Op op;
  MPI_Datatype type;
  bool operator==(const Pair&) const = default;
};

// Pairs that fit, under the lock. Predefined operations take predefined types only, whose handles
// last.
std::vector<Pair>& known_pairs() {
  static auto* const instance = new std::vector<Pair>;
  return *instance;
}

bool is_taken(const Pair& pair) {
  const std::scoped_lock lock(asking_lock());
  std::vector<Pair>& known = known_pairs();
  if (std::find(known.begin(), known.end(), pair) != known.end()) return true;
  const std::max_align_t in{};
  std::max_align_t out{};
  if (mpi().Allreduce(&in, &out, 0, pair.type, pair.op, asking_comm()) != MPI_SUCCESS) return false;
  known.push_back(pair);
  return true;
}

}  // namespace

bool can_combine(MPI_Op op, MPI_Datatype type) {
  if (op == op_null() || type == datatype_null()) return false;
  if (!fairlead::collectives::commutes(op)) return false;
  return !is_predefined(op) || is_taken({op, type});
}

}  // namespace fairlead::intercept
