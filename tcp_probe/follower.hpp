// SPDX-License-Identifier: Apache-2.0
// Serves the connections of other hosts.
#pragma once

#include <string>

#include "socket.hpp"

namespace fairlead::tcp_probe {

/// Serve a leader until it closes the connection. A peer without the key is sent away.
void follow(const Socket& leader, const std::string& key);

}  // namespace fairlead::tcp_probe
