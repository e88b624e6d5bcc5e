// SPDX-License-Identifier: Apache-2.0
// The folder of a router's sockets.
#pragma once

#include <string>

#include "fairlead/file_descriptor.hpp"

namespace fairlead::router {

/// A folder that only its owner may enter, for the time that the router runs. It is locked for that
/// time, so that other routers see that it is in use.
class Folder {
 public:
  /// Makes it, or reuses that of an earlier router. Folders next to it whose routers were killed
  /// are removed first.
  /// @throws InputError  it cannot be made, or is not only this user's
  explicit Folder(std::string path);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string router_socket() const { return path_ + "/router"; }
  [[nodiscard]] std::string metrics_socket() const { return path_ + "/metrics"; }

 private:
  [[nodiscard]] bool lock();

  std::string path_;
  FileDescriptor descriptor_;
};

}  // namespace fairlead::router
