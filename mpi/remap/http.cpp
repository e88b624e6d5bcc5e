// SPDX-License-Identifier: Apache-2.0
// HTTP/1.0, so that an answer ends with its connection and comes in no chunks. Not by a library:
// this is built where users are, for their MPI, with no header that their machine may lack, and a
// program's timers may interrupt each call.
#include "remap/http.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fairlead/error.hpp"
#include "fairlead/file_descriptor.hpp"

namespace fairlead::remap {
namespace {

// Most bytes of an answer: the tasks of a million processes.
constexpr std::size_t kMostBytes = 16U << 20U;
constexpr std::size_t kReasonLetters = 200;

using Clock = std::chrono::steady_clock;

/// When everything has to be done.
class Deadline {
 public:
  explicit Deadline(double limit_s)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s))) {}

  [[nodiscard]] int left_ms() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
  }

 private:
  Clock::time_point end_;
};

[[noreturn]] void fail(const Url& url, const std::string& problem) {
  throw Error("oracle http://" + url.host + ":" + url.port + ": " + problem);
}

void wait_for(const FileDescriptor& socket, short events, const Deadline& deadline,
              const Url& url) {
  pollfd waited{socket.number(), events, 0};
  int ready = 0;
  do {
    ready = poll(&waited, 1, deadline.left_ms());
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) fail(url, "does not answer in time");
  if (ready < 0) fail(url, std::strerror(errno));
}

/// @return nothing where this address cannot be reached; `problem` then says why.
FileDescriptor connected(const addrinfo& address, const Deadline& deadline, const Url& url,
                         std::string& problem) {
  FileDescriptor made(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                             address.ai_protocol));
  if (!made.is_open()) {
    problem = std::strerror(errno);
    return FileDescriptor();
  }
  if (connect(made.number(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) {
      problem = std::strerror(errno);
      return FileDescriptor();
    }
    wait_for(made, POLLOUT, deadline, url);
    int failure = 0;
    socklen_t size = sizeof failure;
    getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure != 0) {
      problem = std::strerror(failure);
      return FileDescriptor();
    }
  }
  return made;
}

FileDescriptor connected(const Url& url, const Deadline& deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (failure != 0) fail(url, gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::string problem = "has no address";
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    FileDescriptor made = connected(*address, deadline, url, problem);
    if (made.is_open()) return made;
  }
  fail(url, "cannot be reached: " + problem);
}

void send_all(const FileDescriptor& socket, std::string_view rest, const Deadline& deadline,
              const Url& url) {
  while (!rest.empty()) {
    wait_for(socket, POLLOUT, deadline, url);
    const ssize_t sent = send(socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(url, std::string("breaks off: ") + std::strerror(errno));
    }
  }
}

std::string received(const FileDescriptor& socket, const Deadline& deadline, const Url& url) {
  std::string answer;
  std::array<char, 65536> piece{};
  while (true) {
    wait_for(socket, POLLIN, deadline, url);
    const ssize_t got = recv(socket.number(), piece.data(), piece.size(), 0);
    if (got == 0) return answer;
    if (got > 0) {
      answer.append(piece.data(), static_cast<std::size_t>(got));
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(url, std::string("breaks off: ") + std::strerror(errno));
    }
    if (answer.size() > kMostBytes) fail(url, "answers with too many bytes");
  }
}

/// Length that the head of an answer states; all that came where it states none.
std::size_t stated_length(std::string head, std::size_t length) {
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  constexpr std::string_view kName = "\r\ncontent-length:";
  const std::size_t at = head.find(kName);
  return at == std::string::npos ? length
                                 : std::strtoul(head.c_str() + at + kName.size(), nullptr, 10);
}

}  // namespace

Url parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  const std::string_view whole = text;
  Url url;
  if (text.substr(0, kScheme.size()) == kScheme) {
    text.remove_prefix(kScheme.size());
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
      url.query = text.substr(mark + 1);
      text = text.substr(0, mark);
    }
    if (!text.empty() && text.back() == '/') text.remove_suffix(1);
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos && text.find('/') == std::string_view::npos) {
      url.host = text.substr(0, colon);
      url.port = text.substr(colon + 1);
      if (url.host.size() > 2 && url.host.front() == '[' && url.host.back() == ']') {
        url.host = url.host.substr(1, url.host.size() - 2);
      }
    }
  }
  const bool is_clean = url.query.find_first_of(" \r\n") == std::string::npos;
  if (url.host.empty() || url.port.empty() || !is_clean) {
    throw InputError("oracle '" + std::string(whole) + "': expected http://HOST:PORT");
  }
  return url;
}

std::string post(const Url& url, const std::string& path, const std::string& body,
                 const std::string& token, double limit_s) {
  const Deadline deadline(limit_s);
  const FileDescriptor socket = connected(url, deadline);
  std::string request =
      "POST " + path + " HTTP/1.0\r\nHost: " + url.host + ":" + url.port +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n";
  if (!token.empty()) request += "Authorization: Bearer " + token + "\r\n";
  send_all(socket, request + "\r\n" + body, deadline, url);
  const std::string answer = received(socket, deadline, url);
  const std::size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos) fail(url, "gives half of an answer");
  const std::string head = answer.substr(0, end);
  std::string document = answer.substr(end + 4);
  if (document.size() < stated_length(head, document.size())) fail(url, "gives half of an answer");
  const std::size_t space = head.find(' ');
  if (head.substr(0, 5) != "HTTP/" || head.compare(space + 1, 3, "200") != 0) {
    fail(url, "refuses: " + document.substr(0, kReasonLetters));
  }
  return document;
}

}  // namespace fairlead::remap
