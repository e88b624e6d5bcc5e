// SPDX-License-Identifier: Apache-2.0
// The trace file: rank 0 gets the sizes of all, writes the header, and then table after table.
#include "trace/report.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "pmpi/mpi_symbols.hpp"
#include "session/new_file.hpp"
#include "table/call_names.hpp"

namespace fairlead::intercept {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kTag = 0;
constexpr int kVersion = 3;
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 28;
// The tables begin at a multiple of it, so that a reader may map the file into memory.
constexpr std::size_t kHeaderAlignment = 64;

/// Rank 0's data about a rank before its tables arrive.
struct Announcement {
  RankRow rank;
  std::array<std::uint64_t, kNumTables> num_bytes{};
};

std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  mpi().Get_library_version(version.data(), &length);
  return {version.data(), std::strcspn(version.data(), "\n")};
}

// One line of JSON, with the blanks in front of its end that bring the tables to their place.
std::string header(std::span<const Announcement> announcements) {
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (int call = 0; call < static_cast<int>(Call::count_); ++call) {
    operations.push_back(operation_name(static_cast<Call>(call)));
  }
  nlohmann::ordered_json num_rows = {{"ranks", announcements.size()}};
  for (std::size_t table = 0; table < kNumTables; ++table) {
    std::uint64_t num_bytes = 0;
    for (const Announcement& one : announcements) num_bytes += one.num_bytes[table];
    num_rows[kTableNames[table]] = num_bytes / kRowBytes[table];
  }
  const nlohmann::ordered_json fields = {
      {"format", "fairlead-trace"},
      {"version", kVersion},
      {"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
      {"mpi", library()},
      {"operations", operations},
      {"num_rows", num_rows},
  };
  std::string line = fields.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  line.append(kHeaderAlignment - 1 - line.size() % kHeaderAlignment, ' ');
  return line + "\n";
}

Announcement announcement_of(const RankRecord& record) {
  Announcement announcement{.rank = record.rank, .num_bytes = {}};
  const auto tables = record.tables();
  for (std::size_t table = 0; table < kNumTables; ++table) {
    announcement.num_bytes[table] = tables[table].size();
  }
  return announcement;
}

// If this fails, the file lacks this rank, and its reader reports that.
void send(MPI_Comm comm, const RankRecord& own) {
  const Announcement announcement = announcement_of(own);
  mpi().Send(&announcement, sizeof announcement, byte_type(), 0, kTag, comm);
  for (const Bytes table : own.tables()) {
    for (std::uint64_t at = 0; at < table.size(); at += kMaxChunkBytes) {
      const auto chunk = static_cast<int>(std::min(kMaxChunkBytes, table.size() - at));
      mpi().Send(table.data() + at, chunk, byte_type(), 0, kTag, comm);
    }
  }
}

// A rank that is lost keeps the row of one that handed in nothing.
std::vector<Announcement> receive_announcements(MPI_Comm comm, const RankRecord& own,
                                                int num_ranks) {
  std::vector<Announcement> announcements(static_cast<std::size_t>(num_ranks));
  announcements[0] = announcement_of(own);
  for (int src = 1; src < num_ranks; ++src) {
    Announcement announcement;
    if (mpi().Recv(&announcement, sizeof announcement, byte_type(), src, kTag, comm,
                   MPI_STATUS_IGNORE) == MPI_SUCCESS) {
      announcements[static_cast<std::size_t>(src)] = announcement;
    }
  }
  return announcements;
}

// The file gets too short for its header where a rank is lost, and its reader says so.
void receive_table(MPI_Comm comm, int src, std::uint64_t num_bytes, std::vector<std::byte>& room,
                   NewFile& file) {
  room.resize(std::min(kMaxChunkBytes, num_bytes));
  for (std::uint64_t at = 0; at < num_bytes; at += kMaxChunkBytes) {
    const auto chunk = std::min(kMaxChunkBytes, num_bytes - at);
    if (mpi().Recv(room.data(), static_cast<int>(chunk), byte_type(), src, kTag, comm,
                   MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return;
    }
    file.write(Bytes(room).first(chunk));
  }
}

}  // namespace

void write_trace(MPI_Comm comm, const std::string& path, const RankRecord& own) {
  int rank = 0;
  int num_ranks = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &num_ranks);
  if (rank != 0) {
    send(comm, own);
    return;
  }
  const std::vector<Announcement> announcements = receive_announcements(comm, own, num_ranks);
  NewFile file(path);
  const std::string first_line = header(announcements);
  file.write(std::as_bytes(std::span(first_line)));
  for (const Announcement& one : announcements) {
    file.write(std::as_bytes(std::span(&one.rank, 1)));
  }
  // Everything is received even if it cannot be written: the other ranks must not wait.
  std::vector<std::byte> room;
  for (std::size_t table = 0; table < kNumTables; ++table) {
    file.write(own.tables()[table]);
    for (int src = 1; src < num_ranks; ++src) {
      const Announcement& one = announcements[static_cast<std::size_t>(src)];
      receive_table(comm, src, one.num_bytes[table], room, file);
    }
  }
  if (const int error = file.finish(); error != 0) {
    std::fprintf(stderr, "fairlead: %s: the trace cannot be written: %s\n", path.c_str(),
                 std::strerror(error));
  }
}

}  // namespace fairlead::intercept
