// SPDX-License-Identifier: Apache-2.0
// One rank reads the folder, and all get the same texts.
#include "session/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <vector>

#include "fairlead/error.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

constexpr std::array kFeatures = {
#define FEATURE(feature) #feature,
#define HANDLER(feature, call)
#include "table/handlers.def"
};

std::string file_of(const std::string& feature) {
  return feature + ".json";
}

std::string own_network_of(const std::string& feature) {
  return feature + "-" + kNetworkFile;
}

std::string read_file(const std::string& path) {
  std::FILE* const stream = std::fopen(path.c_str(), "r");
  if (stream == nullptr) throw InputError(path + ": cannot be read: " + std::strerror(errno));
  std::string text;
  std::array<char, 65536> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), stream)) {
    text.append(part.data(), size);
  }
  const bool is_whole = std::ferror(stream) == 0;
  std::fclose(stream);
  if (!is_whole) throw InputError(path + ": cannot be read to its end");
  // The size of a broadcast is an int.
  if (text.size() > std::numeric_limits<int>::max()) {
    throw InputError(path + ": is larger than 2 GiB");
  }
  return text;
}

// A plan without a feature's file does not request the feature.
std::vector<std::string> wanted_files(const Plan& plan) {
  if (access(plan.folder.c_str(), X_OK) != 0) return {kNetworkFile};
  const auto is_there = [&](const std::string& file) {
    return access(plan.path(file).c_str(), F_OK) == 0;
  };
  std::vector<std::string> files;
  bool needs_network = false;
  for (const char* const feature : kFeatures) {
    if (!is_there(file_of(feature))) continue;
    files.push_back(file_of(feature));
    if (is_there(own_network_of(feature))) {
      files.push_back(own_network_of(feature));
    } else {
      needs_network = true;
    }
  }
  if (needs_network) files.insert(files.begin(), kNetworkFile);
  return files;
}

void read_files(Plan& plan) noexcept try {
  for (const std::string& file : wanted_files(plan)) {
    plan.text_of_file[file] = read_file(plan.path(file));
  }
} catch (const std::exception& error) {
  plan.text_of_file.clear();
  std::fprintf(stderr, "fairlead: the plan is not used: %s\n", error.what());
}

// The first rank that sees the folder: it need not be on a file system that all hosts share.
int first_reader(const char* folder, int num_ranks) {
  const char can_read = access(folder, R_OK | X_OK) == 0 ? 1 : 0;
  std::vector<char> can_read_of_rank(static_cast<std::size_t>(num_ranks));
  mpi().Allgather(&can_read, 1, byte_type(), can_read_of_rank.data(), 1, byte_type(), comm_world());
  const auto first = std::find(can_read_of_rank.begin(), can_read_of_rank.end(), 1);
  return first == can_read_of_rank.end() ? 0 : static_cast<int>(first - can_read_of_rank.begin());
}

constexpr std::int64_t kNoFile = -1;

void broadcast(Plan& plan, const std::string& file, bool is_reader, int reader) {
  std::int64_t size = kNoFile;
  if (is_reader && plan.has(file)) size = static_cast<std::int64_t>(plan.text(file).size());
  mpi().Bcast(&size, sizeof size, byte_type(), reader, comm_world());
  if (size == kNoFile) return;
  std::string& text = plan.text_of_file[file];
  text.resize(static_cast<std::size_t>(size));
  mpi().Bcast(text.data(), static_cast<int>(size), byte_type(), reader, comm_world());
}

}  // namespace

std::string Plan::network_of(const std::string& feature) const {
  return has(own_network_of(feature)) ? own_network_of(feature) : kNetworkFile;
}

Plan read_plan(const char* folder, int rank, int num_ranks) {
  Plan plan{folder, {}};
  const int reader = first_reader(folder, num_ranks);
  const bool is_reader = rank == reader;
  if (is_reader) read_files(plan);
  broadcast(plan, kNetworkFile, is_reader, reader);
  for (const char* const feature : kFeatures) {
    broadcast(plan, file_of(feature), is_reader, reader);
    broadcast(plan, own_network_of(feature), is_reader, reader);
  }
  return plan;
}

}  // namespace fairlead::intercept
