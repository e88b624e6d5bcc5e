// SPDX-License-Identifier: Apache-2.0
// TAP devices by the kernel's universal driver (Documentation/networking/tuntap.rst).
#include "tap.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace fairlead::delay_line {
namespace {

constexpr const char* kDriver = "/dev/net/tun";

FileDescriptor open_driver() {
  const int number = open(kDriver, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (number < 0) throw std::system_error(errno, std::generic_category(), kDriver);
  return FileDescriptor(number);
}

}  // namespace

Tap::Tap(const std::string& name) : descriptor_(open_driver()) {
  ifreq request{};
  if (name.size() >= sizeof request.ifr_name) {
    throw std::invalid_argument("TAP device " + name + ": the name is too long");
  }
  name.copy(request.ifr_name, name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(descriptor_.number(), TUNSETIFF, &request) != 0) {
    throw std::system_error(errno, std::generic_category(), "TAP device " + name);
  }
}

std::size_t Tap::read(std::span<std::uint8_t> room) const {
  const auto size = ::read(descriptor_.number(), room.data(), room.size());
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

void Tap::write(std::span<const std::uint8_t> frame) const {
  [[maybe_unused]] const auto size = ::write(descriptor_.number(), frame.data(), frame.size());
}

}  // namespace fairlead::delay_line
