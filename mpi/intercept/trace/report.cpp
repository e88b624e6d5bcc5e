// SPDX-License-Identifier: Apache-2.0
// The trace file: rank 0 gets the sizes of all, writes the header, and then table after table.
#include "trace/report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "pmpi/mpi_symbols.hpp"
#include "session/new_file.hpp"
#include "trace/header.hpp"

namespace fairlead::intercept {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kTag = 0;
constexpr int kTraceVersion = 4;
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 28;

/// Rank 0's data about a rank before its tables arrive.
struct Announcement {
  RankRow rank;
  std::array<std::uint64_t, kNumTables> num_bytes{};
};

std::array<std::uint64_t, kNumTables> sums_of(std::span<const Announcement> announcements) {
  std::array<std::uint64_t, kNumTables> num_bytes{};
  for (const Announcement& one : announcements) {
    for (std::size_t table = 0; table < kNumTables; ++table) {
      num_bytes[table] += one.num_bytes[table];
    }
  }
  return num_bytes;
}

Announcement announcement_of(const RankRecord& record) {
  return {.rank = record.rank, .num_bytes = sizes_of_tables(record)};
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
  const std::string first_line = header_line(
      {{"format", "fairlead-trace"}, {"version", kTraceVersion}, {"mpi", library_name()}},
      announcements.size(), sums_of(announcements));
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
