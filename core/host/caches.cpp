// SPDX-License-Identifier: Apache-2.0
// Reads cpuN/cache/indexM/{level,type,size,shared_cpu_list}.
#include "fairlead/host/caches.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <string>

namespace fairlead {
namespace {

std::string line_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// A size as "32768K"; 0 where it is none.
std::uint64_t bytes_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  if (error != std::errc()) return 0;
  return unit == "K"    ? number << 10
         : unit == "M"  ? number << 20
         : unit == "G"  ? number << 30
         : unit.empty() ? number
                        : 0;
}

}  // namespace

std::optional<CacheBytes> read_caches(std::span<const int> cpus,
                                      const std::filesystem::path& folder) {
  CacheBytes caches{.of_one_cpu = 0, .of_all_cpus = 0};
  std::set<std::string> known;
  for (const int cpu : cpus) {
    const auto of_cpu = folder / ("cpu" + std::to_string(cpu)) / "cache";
    std::uint64_t reached_bytes = 0;
    for (int index = 0; std::filesystem::exists(of_cpu / ("index" + std::to_string(index)));
         ++index) {
      const auto cache = of_cpu / ("index" + std::to_string(index));
      const std::string type = line_of(cache / "type");
      if (type == "Instruction") continue;
      const std::uint64_t bytes = bytes_of(line_of(cache / "size"));
      if (bytes == 0) return std::nullopt;
      reached_bytes += bytes;
      const std::string sharers = line_of(cache / "shared_cpu_list");
      const std::string name =
          line_of(cache / "level") + type + (sharers.empty() ? std::to_string(cpu) : sharers);
      if (known.insert(name).second) caches.of_all_cpus += bytes;
    }
    if (reached_bytes == 0) return std::nullopt;
    caches.of_one_cpu = std::max(caches.of_one_cpu, reached_bytes);
  }
  return caches;
}

}  // namespace fairlead
