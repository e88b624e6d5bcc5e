// SPDX-License-Identifier: Apache-2.0
#include "trace/header.hpp"

#include <mpi.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "pmpi/mpi_symbols.hpp"
#include "table/call_names.hpp"

namespace fairlead::intercept {
namespace {

// The tables begin at a multiple of it, so that a reader may map the file into memory.
constexpr std::size_t kHeaderAlignment = 64;

}  // namespace

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  mpi().Get_library_version(version.data(), &length);
  return {version.data(), std::strcspn(version.data(), "\n")};
}

std::string header_line(nlohmann::ordered_json fields, std::size_t num_ranks,
                        const std::array<std::uint64_t, kNumTables>& num_bytes) {
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (int call = 0; call < static_cast<int>(Call::count_); ++call) {
    operations.push_back(operation_name(static_cast<Call>(call)));
  }
  nlohmann::ordered_json num_rows = {{"ranks", num_ranks}};
  for (std::size_t table = 0; table < kNumTables; ++table) {
    num_rows[kTableNames[table]] = num_bytes[table] / kRowBytes[table];
  }
  fields["byte_order"] = std::endian::native == std::endian::little ? "little" : "big";
  fields["operations"] = operations;
  fields["num_rows"] = num_rows;
  std::string line = fields.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  line.append(kHeaderAlignment - 1 - line.size() % kHeaderAlignment, ' ');
  return line + "\n";
}

std::array<std::uint64_t, kNumTables> sizes_of_tables(const RankRecord& record) {
  std::array<std::uint64_t, kNumTables> num_bytes{};
  const auto tables = record.tables();
  for (std::size_t table = 0; table < kNumTables; ++table) num_bytes[table] = tables[table].size();
  return num_bytes;
}

}  // namespace fairlead::intercept
