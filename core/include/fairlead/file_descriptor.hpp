// SPDX-License-Identifier: Apache-2.0
// The owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace fairlead {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void close() { FileDescriptor().swap(*this); }

 private:
  void swap(FileDescriptor& other) noexcept { std::swap(number_, other.number_); }

  int number_ = -1;
};

}  // namespace fairlead
