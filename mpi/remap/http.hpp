// SPDX-License-Identifier: Apache-2.0
// Posts a document to a service by HTTP: bounded in time and size, with one line when it fails.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::remap {

/// A service by `http://HOST:PORT`, with what follows `?`.
struct Url {
  std::string host;
  std::string port;
  std::string query;  ///< Without the question mark.
};

/// @throws InputError It is none; https is not spoken here.
[[nodiscard]] Url parse_url(std::string_view text);

/// What the service answers to a document.
/// @param path With the slash at its begin.
/// @param token Sent as a bearer token unless it is empty.
/// @param limit_s For everything together; the look-up of the host's name has the resolver's.
/// @throws Error It cannot be reached in time, refuses, or answers with half of a document.
[[nodiscard]] std::string post(const Url& url, const std::string& path, const std::string& body,
                               const std::string& token, double limit_s);

}  // namespace fairlead::remap
