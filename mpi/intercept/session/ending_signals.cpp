// SPDX-License-Identifier: Apache-2.0
#include "session/ending_signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include "trace/shares.hpp"

namespace fairlead::intercept {
namespace {

// By which launchers and schedulers end a program, and a user at a terminal.
constexpr std::array kEnding{SIGTERM, SIGINT, SIGHUP, SIGXCPU};

// In a child that the program forked no share is written, and it ends at once.
void end_by(int number) {
  const int error = errno;
  write_last_share(Occasion::signal);
  struct sigaction default_action{};
  default_action.sa_handler = SIG_DFL;
  sigaction(number, &default_action, nullptr);
  // Delivered when the handler returns, which has blocked it.
  raise(number);
  errno = error;
}

bool has_handler(int number, void (*handler)(int)) {
  struct sigaction current{};
  return sigaction(number, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
         current.sa_handler == handler;
}

}  // namespace

void catch_ending_signals() noexcept {
  struct sigaction action{};
  action.sa_handler = &end_by;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : kEnding) {
    if (has_handler(number, SIG_DFL)) sigaction(number, &action, nullptr);
  }
}

void release_ending_signals() noexcept {
  struct sigaction default_action{};
  default_action.sa_handler = SIG_DFL;
  for (const int number : kEnding) {
    if (has_handler(number, &end_by)) sigaction(number, &default_action, nullptr);
  }
}

}  // namespace fairlead::intercept
