// SPDX-License-Identifier: Apache-2.0
// fairlead-tcp-probe --listen ADDRESS: reports where it listens, measures what it is ordered to,
// and serves other hosts meanwhile, until its standard input ends. The process that starts it holds
// the other end of that, so it does not outlive that process.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "fairlead/host_identity.hpp"
#include "fairlead/node_name.hpp"
#include "follower.hpp"
#include "orders.hpp"
#include "socket.hpp"

namespace fairlead::tcp_probe {
namespace {

// A leader is silent for as long as it measures other pairs of the same round.
constexpr double kFollowerTimeout_s = 60;

// Flushed at once: the process that sent the order blocks until it reads the answer.
void print_line(const std::string& line) {
  std::cout << line << '\n' << std::flush;
}

void report_place(const Socket& listener) {
  const nlohmann::json place = {{"port", listener.port()},
                                {"machine", boot_id()},
                                {"host", host_identity()},
                                {"node", node_name()},
                                {"cores", std::max(1U, std::thread::hardware_concurrency())}};
  print_line(place.dump());
}

[[noreturn]] void serve(const Socket& listener, const JobKey& key) {
  for (;;) {
    std::thread([&key, leader = listener.accept(kFollowerTimeout_s)] {
      follow(leader, key.get());
    }).detach();
  }
}

void run(const std::string& address) {
  const Socket listener = Socket::listen(address);
  JobKey key;
  std::thread([&] {
    try {
      serve(listener, key);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fairlead-tcp-probe: %s\n", error.what());
      _exit(1);
    }
  }).detach();
  report_place(listener);
  Orders orders(key);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "end") {
      // What follows on this connection is not for this program.
      print_line(R"({"done":"end"})");
      break;
    }
    print_line(orders.answer(line));
  }
  // Threads may still serve connections; nothing of theirs has to be kept.
  _exit(0);
}

}  // namespace
}  // namespace fairlead::tcp_probe

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc != 3 || std::string_view(argv[1]) != "--listen") {
    std::fputs("usage: fairlead-tcp-probe --listen ADDRESS\n", stderr);
    return 2;
  }
  try {
    fairlead::tcp_probe::run(argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead-tcp-probe: %s\n", error.what());
    return 1;
  }
}
