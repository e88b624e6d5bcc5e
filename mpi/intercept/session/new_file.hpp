// SPDX-License-Identifier: Apache-2.0
// Writes a file whole or not at all.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

namespace fairlead::intercept {

/// A file that gets its name only after all of it has been written.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path), temporary_(path + "." + std::to_string(getpid()) + ".part") {
    stream_ = std::fopen(temporary_.c_str(), "wx");
    if (stream_ == nullptr) error_ = errno;
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (!is_done_) std::remove(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    if (error_ != 0) return;
    if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) error_ = errno;
  }

  /// @return 0, or the errno of the first step that failed
  [[nodiscard]] int finish() {
    if (error_ != 0) return error_;
    const bool is_closed = std::fclose(stream_) == 0;
    stream_ = nullptr;
    is_done_ = is_closed && std::rename(temporary_.c_str(), path_.c_str()) == 0;
    return is_done_ ? 0 : errno;
  }

 private:
  std::string path_;
  std::string temporary_;
  std::FILE* stream_ = nullptr;
  int error_ = 0;
  bool is_done_ = false;
};

}  // namespace fairlead::intercept
