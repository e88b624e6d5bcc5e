// SPDX-License-Identifier: Apache-2.0
// CPUs on which the job may run, and threads on one of them.
#pragma once

#include <vector>

namespace fairlead::probe {

/// CPUs that the job may use on this host, ascending: those of this process, and those of the
/// launcher's process that started it, since a launcher may bind this one to a core. Slurm's
/// process is not bound as the job is, so it does not count.
std::vector<int> allowed_cpus();

/// While it lives, this thread and those that it starts may run on all CPUs of the job, whatever
/// the launcher has bound this process to: some bind it on one host and not on others. Below Slurm
/// these are the CPUs of the step.
class WithJobCpus {
 public:
  WithJobCpus();
  WithJobCpus(const WithJobCpus&) = delete;
  WithJobCpus& operator=(const WithJobCpus&) = delete;
  ~WithJobCpus();

  /// Those that the kernel allows now, ascending; none where it does not show them.
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }

 private:
  std::vector<int> former_;
  std::vector<int> cpus_;
};

/// Binds the calling thread to one CPU. Returns whether it runs there.
bool bind_thread(int cpu);

}  // namespace fairlead::probe
