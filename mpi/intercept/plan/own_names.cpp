// SPDX-License-Identifier: Apache-2.0
// Asks the kernel only: no name service is needed on the hosts. In a simulation it asks the MPI.
#include "plan/own_names.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <memory>
#include <utility>

#include "fairlead/node_name.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/simulated.hpp"

namespace fairlead::intercept {
namespace {

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bits = nullptr;
  if (address->sa_family == AF_INET) {
    bits = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bits = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return {};
  }
  return inet_ntop(address->sa_family, bits, text.data(), text.size()) != nullptr ? text.data()
                                                                                  : std::string();
}

[[maybe_unused]] std::string simulated_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  mpi().Get_processor_name(name.data(), &length);
  return name.data();
}

}  // namespace

std::vector<std::string> own_names() {
  if constexpr (kIsSimulated) return {simulated_name()};
  std::vector<std::string> names;
  if (std::string name = node_name(); !name.empty()) names.push_back(std::move(name));
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return names;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::string text = text_of(entry->ifa_addr);
    if (!text.empty()) names.push_back(std::move(text));
  }
  return names;
}

}  // namespace fairlead::intercept
