// SPDX-License-Identifier: Apache-2.0
// From the counters of one rank to rows.
#include "trace/record.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::intercept {
namespace {

std::vector<PairRow> pair_rows(int src, const std::vector<Tally>& tallies) {
  std::vector<PairRow> rows;
  for (std::size_t dst = 0; dst < tallies.size(); ++dst) {
    const Tally& tally = tallies[dst];
    if (tally.messages == 0) continue;
    rows.push_back({.src = static_cast<std::uint32_t>(src),
                    .dst = static_cast<std::uint32_t>(dst),
                    .messages = tally.messages,
                    .bytes = tally.bytes,
                    .max_bytes = tally.max_bytes});
  }
  return rows;
}

// The rank got them, so the other one is the source.
std::vector<PairRow> turned(std::vector<PairRow> rows) {
  for (PairRow& row : rows) std::swap(row.src, row.dst);
  return rows;
}

// Where several threads call, or windows are used, whose synchronisation is not traced, nobody
// knows how long the rank has waited.
ComputingRow computing_row(int rank, double run_time_s, const Counters& counters,
                           double seconds_per_tick, std::string_view host) {
  ComputingRow row{.rank = static_cast<std::uint32_t>(rank)};
  if (counters.calling_threads <= 1 && counters.one_sided_calls == 0) {
    const double inside_s = static_cast<double>(counters.call_ticks) * seconds_per_tick;
    row.seconds = std::max(0.0, run_time_s - inside_s);
  }
  host.copy(row.host, sizeof row.host - 1);
  return row;
}

}  // namespace

std::array<std::span<const std::byte>, kNumTables> RankRecord::tables() const {
  return {std::as_bytes(std::span(sent)),          std::as_bytes(std::span(fetched)),
          std::as_bytes(std::span(exchanged)),     std::as_bytes(std::span(collectives)),
          std::as_bytes(std::span(communicators)), std::as_bytes(std::span(members)),
          std::as_bytes(std::span(computing))};
}

RankRecord record_of_rank(int rank, double run_time_s, const Counters& counters,
                          double seconds_per_tick, std::string_view host) {
  RankRecord record;
  record.rank = {.run_time_s = run_time_s,
                 .untranslated_messages = counters.untranslated.messages,
                 .untranslated_bytes = counters.untranslated.bytes,
                 .dropped_collective_calls = counters.collectives.num_dropped(),
                 .shared_windows = counters.shared_windows,
                 .spawned_processes = counters.spawned_processes};
  record.sent = pair_rows(rank, counters.sent);
  record.fetched = turned(pair_rows(rank, counters.fetched));
  record.exchanged = pair_rows(rank, counters.exchanged);
  counters.collectives.for_each([&record](const CollectiveTally& entry) {
    record.collectives.push_back(
        {.communicator = entry.communicator,
         .communicator_size = static_cast<std::uint32_t>(entry.communicator_size),
         .operation = static_cast<std::uint32_t>(entry.call),
         .root = entry.root,
         .message_bytes = entry.message_bytes,
         .calls = entry.calls,
         .seconds = entry.seconds});
  });
  record.computing.push_back(computing_row(rank, run_time_s, counters, seconds_per_tick, host));
  for (const auto& [id, members] : counters.communicators.members_of_id()) {
    record.communicators.push_back({.id = id, .num_members = members.size()});
    for (const int member : members) {
      record.members.push_back(static_cast<MemberRow>(member));
    }
  }
  return record;
}

}  // namespace fairlead::intercept
