// SPDX-License-Identifier: Apache-2.0
// Does what a leader asks for.
#include "follower.hpp"

#include "messages.hpp"

namespace fairlead::tcp_probe {
namespace {

void answer(const Socket& leader, const Request& request) {
  switch (request.exercise) {
    case Exercise::echo:
      for (std::uint64_t trip = 0; trip < request.count; ++trip) {
        receive_bytes(leader, request.bytes);
        send_bytes(leader, request.bytes);
      }
      break;
    case Exercise::push:
      send_times(leader, receive_trains(leader, request.count, request.bytes));
      break;
    case Exercise::pull:
      send_trains(leader, request.count, request.bytes);
      break;
  }
}

}  // namespace

void follow(const Socket& leader, const std::string& key) {
  try {
    if (receive_key(leader) != key) return;
    for (;;) answer(leader, receive_request(leader));
  } catch (const ProbeError&) {
    return;  // The leader is done, or has failed, which it reports itself.
  }
}

}  // namespace fairlead::tcp_probe
