// SPDX-License-Identifier: Apache-2.0
// Notes in the file FAIRLEAD_EXCLUSIVE each file that the program creates with O_EXCL, one path a
// line: a second run would find it there, and fail or do something else. Only calls that pass the
// C library's interface are seen; mkstemp(3), whose names are new each time, is not one of them.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using OpenAt = int(int, const char*, int, ...);
using OpenStream = FILE*(const char*, const char*);

// Length of the folder that relative paths begin at, 0 where it is unknown.
std::size_t folder_of(int folder, char* path, std::size_t size) {
  if (folder == AT_FDCWD) return getcwd(path, size) != nullptr ? std::strlen(path) : 0;
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  const ssize_t length = readlink(link, path, size - 1);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

void note(int folder, const char* name) {
  const char* const file = std::getenv("FAIRLEAD_EXCLUSIVE");
  if (file == nullptr || *file == '\0') return;
  const int former_errno = errno;
  char line[2 * PATH_MAX];
  std::size_t length = *name == '/' ? 0 : folder_of(folder, line, PATH_MAX);
  const std::size_t name_length = std::strlen(name);
  if ((*name == '/' || length > 0) && length + name_length + 2 < sizeof line) {
    if (length > 0) line[length++] = '/';
    // The line is written by its length, without a terminating zero.
    std::memcpy(line + length, name, name_length);  // NOLINT(bugprone-not-null-terminated-result)
    length += name_length;
    line[length++] = '\n';
    const int notes =
        next<OpenAt>("openat")(AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (notes >= 0) {
      (void)!write(notes, line, length);
      close(notes);
    }
  }
  errno = former_errno;
}

int opened(const char* function, int folder, const char* path, int flags, mode_t mode) {
  const int number = next<OpenAt>(function)(folder, path, flags, mode);
  if (number >= 0 && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) note(folder, path);
  return number;
}

FILE* opened(const char* function, const char* path, const char* mode) {
  FILE* const stream = next<OpenStream>(function)(path, mode);
  if (stream != nullptr && std::strchr(mode, 'x') != nullptr) note(AT_FDCWD, path);
  return stream;
}

}  // namespace

// The mode is there only where a file may be created; to read it in any case does no harm on the
// machines of Linux, which pass it in a register.
#define MODE_AFTER(flags)                 \
  va_list rest;                           \
  va_start(rest, flags);                  \
  const auto mode = va_arg(rest, mode_t); \
  va_end(rest)

#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return opened("openat", AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return opened("openat64", AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return opened("openat", folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return opened("openat64", folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return opened("fopen", path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return opened("fopen64", path, mode);
}

}  // extern "C"
#pragma GCC visibility pop
