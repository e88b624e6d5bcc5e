// SPDX-License-Identifier: Apache-2.0
// What a schedule does as messages that wait for one another: what its executors come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/links.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

struct Transfer {
  std::int32_t src;
  std::int32_t dst;
  double num_bytes;
};

/// `later` starts when `earlier` has arrived.
struct Dependency {
  std::int32_t earlier;
  std::int32_t later;
};

inline constexpr std::int32_t kNoTransfer = -1;

struct Program {
  std::vector<Transfer> transfers;
  std::vector<Dependency> dependencies;
  std::int32_t max_sends = 0;     ///< under way at one host; 0: no limit
  std::int32_t max_receives = 0;  ///< the same, taken in the order of the transfers

  std::int32_t add(std::int32_t src, std::int32_t dst, double num_bytes) {
    transfers.push_back({src, dst, num_bytes});
    return static_cast<std::int32_t>(transfers.size()) - 1;
  }
  /// Nothing where `earlier` is kNoTransfer.
  void add_dependency(std::int32_t earlier, std::int32_t later) {
    if (earlier != kNoTransfer) dependencies.push_back({earlier, later});
  }
};

/// Bytes of each host's block: all the same, or as given.
class BlockBytes {
 public:
  /// @param given  length H, or empty
  BlockBytes(double same, std::span<const double> given) : same_(same), given_(given) {}
  [[nodiscard]] double operator[](std::int32_t host) const {
    return given_.empty() ? same_ : given_[static_cast<std::size_t>(host)];
  }

 private:
  double same_;
  std::span<const double> given_;
};

/// @throws ShapeError  block sizes were given, but not one for each host
void check_blocks(std::span<const double> block_bytes, std::size_t num_hosts);

/// The messages of a schedule. Where the MPI's own algorithm runs, those of the textbook: binomial
/// trees for short messages, scatter and allgather for long ones (Thakur, Rabenseifner, Gropp
/// 2005).
/// @pre Not an allreduce by `linear` or `two_level`, which is predicted half by half.
/// @param block_bytes  of each host where they differ, or empty
[[nodiscard]] Program program_of(const Schedule& schedule,
                                 std::span<const double> block_bytes = {});

/// How close rates come to the fair ones: for reported times, which change by less than 1 % with
/// ten times less, and for times that are only compared, which takes two thirds of the time.
inline constexpr double kFineRatio = 1e-3;
inline constexpr double kCoarseRatio = 1e-2;

/// Time until the last message has arrived, with NICs, pairs and groups shared by max-min fairness.
/// Rates are found to within `tolerance_ratio`.
[[nodiscard]] double simulate_s(const Program& program, const Links& links, double tolerance_ratio);

/// Whether the reported time is finer than that by which the schedule was chosen: not with very
/// many messages, which take too long to simulate twice.
[[nodiscard]] bool has_fine_prediction(const Schedule& schedule);

/// Simulated, or by the load of NICs and groups where there are too many messages for that and most
/// of a host's are under way at once.
[[nodiscard]] double predicted_s(const Schedule& schedule, const Links& links,
                                 std::span<const double> block_bytes = {},
                                 double tolerance_ratio = kFineRatio);

}  // namespace fairlead::collectives
