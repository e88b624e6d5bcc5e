// SPDX-License-Identifier: Apache-2.0
#include "collectives/drift_counts.hpp"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "session/run_record.hpp"

namespace fairlead::intercept {
namespace {

struct Shared {
  std::mutex mutex;  // guards the counts
  DriftCounts counts;
};

/// Never destroyed.
Shared& shared() {
  static Shared* const instance = new Shared;
  return *instance;
}

}  // namespace

void count_drift(const DriftCounts& more) {
  const std::scoped_lock lock(shared().mutex);
  DriftCounts& counts = shared().counts;
  counts.calls += more.calls;
  counts.windows += more.windows;
  counts.drifts += more.drifts;
  counts.probes += more.probes;
  counts.comparisons += more.comparisons;
  counts.replacements += more.replacements;
  counts.agreements_s += more.agreements_s;
  counts.planning_s += more.planning_s;
  counts.longest_stop_s = std::max(counts.longest_stop_s, more.longest_stop_s);
}

void write_drift_counts(int rank) {
  const std::scoped_lock lock(shared().mutex);
  const DriftCounts& counts = shared().counts;
  if (rank != 0 && counts.windows == 0) return;
  const nlohmann::ordered_json record = {
      {"calls", counts.calls},
      {"windows", counts.windows},
      {"drifts", counts.drifts},
      {"probes", counts.probes},
      {"comparisons", counts.comparisons},
      {"replacements", counts.replacements},
      {"agreements_s", counts.agreements_s},
      {"longest_stop_s", counts.longest_stop_s},
      {"planning_s", counts.planning_s},
  };
  write_record("drift", rank, record, "what was done about drift");
}

}  // namespace fairlead::intercept
