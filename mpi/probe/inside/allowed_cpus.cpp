// SPDX-License-Identifier: Apache-2.0
// By sched_getaffinity(2), whose mask may be longer than cpu_set_t.
#include "inside/allowed_cpus.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
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

/// CPUs of the step, below Slurm's process: those that the kernel allows, if they are as many as
/// Slurm has given the step on this node. Else a cpuset does not keep those of other jobs away, and
/// only this process's own are known to be the job's.
void use_cpus_of_step() {
  const std::vector<int> own = cpus_of(0);
  const char* number = std::getenv("SLURM_CPUS_ON_NODE");
  const long num_of_step = number == nullptr ? 0 : std::strtol(number, nullptr, 10);
  std::vector<int> every(kMostCpus);
  std::iota(every.begin(), every.end(), 0);
  if (use_cpus(every) && std::ssize(cpus_of(0)) > num_of_step) use_cpus(own);
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
  // Where that is refused, those stay that it has.
  if (is_of_slurm(getppid())) {
    use_cpus_of_step();
  } else {
    use_cpus(allowed_cpus());
  }
  cpus_ = cpus_of(0);
}

WithJobCpus::~WithJobCpus() {
  use_cpus(former_);
}

}  // namespace fairlead::probe
