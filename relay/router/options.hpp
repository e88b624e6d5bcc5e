// SPDX-License-Identifier: Apache-2.0
// The command line of the router.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::router {

struct Options {
  /// Where other routers reach this one.
  std::string address;
  std::uint16_t port = 0;
  /// Folder of the Unix sockets; only its owner may enter it.
  std::string folder;
};

/// @throws InputError  what is wrong
[[nodiscard]] Options parse_options(int argc, char** argv);

inline constexpr const char* kUsage =
    "usage: fairlead-router --listen ADDRESS[:PORT] --folder FOLDER < JOBS\n"
    "Forwards messages of MPI jobs for this host. Prints the port on which it listens, then\n"
    "reads a line from standard input for each job that begins or ends. Ends when standard\n"
    "input ends. In FOLDER it creates the sockets router and metrics.\n";

}  // namespace fairlead::router
