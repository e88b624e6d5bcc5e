// SPDX-License-Identifier: Apache-2.0
// Sizes of caches and of free memory, from folders as the kernel shows them, and arrays by them.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fairlead/host/array_bytes.hpp"
#include "fairlead/host/caches.hpp"
#include "fairlead/host/memory.hpp"

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// A folder for files of one test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text << '\n';
  }
  /// A cache of a CPU.
  void write_cache(int cpu, int index, const std::string& type, const std::string& size,
                   const std::string& sharers) const {
    const std::string cache =
        "cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    write(cache + "level", std::to_string(index));
    write(cache + "type", type);
    write(cache + "size", size);
    write(cache + "shared_cpu_list", sharers);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("caches: a shared one counts once, instructions never, and other CPUs' not at all") {
  const Folder folder;
  for (int cpu = 0; cpu < 6; ++cpu) {
    folder.write_cache(cpu, 0, "Data", "32K", std::to_string(cpu));
    folder.write_cache(cpu, 1, "Instruction", "64K", std::to_string(cpu));
    folder.write_cache(cpu, 2, "Unified", cpu < 2 ? "16M" : "8192K", cpu < 2 ? "0-1" : "2-5");
  }
  const std::vector<int> four = {0, 1, 2, 3}, last = {5};

  const auto of_four = fairlead::read_caches(four, folder.path());
  const auto of_last = fairlead::read_caches(last, folder.path());

  REQUIRE(of_four.has_value());
  CHECK(of_four->of_one_cpu == 16 * kMiB + 32 * 1024);
  CHECK(of_four->of_all_cpus == 24 * kMiB + 4 * 32 * 1024);
  REQUIRE(of_last.has_value());
  CHECK(of_last->of_one_cpu == 8 * kMiB + 32 * 1024);
}

TEST_CASE("caches: where those of a CPU are not shown, they are unknown") {
  const Folder folder;
  folder.write_cache(0, 0, "Data", "32K", "0");
  folder.write_cache(1, 0, "Data", "unreadable", "1");
  const std::vector<int> first = {0}, second = {1}, with_third = {0, 2};

  CHECK(fairlead::read_caches(first, folder.path()).has_value());
  CHECK_FALSE(fairlead::read_caches(second, folder.path()).has_value());
  CHECK_FALSE(fairlead::read_caches(with_third, folder.path()).has_value());
}

TEST_CASE("arrays: all threads together exceed all caches, and the first one those of its CPU") {
  // Four CPUs in pairs, each pair with a cache of 10 MiB.
  const fairlead::CacheBytes caches{.of_one_cpu = 10 * kMiB, .of_all_cpus = 20 * kMiB};

  const auto usual = fairlead::choose_array_bytes(caches, 4, 1000 * kMiB);
  const auto least = fairlead::choose_array_bytes(caches, 4, 50 * kMiB);

  REQUIRE(usual.has_value());
  CHECK(usual->cache_ratio == 4.0);
  CHECK(usual->of_first == 40 * kMiB);
  CHECK(usual->of_other == 20 * kMiB);
  REQUIRE(least.has_value());
  CHECK(least->cache_ratio == 2.0);
  CHECK(least->of_first + 3 * least->of_other == 50 * kMiB);
  CHECK_FALSE(fairlead::choose_array_bytes(caches, 4, 50 * kMiB - 1).has_value());
}

TEST_CASE("arrays: the named part of random replacement solves its equation") {
  const auto hits = [](double ratio) {
    double part = 0.0;
    for (int step = 0; step < 1000; ++step) part = std::exp(-ratio * (1 - part));
    return part;
  };

  CHECK(std::abs(hits(fairlead::kUsualCacheRatio) - 0.02) < 0.005);
  CHECK(std::abs(hits(fairlead::kLeastCacheRatio) - 0.20) < 0.005);
}

TEST_CASE("memory: what is free is bounded by each cgroup, also by one above") {
  const Folder folder;
  folder.write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable: 8000 kB");
  CHECK(fairlead::available_memory_bytes(folder.path()) == 8000 * 1024U);

  // Version 2: the upper group has a limit; files that were not used lately can go.
  folder.write("proc/self/cgroup", "0::/job/step");
  folder.write("sys/fs/cgroup/job/step/memory.max", "max");
  folder.write("sys/fs/cgroup/job/step/memory.current", "5000");
  folder.write("sys/fs/cgroup/job/memory.max", "20000");
  folder.write("sys/fs/cgroup/job/memory.current", "15000");
  folder.write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 4000\nslab 2");
  CHECK(fairlead::available_memory_bytes(folder.path()) == 9000U);

  // Version 1, in a container whose file system begins at its own group.
  folder.write("proc/self/cgroup", "3:cpuset,memory:/docker/abc\n2:cpu:/");
  folder.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000");
  folder.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "9000");
  CHECK(fairlead::available_memory_bytes(folder.path()) == 0U);
}

TEST_CASE("memory: without the kernel's word it is unknown") {
  const Folder folder;

  CHECK_FALSE(fairlead::available_memory_bytes(folder.path()).has_value());
}
