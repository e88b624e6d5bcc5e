// SPDX-License-Identifier: Apache-2.0
// The owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace fairlead::relay {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void close() { Descriptor().swap(*this); }

 private:
  void swap(Descriptor& other) noexcept { std::swap(number_, other.number_); }

  int number_ = -1;
};

}  // namespace fairlead::relay
