// SPDX-License-Identifier: Apache-2.0
#include "router/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "fairlead/error.hpp"

namespace fairlead::router {
namespace {

// The names of folders of routers that are started for a job (act/relay/routers.py).
constexpr std::string_view kPrefix = "fairlead-router-";

FileDescriptor open_folder(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_own(int descriptor) {
  struct stat found{};
  return fstat(descriptor, &found) == 0 && found.st_uid == geteuid() && (found.st_mode & 077) == 0;
}

bool is_at(int descriptor, const std::string& path) {
  struct stat opened{};
  struct stat found{};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &found) == 0 &&
         opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

void remove_with_sockets(const std::string& path) {
  for (const char* const name : {"/router", "/metrics", ""}) std::remove((path + name).c_str());
}

// A router that was killed could not remove its own.
void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(parent, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (entry->path().filename().string().compare(0, kPrefix.size(), kPrefix) != 0) continue;
    const FileDescriptor folder = open_folder(entry->path().string());
    if (!folder.is_open()) continue;
    // The name may belong to another folder meanwhile.
    if (is_own(folder.number()) && flock(folder.number(), LOCK_EX | LOCK_NB) == 0 &&
        is_at(folder.number(), entry->path().string())) {
      remove_with_sockets(entry->path().string());
    }
  }
}

}  // namespace

Folder::Folder(std::string path) : path_(std::move(path)) {
  remove_abandoned(std::filesystem::path(path_).parent_path());
  // Another router may take it for an abandoned one before it is locked.
  while (!lock()) {
  }
}

// Files of a router that was started again with the same folder are kept.
Folder::~Folder() {
  const bool is_shared =
      flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_shared) remove_with_sockets(path_);
}

// False: it was removed meanwhile. Shared, since a router may be started again before the former
// one has ended.
bool Folder::lock() {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw InputError(path_ + ": cannot be made: " + std::strerror(errno));
  }
  FileDescriptor opened = open_folder(path_);
  if (!opened.is_open() && errno == ENOENT) return false;
  if (!opened.is_open() || !is_own(opened.number())) {
    throw InputError(path_ + ": must be a folder that only this user may enter");
  }
  // Where the file system has no locks, nobody removes folders there either.
  (void)flock(opened.number(), LOCK_SH);
  if (!is_at(opened.number(), path_)) return false;
  descriptor_ = std::move(opened);
  return true;
}

}  // namespace fairlead::router
