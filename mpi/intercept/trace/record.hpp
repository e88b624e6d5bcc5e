// SPDX-License-Identifier: Apache-2.0
// What one rank hands in for the trace file: rows as they stand in it (docs/design/trace-files.md).
// Pure: no MPI, no files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "trace/counters.hpp"

namespace fairlead::intercept {

struct RankRow {
  /// From the end of MPI_Init to the start of MPI_Finalize; nan where the rank handed in nothing.
  double run_time_s = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t untranslated_messages = 0;
  std::uint64_t untranslated_bytes = 0;
  std::uint64_t dropped_collective_calls = 0;
  std::uint64_t shared_windows = 0;
  std::uint64_t spawned_processes = 0;
};

struct PairRow {
  std::uint32_t src;
  std::uint32_t dst;
  std::uint64_t messages;
  std::uint64_t bytes;
  std::uint64_t max_bytes;
};

struct CollectiveRow {
  std::uint64_t communicator;  // the id of a CommunicatorRow, of whichever rank
  std::uint32_t communicator_size;
  std::uint32_t operation;  // a Call
  std::int64_t root;        // in the communicator, or kNoRoot, kSeveralRoots
  std::uint64_t message_bytes;
  std::uint64_t calls;
  double seconds;
};

struct CommunicatorRow {
  std::uint64_t id;
  std::uint64_t num_members;
};

/// What a rank computed, and where.
struct ComputingRow {
  std::uint32_t rank = 0;
  std::uint32_t unused = 0;
  /// Outside of calls that may wait; nan where that is unknown.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  char host[64] = {};  ///< ends with a zero
};

/// World rank of a member of a communicator; those of all follow one another.
using MemberRow = std::uint32_t;

// The file has the rows as they are in memory.
static_assert(sizeof(RankRow) == 48 && sizeof(PairRow) == 32 && sizeof(CollectiveRow) == 48 &&
              sizeof(CommunicatorRow) == 16 && sizeof(ComputingRow) == 80);

/// The tables of the file without that of ranks, in its order.
inline constexpr std::array kTableNames{"sent",          "fetched", "exchanged", "collectives",
                                        "communicators", "members", "computing"};
inline constexpr std::size_t kNumTables = kTableNames.size();
inline constexpr std::array<std::size_t, kNumTables> kRowBytes{
    sizeof(PairRow),         sizeof(PairRow),   sizeof(PairRow),     sizeof(CollectiveRow),
    sizeof(CommunicatorRow), sizeof(MemberRow), sizeof(ComputingRow)};

struct RankRecord {
  RankRow rank;
  std::vector<PairRow> sent;
  /// What one-sided calls of this rank got from others, of which it is the destination.
  std::vector<PairRow> fetched;
  std::vector<PairRow> exchanged;
  std::vector<CollectiveRow> collectives;
  std::vector<CommunicatorRow> communicators;
  std::vector<MemberRow> members;
  std::vector<ComputingRow> computing;

  /// The bytes of each table.
  [[nodiscard]] std::array<std::span<const std::byte>, kNumTables> tables() const;
};

/// @param seconds_per_tick  of the clock of calls
/// @param host  name of the host that the rank is on
[[nodiscard]] RankRecord record_of_rank(int rank, double run_time_s, const Counters& counters,
                                        double seconds_per_tick, std::string_view host);

}  // namespace fairlead::intercept
