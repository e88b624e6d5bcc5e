// SPDX-License-Identifier: Apache-2.0
// Begin and end of the feature: the plan goes from one rank to all, and each finds its host.
#include "reorder/reorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <string>

#include "fairlead/error.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "reorder/own_names.hpp"
#include "reorder/site.hpp"

namespace fairlead::intercept {

std::atomic<bool> reordering{false};

namespace {

constexpr const char* kNetworkFile = "network.txt";
constexpr const char* kReorderFile = "reorder.txt";

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
  return text;
}

// Both texts of the plan; empty where the plan cannot be used.
struct Texts {
  std::string network;
  std::string reorder;
};

void complain(const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: ranks are not reordered: %s\n", problem);
}

// A plan without the second file is one in which nobody asks for reordering.
Texts read_texts(const std::string& folder) noexcept try {
  const std::string reorder_path = folder + "/" + kReorderFile;
  if (access(folder.c_str(), X_OK) == 0 && access(reorder_path.c_str(), F_OK) != 0) return {};
  Texts texts{read_file(folder + "/" + kNetworkFile), read_file(reorder_path)};
  // What is broadcast has a size that is an int.
  if (std::max(texts.network.size(), texts.reorder.size()) > std::numeric_limits<int>::max()) {
    throw InputError(folder + ": the plan is larger than 2 GiB");
  }
  return texts;
} catch (const std::exception& error) {
  complain(error.what());
  return {};
}

// The first rank that sees the folder: it need not be on a file system that all hosts share.
int first_reader(const char* folder, int num_ranks) {
  const char can_read = access(folder, R_OK | X_OK) == 0 ? 1 : 0;
  std::vector<char> can_read_of_rank(static_cast<std::size_t>(num_ranks));
  mpi().Allgather(&can_read, 1, byte_type(), can_read_of_rank.data(), 1, byte_type(), comm_world());
  const auto first = std::find(can_read_of_rank.begin(), can_read_of_rank.end(), 1);
  return first == can_read_of_rank.end() ? 0 : static_cast<int>(first - can_read_of_rank.begin());
}

void broadcast(std::string& text, int reader) {
  std::uint64_t size = text.size();
  mpi().Bcast(&size, sizeof size, byte_type(), reader, comm_world());
  text.resize(size);
  mpi().Bcast(text.data(), static_cast<int>(size), byte_type(), reader, comm_world());
}

// The same text on all ranks gives the same plan or the same error; one rank tells of it.
bool parse(const std::string& folder, const Texts& texts, bool is_reader,
           ReorderPlan& plan) noexcept try {
  plan = parse_reorder_plan({folder + "/" + kNetworkFile, texts.network},
                            {folder + "/" + kReorderFile, texts.reorder});
  return true;
} catch (const std::exception& error) {
  if (is_reader) complain(error.what());
  return false;
}

int own_host(const ReorderPlan& plan) noexcept try {
  return find_host(plan, own_names());
} catch (const std::exception&) {
  return kUnknownHost;
}

// Whether every process knows its host; the first that does not says so.
bool find_hosts(Site& site, int world_rank, int num_ranks) {
  const std::int32_t own = own_host(site.plan);
  site.host_of_world_rank.resize(static_cast<std::size_t>(num_ranks));
  mpi().Allgather(&own, sizeof own, byte_type(), site.host_of_world_rank.data(), sizeof own,
                  byte_type(), comm_world());
  const auto& hosts = site.host_of_world_rank;
  const auto unknown = std::find(hosts.begin(), hosts.end(), kUnknownHost);
  if (unknown == hosts.end()) return true;
  if (unknown - hosts.begin() == world_rank) {
    const std::vector<std::string> names = own_names();
    const std::string name = names.empty() ? "?" : names.front();
    complain(("host '" + name + "' is not in the plan").c_str());
  }
  return false;
}

}  // namespace

Site& site() {
  static Site* const instance = new Site;
  return *instance;
}

void begin_reordering(const char* folder) noexcept try {
  int world_rank = 0;
  int num_ranks = 0;
  mpi().Comm_rank(comm_world(), &world_rank);
  mpi().Comm_size(comm_world(), &num_ranks);
  const int reader = first_reader(folder, num_ranks);
  Texts texts;
  if (world_rank == reader) texts = read_texts(folder);
  broadcast(texts.network, reader);
  broadcast(texts.reorder, reader);
  if (texts.network.empty() || texts.reorder.empty()) return;
  if (!parse(folder, texts, world_rank == reader, site().plan)) return;
  if (!find_hosts(site(), world_rank, num_ranks)) return;
  reordering.store(true, std::memory_order_release);
} catch (const std::exception& error) {
  complain(error.what());
}

void end_reordering() noexcept {
  reordering.store(false, std::memory_order_release);
}

}  // namespace fairlead::intercept
