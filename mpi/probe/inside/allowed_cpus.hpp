// SPDX-License-Identifier: Apache-2.0
// CPUs on which the job may run, and threads on one of them.
#pragma once

#include <vector>

namespace fairlead::probe {

/// CPUs that the job may use on this host, ascending: those of this process, and those of the
/// launcher's process that started it, since a launcher may bind this one to a core. Slurm's
/// process is not bound as the job is, so it does not count.
std::vector<int> allowed_cpus();

/// Binds the calling thread to one CPU. Returns whether it runs there.
bool bind_thread(int cpu);

}  // namespace fairlead::probe
