// SPDX-License-Identifier: Apache-2.0
// By sched_getaffinity(2), whose mask may be longer than cpu_set_t.
#include "inside/allowed_cpus.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

namespace fairlead::probe {
namespace {

constexpr std::size_t kMostCpus = 16384;

/// A mask of kMostCpus bits.
struct CpuMask {
  std::vector<cpu_set_t> words = std::vector<cpu_set_t>(kMostCpus / CPU_SETSIZE);

  CpuMask() { CPU_ZERO_S(size(), words.data()); }
  [[nodiscard]] std::size_t size() const { return words.size() * sizeof(cpu_set_t); }
};

std::vector<int> cpus_of(pid_t process) {
  CpuMask mask;
  if (sched_getaffinity(process, mask.size(), mask.words.data()) != 0) return {};
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < kMostCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, mask.size(), mask.words.data())) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

/// Returns whether this thread may use these CPUs, or those of them that a cpuset leaves.
bool use_cpus(const std::vector<int>& cpus) {
  CpuMask mask;
  for (const int cpu : cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), mask.size(), mask.words.data());
  }
  return sched_setaffinity(0, mask.size(), mask.words.data()) == 0;
}

bool is_of_slurm(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name.starts_with("slurm");
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> own = cpus_of(0);
  if (is_of_slurm(getppid())) return own;
  std::vector<int> all;
  std::ranges::set_union(own, cpus_of(getppid()), std::back_inserter(all));
  return all;
}

bool bind_thread(int cpu) {
  return cpu >= 0 && static_cast<std::size_t>(cpu) < kMostCpus && use_cpus({cpu});
}

WithJobCpus::WithJobCpus() : former_(cpus_of(0)) {
  use_cpus(allowed_cpus());  // Where that is refused, those stay that it has.
  cpus_ = cpus_of(0);
}

WithJobCpus::~WithJobCpus() {
  use_cpus(former_);
}

}  // namespace fairlead::probe
