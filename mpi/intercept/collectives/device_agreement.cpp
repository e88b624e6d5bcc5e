// SPDX-License-Identifier: Apache-2.0
#include "collectives/device_agreement.hpp"

#include <atomic>
#include <bit>
#include <cstdio>

#include "collectives/communicator_schedules.hpp"
#include "device_memory/device_memory.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

constexpr std::uint64_t kCallsBetween = 1024;

// One line for all communicators and ranks.
void report_once() {
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  if (collectives_state().rank != 0 || is_reported.test_and_set()) return;
  std::fprintf(stderr,
               "fairlead: collectives stay the MPI's own: a process may use memory of a GPU\n");
}

}  // namespace

bool DeviceAgreement::may_occur(const fairlead::collectives::Members& members) {
  if (may_occur_) return true;
  ++num_calls_;
  if (num_calls_ % kCallsBetween != 0 && !std::has_single_bit(num_calls_)) return false;
  double is_any = may_have_device_memory() ? 1.0 : 0.0;
  require_success(
      mpi().Allreduce(MPI_IN_PLACE, &is_any, 1, double_type(), op_max(), members.comm()));
  may_occur_ = is_any > 0;
  if (may_occur_) report_once();
  return may_occur_;
}

}  // namespace fairlead::intercept
