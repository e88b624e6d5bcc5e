// SPDX-License-Identifier: Apache-2.0
// fairlead-delay-line TAP...: reads the table of hosts on stdin, makes the TAP devices in its
// network namespace, says "ready" or what is wrong on stdout, and delays frames until it is ended.
#include <sched.h>

#include <exception>
#include <iostream>
#include <span>
#include <utility>
#include <vector>

#include "host_table.hpp"
#include "line.hpp"
#include "tap.hpp"

using namespace fairlead::delay_line;

namespace {

/// Raises the priority, so that other processes do not delay frames, which need only a small part
/// of a core. Only root may do this; without it, frames are late more often on a busy machine.
void go_first() {
  const sched_param lowest_of_real_time{.sched_priority = 1};
  [[maybe_unused]] const int result = sched_setscheduler(0, SCHED_RR, &lowest_of_real_time);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    HostTable hosts = HostTable::read(std::cin);
    std::vector<Tap> taps;
    for (const char* name : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
      taps.emplace_back(name);
    }
    Line line(std::move(taps), std::move(hosts));
    go_first();
    std::cout << "ready" << '\n' << std::flush;
    line.run();
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n' << std::flush;
    return 1;
  }
}
