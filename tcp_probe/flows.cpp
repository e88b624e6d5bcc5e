// SPDX-License-Identifier: Apache-2.0
// A thread for each flow.
#include "flows.hpp"

#include <future>

#include "messages.hpp"

namespace fairlead::tcp_probe {

Flows::Flows(const std::vector<FlowOrder>& orders, const std::string& key,
             double silence_timeout_s) {
  for (const FlowOrder& order : orders) {
    flows_.push_back(
        {Socket::connect(order.peer.address, order.peer.port, silence_timeout_s), order.bytes});
    send_key(flows_.back().peer, key);
  }
}

double Flows::run() const {
  const double begin_s = now_s();
  std::vector<std::future<void>> running;
  for (const Flow& flow : flows_) {
    running.push_back(std::async(std::launch::async, [&flow] {
      send_request(flow.peer, {Exercise::push, 1, flow.bytes});
      send_trains(flow.peer, 1, flow.bytes);
      // They arrive when the last byte has.
      (void)receive_times(flow.peer, 1);
    }));
  }
  for (std::future<void>& flow : running) flow.get();
  return now_s() - begin_s;
}

}  // namespace fairlead::tcp_probe
