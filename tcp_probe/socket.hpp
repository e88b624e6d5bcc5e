// SPDX-License-Identifier: Apache-2.0
// A TCP socket whose every wait is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fairlead/error.hpp"
#include "fairlead/file_descriptor.hpp"

namespace fairlead::tcp_probe {

/// A peer that cannot be reached or does not answer.
class ProbeError : public Error {
 public:
  using Error::Error;
};

/// A connection or a listening socket; closed by its destructor.
class Socket {
 public:
  /// @throws ProbeError: there is no connection within the limit.
  [[nodiscard]] static Socket connect(const std::string& address, std::uint16_t port,
                                      double limit_s);
  /// @param address in numbers; "::" and "0.0.0.0" are all of this host's.
  /// @throws ProbeError: the address cannot be used.
  [[nodiscard]] static Socket listen(const std::string& address);

  /// The port of a listening socket.
  [[nodiscard]] std::uint16_t port() const;
  /// The next connection, which waits for at most `limit_s` at a time.
  /// @throws ProbeError: this socket cannot accept any more.
  [[nodiscard]] Socket accept(double limit_s) const;

  /// @throws ProbeError: the peer closed the connection or did not read in time.
  void send(std::span<const std::byte> data) const;
  /// @throws ProbeError: the peer closed the connection or sent nothing in time.
  void receive(std::span<std::byte> data) const;

 private:
  explicit Socket(int number) : descriptor_(number) {}
  void bound_waits(double limit_s) const;

  FileDescriptor descriptor_;
};

}  // namespace fairlead::tcp_probe
