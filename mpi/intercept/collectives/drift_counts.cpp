// SPDX-License-Identifier: Apache-2.0
#include "collectives/drift_counts.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <mutex>

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
  counts.longest_stop_s = std::max(counts.longest_stop_s, more.longest_stop_s);
}

bool write_drift_counts(const std::string& folder, int rank) {
  const std::scoped_lock lock(shared().mutex);
  const DriftCounts& counts = shared().counts;
  if (rank != 0 && counts.windows == 0) return true;
  const std::string path = folder + "/drift-" + std::to_string(rank) + ".json";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool is_written =
      std::fprintf(file,
                   "{\"calls\": %" PRIu64 ", \"windows\": %" PRIu64 ", \"drifts\": %" PRIu64
                   ", \"probes\": %" PRIu64 ", \"comparisons\": %" PRIu64
                   ", \"replacements\": %" PRIu64 ", \"longest_stop_s\": %.6g}\n",
                   counts.calls, counts.windows, counts.drifts, counts.probes, counts.comparisons,
                   counts.replacements, counts.longest_stop_s) > 0;
  return std::fclose(file) == 0 && is_written;
}

}  // namespace fairlead::intercept
