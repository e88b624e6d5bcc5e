// SPDX-License-Identifier: Apache-2.0
// Messages to several hosts at the same time, again and again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leader.hpp"
#include "socket.hpp"

namespace fairlead::tcp_probe {

struct FlowOrder {
  Peer peer;
  std::uint64_t bytes = 0;
};

/// The flows of this host, over connections that are opened once.
class Flows {
 public:
  /// @throws ProbeError: a peer cannot be reached.
  Flows(const std::vector<FlowOrder>& orders, const std::string& key, double silence_timeout_s);

  /// Time until all flows have arrived, by what their receivers answer.
  /// @throws ProbeError: a peer did not answer.
  [[nodiscard]] double run() const;

 private:
  struct Flow {
    Socket peer;
    std::uint64_t bytes;
  };

  std::vector<Flow> flows_;
};

}  // namespace fairlead::tcp_probe
