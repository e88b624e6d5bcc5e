// SPDX-License-Identifier: Apache-2.0
// What an oracle is asked for a remapping, and what it answers, as JSON.
#pragma once

#include <string>
#include <vector>

namespace fairlead::remap {

/// What one task sends to another in one repeat.
struct Sent {
  int src;
  int dst;
  double bytes;
};

/// Processes, tasks and traffic of a communicator.
struct Question {
  std::vector<std::string> host_of_process;
  std::vector<int> task_of_process;
  std::vector<double> move_bytes_of_process;
  std::vector<Sent> sent;
  /// Those of each task, in the order of the tasks; empty: none.
  std::vector<std::vector<double>> coordinates_of_task;
  double repeats_left = 0.0;
  double least_gain_ratio = 0.0;
};

[[nodiscard]] std::string as_json(const Question& question);

/// The next task of each process.
/// @throws Error The document is none, or gives not each task to one process.
[[nodiscard]] std::vector<int> tasks_from(const std::string& document, std::size_t num_processes);

}  // namespace fairlead::remap
