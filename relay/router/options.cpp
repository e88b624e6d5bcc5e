// SPDX-License-Identifier: Apache-2.0
// Reads the command line.
#include "router/options.hpp"

#include <charconv>
#include <string_view>

#include "fairlead/error.hpp"

namespace fairlead::router {
namespace {

// "10.0.0.1:4000", "10.0.0.1", "[::1]:4000" or "::1".
void parse_listen(std::string_view text, Options& options) {
  const bool has_brackets = text.starts_with('[');
  const auto end = has_brackets ? text.find(']') : text.find(':');
  const bool is_bare_ipv6 =
      !has_brackets && end != text.npos && text.find(':', end + 1) != text.npos;
  if (end == text.npos || is_bare_ipv6) {
    options.address = text;
    return;
  }
  options.address = has_brackets ? text.substr(1, end - 1) : text.substr(0, end);
  std::string_view port = text.substr(has_brackets ? end + 1 : end);
  if (port.empty()) return;
  port.remove_prefix(1);
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || stop != port.data() + port.size()) {
    throw InputError("--listen: no such port: " + std::string(port));
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  for (int index = 1; index < argc; ++index) {
    const std::string_view name = argv[index];
    if (name != "--listen" && name != "--folder") {
      throw InputError("unknown option: " + std::string(name));
    }
    if (++index == argc) throw InputError(std::string(name) + ": missing value");
    if (name == "--listen") {
      parse_listen(argv[index], options);
    } else {
      options.folder = argv[index];
    }
  }
  if (options.address.empty()) throw InputError("--listen: missing");
  if (options.folder.empty()) throw InputError("--folder: missing");
  return options;
}

}  // namespace fairlead::router
