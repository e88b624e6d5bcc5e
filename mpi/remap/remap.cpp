// SPDX-License-Identifier: Apache-2.0
// fairlead_remap: rank 0 gathers the tasks of all, asks the oracle, and broadcasts their next
// tasks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "fairlead.h"
#include "fairlead/error.hpp"
#include "fairlead/node_name.hpp"
#include "remap/http.hpp"
#include "remap/question.hpp"

namespace fairlead::remap {
namespace {

constexpr int kRoot = 0;
/// All ranks wait for the oracle, so it may not take long.
constexpr double kAnswer_s = 5.0;
constexpr double kLeastGain_ratio = 0.1;
constexpr double kMostGain_ratio = 0.5;
constexpr const char* kOracleVariable = "FAIRLEAD_ORACLE";
constexpr const char* kTokenVariable = "FAIRLEAD_ORACLE_TOKEN";

/// What each rank reports to rank 0.
struct RankReport {
  std::array<char, 256> host;
  std::array<double, FAIRLEAD_MOST_COORDINATES> coordinates;
  double move_bytes;
  int task;
  int num_coordinates;
  int num_neighbours;  ///< -1: an argument of this rank is wrong.
};

bool is_size(double bytes) {
  return std::isfinite(bytes) && bytes >= 0.0;
}

RankReport describe_rank(int size, int num_neighbours, const int* neighbours, const double* bytes,
                         const fairlead_remap_options& options, const int* task) {
  RankReport report{};
  // A node has one name in the oracle's topology, without its domain.
  const std::string name = node_name();
  const std::string own = name.substr(0, name.find('.'));
  std::copy_n(own.begin(), std::min(own.size(), report.host.size() - 1), report.host.begin());
  bool is_valid = task != nullptr && *task >= 0 && *task < size && num_neighbours >= 0 &&
                  (num_neighbours == 0 || (neighbours != nullptr && bytes != nullptr)) &&
                  is_size(options.move_bytes) && is_size(options.repeats_left) &&
                  is_size(options.least_gain_ratio) && options.least_gain_ratio < 1.0 &&
                  options.num_coordinates >= 0 &&
                  options.num_coordinates <= FAIRLEAD_MOST_COORDINATES &&
                  (options.num_coordinates == 0 || options.coordinates != nullptr);
  for (int i = 0; is_valid && i < num_neighbours; ++i) {
    is_valid = neighbours[i] >= 0 && neighbours[i] < size && is_size(bytes[i]);
  }
  for (int i = 0; is_valid && i < options.num_coordinates; ++i) {
    report.coordinates.at(static_cast<std::size_t>(i)) = options.coordinates[i];
    is_valid = std::isfinite(options.coordinates[i]);
  }
  report.num_coordinates = is_valid ? options.num_coordinates : 0;
  report.task = is_valid ? *task : -1;
  report.num_neighbours = is_valid ? num_neighbours : -1;
  report.move_bytes = is_valid ? options.move_bytes : 0.0;
  return report;
}

/// Whether every rank's arguments are right, each task has one process, and all have coordinates
/// of as many dimensions.
bool fit_together(const std::vector<RankReport>& reports) {
  std::vector<bool> is_done(reports.size(), false);
  for (const RankReport& report : reports) {
    if (report.num_neighbours < 0 || is_done[static_cast<std::size_t>(report.task)]) return false;
    if (report.num_coordinates != reports.front().num_coordinates) return false;
    is_done[static_cast<std::size_t>(report.task)] = true;
  }
  return true;
}

/// In the order of the tasks; empty where the program gave none.
std::vector<std::vector<double>> coordinates_of_task(const std::vector<RankReport>& reports) {
  if (reports.front().num_coordinates == 0) return {};
  std::vector<std::vector<double>> coordinates(reports.size());
  for (const RankReport& report : reports) {
    coordinates[static_cast<std::size_t>(report.task)].assign(
        report.coordinates.begin(), report.coordinates.begin() + report.num_coordinates);
  }
  return coordinates;
}

/// By how much a move has to pay on a communicator; an attribute of it, on rank 0 alone.
class GainThreshold {
 public:
  /// @return nothing where the MPI fails.
  static GainThreshold* of(MPI_Comm comm) {
    static int key = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID &&
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &remove, &key, nullptr) != MPI_SUCCESS) {
      return nullptr;
    }
    void* found = nullptr;
    int is_there = 0;
    if (MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &is_there) != MPI_SUCCESS) {
      return nullptr;
    }
    if (is_there == 0) {
      found = new GainThreshold;  // NOLINT: the attribute's delete callback owns it.
      if (MPI_Comm_set_attr(comm, key, found) != MPI_SUCCESS) {
        delete static_cast<GainThreshold*>(found);  // NOLINT
        return nullptr;
      }
    }
    return static_cast<GainThreshold*>(found);
  }

  [[nodiscard]] double gain_ratio(double least_ratio) const {
    const double least = least_ratio > 0.0 ? least_ratio : kLeastGain_ratio;
    return std::min(least * factor_, std::max(least, kMostGain_ratio));
  }
  void adapt(bool has_moved) {
    constexpr double kMostFactor = 64.0;
    factor_ = has_moved ? std::min(2.0 * factor_, kMostFactor) : std::max(factor_ / 2.0, 1.0);
  }

 private:
  static int remove(MPI_Comm, int, void* value, void*) {
    delete static_cast<GainThreshold*>(value);  // NOLINT
    return MPI_SUCCESS;
  }
  double factor_ = 1.0;
};

/// On rank 0: the next tasks, or those that there are.
int ask_oracle(const std::vector<RankReport>& reports, const std::vector<Sent>& sent,
               const fairlead_remap_options& options, GainThreshold& threshold,
               std::vector<int>& tasks) {
  Question question;
  for (const RankReport& report : reports) {
    question.host_of_process.emplace_back(report.host.data());
    question.task_of_process.push_back(report.task);
    question.move_bytes_of_process.push_back(report.move_bytes);
  }
  question.sent = sent;
  question.coordinates_of_task = coordinates_of_task(reports);
  question.repeats_left = options.repeats_left;
  question.least_gain_ratio = threshold.gain_ratio(options.least_gain_ratio);
  tasks = question.task_of_process;
  const char* variable = std::getenv(kOracleVariable);
  const char* source = options.oracle != nullptr ? options.oracle : variable;
  const char* token = std::getenv(kTokenVariable);
  try {
    if (source == nullptr) throw Error(std::string(kOracleVariable) + " names no oracle");
    const Url url = parse_url(source);
    const std::string path = "/v1/remap" + (url.query.empty() ? "" : '?' + url.query);
    const std::string answer =
        post(url, path, as_json(question), token == nullptr ? "" : token, kAnswer_s);
    tasks = tasks_from(answer, reports.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead: %s; all tasks stay\n", error.what());
    return FAIRLEAD_NO_ORACLE;
  }
  const bool has_moved = tasks != question.task_of_process;
  threshold.adapt(has_moved);
  return has_moved ? FAIRLEAD_MOVED : FAIRLEAD_KEPT;
}

struct Place {
  int rank = 0;
  int size = 0;
  [[nodiscard]] std::size_t num_ranks() const { return static_cast<std::size_t>(size); }
};

/// Neighbours of all ranks on rank 0, in the order of the ranks.
bool gather_neighbours(MPI_Comm comm, const Place& place, const std::vector<RankReport>& reports,
                       int num_neighbours, const int* neighbours, const double* bytes,
                       std::vector<Sent>& sent) {
  std::vector<int> counts;
  std::vector<int> starts;
  int num_all = 0;
  for (const RankReport& report : reports) {
    counts.push_back(report.num_neighbours);
    starts.push_back(num_all);
    num_all += report.num_neighbours;
  }
  std::vector<int> all_neighbours(static_cast<std::size_t>(num_all));
  std::vector<double> all_bytes(static_cast<std::size_t>(num_all));
  if (MPI_Gatherv(neighbours, num_neighbours, MPI_INT, all_neighbours.data(), counts.data(),
                  starts.data(), MPI_INT, kRoot, comm) != MPI_SUCCESS ||
      MPI_Gatherv(bytes, num_neighbours, MPI_DOUBLE, all_bytes.data(), counts.data(), starts.data(),
                  MPI_DOUBLE, kRoot, comm) != MPI_SUCCESS) {
    return false;
  }
  for (std::size_t process = 0; process < reports.size() && place.rank == kRoot; ++process) {
    for (int i = 0; i < counts[process]; ++i) {
      const auto at = static_cast<std::size_t>(starts[process] + i);
      sent.push_back({reports[process].task, all_neighbours[at], all_bytes[at]});
    }
  }
  return true;
}

int remap_tasks(MPI_Comm comm, int num_neighbours, const int* neighbours, const double* bytes,
                const fairlead_remap_options& options, int* task) {
  Place place;
  if (MPI_Comm_rank(comm, &place.rank) != MPI_SUCCESS ||
      MPI_Comm_size(comm, &place.size) != MPI_SUCCESS) {
    return FAIRLEAD_MPI_FAILED;
  }
  const RankReport own =
      describe_rank(place.size, num_neighbours, neighbours, bytes, options, task);
  std::vector<RankReport> reports(place.rank == kRoot ? place.num_ranks() : 0);
  if (MPI_Gather(&own, static_cast<int>(sizeof own), MPI_BYTE, reports.data(),
                 static_cast<int>(sizeof own), MPI_BYTE, kRoot, comm) != MPI_SUCCESS) {
    return FAIRLEAD_MPI_FAILED;
  }
  // All agree that the arguments are right before any rank goes on.
  GainThreshold* threshold = place.rank == kRoot ? GainThreshold::of(comm) : nullptr;
  int state = FAIRLEAD_KEPT;
  if (place.rank == kRoot && threshold == nullptr) state = FAIRLEAD_MPI_FAILED;
  if (place.rank == kRoot && !fit_together(reports)) state = FAIRLEAD_WRONG_ARGUMENT;
  if (MPI_Bcast(&state, 1, MPI_INT, kRoot, comm) != MPI_SUCCESS) return FAIRLEAD_MPI_FAILED;
  if (state != FAIRLEAD_KEPT) return state;
  std::vector<Sent> sent;
  if (!gather_neighbours(comm, place, reports, num_neighbours, neighbours, bytes, sent)) {
    return FAIRLEAD_MPI_FAILED;
  }
  // The state comes last.
  std::vector<int> tasks(place.num_ranks());
  if (place.rank == kRoot) state = ask_oracle(reports, sent, options, *threshold, tasks);
  tasks.push_back(state);
  if (MPI_Bcast(tasks.data(), static_cast<int>(tasks.size()), MPI_INT, kRoot, comm) !=
      MPI_SUCCESS) {
    return FAIRLEAD_MPI_FAILED;
  }
  *task = tasks[static_cast<std::size_t>(place.rank)];
  return tasks.back();
}

}  // namespace
}  // namespace fairlead::remap

extern "C" int fairlead_remap(MPI_Comm comm, int num_neighbours, const int neighbours[],
                              const double bytes[], const fairlead_remap_options* options,
                              int* task) {
  int is_between = 1;
  if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &is_between) != MPI_SUCCESS ||
      is_between != 0) {
    return FAIRLEAD_WRONG_ARGUMENT;
  }
  try {
    return fairlead::remap::remap_tasks(comm, num_neighbours, neighbours, bytes,
                                        options != nullptr ? *options : fairlead_remap_options{},
                                        task);
  } catch (const std::exception& error) {
    // Without memory on one rank alone: the others would wait for it for ever.
    std::fprintf(stderr, "fairlead: remap: %s\n", error.what());
    MPI_Abort(comm, 1);
    return FAIRLEAD_MPI_FAILED;
  }
}
