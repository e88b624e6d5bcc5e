// SPDX-License-Identifier: Apache-2.0
// The trace file: formatting one rank's counters, gathering them, writing and renaming.
#include "trace/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

constexpr int kTag = 0;
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 28;

template <class... Values>
void append_line(std::string& text, const char* format, Values... values) {
  std::array<char, 192> line{};
  const int length = std::snprintf(line.data(), line.size(), format, values...);
  text.append(line.data(), std::min(static_cast<std::size_t>(length), line.size() - 1));
}

void append_tallies(std::string& text, const char* kind, int src,
                    const std::vector<Tally>& tallies) {
  for (std::size_t dst = 0; dst < tallies.size(); ++dst) {
    const Tally& tally = tallies[dst];
    if (tally.messages == 0) continue;
    append_line(text, "%s %d %zu %ju %ju %ju\n", kind, src, dst, std::uintmax_t{tally.messages},
                std::uintmax_t{tally.bytes}, std::uintmax_t{tally.max_bytes});
  }
}

// A file that takes its name only when all of it has been written.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path), temporary_(path + "." + std::to_string(getpid()) + ".part") {
    stream_ = std::fopen(temporary_.c_str(), "wx");
    if (stream_ == nullptr) error_ = errno;
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (!is_done_) std::remove(temporary_.c_str());
  }

  void write(std::string_view text) {
    if (error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) error_ = errno;
  }

  // 0, or the errno of the first step that failed.
  int finish() {
    if (error_ != 0) return error_;
    const bool is_closed = std::fclose(stream_) == 0;
    stream_ = nullptr;
    is_done_ = is_closed && std::rename(temporary_.c_str(), path_.c_str()) == 0;
    return is_done_ ? 0 : errno;
  }

 private:
  std::string path_;
  std::string temporary_;
  std::FILE* stream_ = nullptr;
  int error_ = 0;
  bool is_done_ = false;
};

std::string header(int num_ranks) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  mpi().Get_library_version(version.data(), &length);
  std::string library(version.data(), strcspn(version.data(), "\n"));
  std::replace(library.begin(), library.end(), '\t', ' ');
  return "fairlead-trace 1\nnum_ranks " + std::to_string(num_ranks) + "\nmpi " + library + "\n";
}

// Where it fails, the file will lack this rank, and its reader says so.
void send_lines(MPI_Comm comm, const std::string& lines) {
  std::uint64_t size_bytes = lines.size();
  mpi().Send(&size_bytes, sizeof size_bytes, byte_type(), 0, kTag, comm);
  for (std::uint64_t at = 0; at < size_bytes; at += kMaxChunkBytes) {
    const auto chunk = static_cast<int>(std::min(kMaxChunkBytes, size_bytes - at));
    mpi().Send(lines.data() + at, chunk, byte_type(), 0, kTag, comm);
  }
}

std::string receive_lines(MPI_Comm comm, int src) {
  std::uint64_t size_bytes = 0;
  mpi().Recv(&size_bytes, sizeof size_bytes, byte_type(), src, kTag, comm, MPI_STATUS_IGNORE);
  std::string lines(size_bytes, '\0');
  for (std::uint64_t at = 0; at < size_bytes; at += kMaxChunkBytes) {
    const auto chunk = static_cast<int>(std::min(kMaxChunkBytes, size_bytes - at));
    mpi().Recv(lines.data() + at, chunk, byte_type(), src, kTag, comm, MPI_STATUS_IGNORE);
  }
  return lines;
}

}  // namespace

std::string lines_of_rank(int rank, double run_time_s, const Counters& counters) {
  std::string text;
  append_line(text, "rank %d %.9f %ju %ju %ju\n", rank, run_time_s,
              std::uintmax_t{counters.untranslated.messages},
              std::uintmax_t{counters.untranslated.bytes},
              std::uintmax_t{counters.collectives.num_dropped()});
  append_tallies(text, "sent", rank, counters.sent);
  append_tallies(text, "exchanged", rank, counters.exchanged);
  counters.collectives.for_each([&text](const CollectiveTally& entry) {
    append_line(text, "collective %s %d %ju %ju %.9f\n", operation_name(entry.call).c_str(),
                entry.communicator_size, std::uintmax_t{entry.message_bytes},
                std::uintmax_t{entry.calls}, entry.seconds);
  });
  return text;
}

void write_trace(MPI_Comm comm, const std::string& path, const std::string& own_lines) {
  int rank = 0;
  int num_ranks = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &num_ranks);
  if (rank != 0) {
    send_lines(comm, own_lines);
    return;
  }
  NewFile file(path);
  file.write(header(num_ranks));
  file.write(own_lines);
  // Everything is received, whether or not it can be written: the others must not be kept waiting.
  for (int src = 1; src < num_ranks; ++src) file.write(receive_lines(comm, src));
  file.write("end\n");
  if (const int error = file.finish(); error != 0) {
    std::fprintf(stderr, "fairlead: %s: the trace cannot be written: %s\n", path.c_str(),
                 std::strerror(error));
  }
}

}  // namespace fairlead::intercept
