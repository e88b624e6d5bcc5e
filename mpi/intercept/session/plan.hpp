// SPDX-License-Identifier: Apache-2.0
// The plan's folder, read once: each feature finds its file here (formats: docs/reference/plan.md).
#pragma once

#include <map>
#include <string>

namespace fairlead::intercept {

/// The plan's existing files. Empty if the program has no plan or cannot use it.
struct Plan {
  std::string folder;
  std::map<std::string, std::string> text_of_file;

  [[nodiscard]] bool has(const std::string& file) const { return text_of_file.contains(file); }
  /// @pre the plan has the file
  [[nodiscard]] const std::string& text(const std::string& file) const {
    return text_of_file.at(file);
  }
  [[nodiscard]] std::string path(const std::string& file) const { return folder + "/" + file; }
  /// The file with a feature's network: FEATURE-network.json where the plan has that, else the one
  /// of all features.
  [[nodiscard]] std::string network_of(const std::string& feature) const;
};

inline constexpr const char* kNetworkFile = "network.json";

/// Reads the network, and each feature's file (FEATURE.json) and own network, on the first rank
/// that sees the folder, and sends them to all; if that fails, it reports so in one line.
/// Collective over MPI_COMM_WORLD.
[[nodiscard]] Plan read_plan(const char* folder, int rank, int num_ranks);

}  // namespace fairlead::intercept
