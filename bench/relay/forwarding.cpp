// SPDX-License-Identifier: Apache-2.0
// Both ends of what forwarding.py measures, and the bare loops that a router is compared with.
//
//   forwarding OWN_ADDRESS OTHER_ADDRESS ...
//   ... loop splice|plain-splice|copy CHUNK_BYTES PORT [BACK_PORT]
//       Prints its port. Forwards a connection that comes there to PORT; with BACK_PORT, the next
//       one to that, one chunk each in turn. plain-splice: by a pipe of the system's own size.
//   ... bulk PAYLOAD_BYTES TOTAL_BYTES
//   ... pingpong PAYLOAD_BYTES ROUNDS
//       Prints the ports at which its ends listen, then reads `PORT PID IS_ROUTER` of what
//       forwards; port 0: nothing does.
//
// All send the same bytes: frames, as a router gets them from another one.
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "wire/frame.hpp"
#include "wire/proof.hpp"

using asio::ip::tcp;
namespace relay = fairlead::relay;

namespace {

asio::io_context context;
// Address of this process, and that of what forwards or of the ends.
asio::ip::address own_address;
asio::ip::address other_address;

/// What forwards.
struct Middle {
  std::uint16_t port = 0;
  pid_t process = 0;
  bool is_router = false;
};

relay::Key key() {
  relay::Key key;
  key.fill(std::byte{1});
  return key;
}

tcp::socket call(const asio::ip::address& address, std::uint16_t port) {
  tcp::socket socket(context);
  socket.connect({address, port});
  socket.set_option(tcp::no_delay(true));
  return socket;
}

tcp::socket call(const Middle& middle, std::uint16_t other_end, std::uint32_t host) {
  tcp::socket socket =
      middle.port != 0 ? call(other_address, middle.port) : call(own_address, other_end);
  if (!middle.is_router) return socket;
  const auto hello = to_bytes(relay::make_hello(relay::Role::router, host, key()));
  asio::write(socket, asio::buffer(hello));
  relay::AnswerBytes answer;
  asio::read(socket, asio::buffer(answer));
  asio::write(socket, asio::buffer(relay::check_answer(hello, answer, key()).value()));
  return socket;
}

tcp::socket answered(tcp::acceptor& acceptor, const Middle& middle) {
  tcp::socket socket = acceptor.accept();
  socket.set_option(tcp::no_delay(true));
  if (!middle.is_router) return socket;
  relay::HelloBytes hello;
  asio::read(socket, asio::buffer(hello));
  const auto answer = relay::make_answer(hello, key());
  asio::write(socket, asio::buffer(answer));
  relay::Proof proof;
  asio::read(socket, asio::buffer(proof));
  return socket;
}

/// A message from host 0 to host 2 by host 1, or back.
std::vector<std::byte> frames_of(std::size_t payload_bytes, std::uint16_t to) {
  std::vector<std::byte> frames;
  for (std::size_t offset = 0; offset < payload_bytes; offset += relay::kMaxSegmentBytes) {
    relay::FrameHeader header;
    header.num_hops = 2;
    header.hops = {1, to};
    header.message = 1;
    header.offset_bytes = offset;
    header.message_bytes = payload_bytes;
    header.segment_bytes = static_cast<std::uint32_t>(
        std::min<std::size_t>(relay::kMaxSegmentBytes, payload_bytes - offset));
    const auto bytes = to_bytes(header);
    frames.insert(frames.end(), bytes.begin(), bytes.end());
    frames.resize(frames.size() + header.segment_bytes, std::byte{7});
  }
  return frames;
}

// The bare loops.

std::size_t checked(ssize_t size) {
  if (size <= 0) throw std::runtime_error("the end of a connection");
  return static_cast<std::size_t>(size);
}

/// Moves `bytes` at most.
class Mover {
 public:
  Mover(const std::string& way, std::size_t chunk_bytes) : is_splicing_(way != "copy") {
    buffer_.resize(chunk_bytes);
    if (pipe(pipe_) != 0) throw std::runtime_error("no pipe");
    // As many parts of packets as a chunk may have.
    if (way == "splice") fcntl(pipe_[1], F_SETPIPE_SZ, 1 << 20);
  }

  std::size_t move(int from, int to, std::size_t bytes) {
    if (!is_splicing_) {
      const std::size_t size = checked(recv(from, buffer_.data(), bytes, 0));
      for (std::size_t done = 0; done < size;) {
        done += checked(send(to, buffer_.data() + done, size - done, 0));
      }
      return size;
    }
    const std::size_t size = checked(splice(from, nullptr, pipe_[1], nullptr, bytes, 0));
    for (std::size_t done = 0; done < size;) {
      done += checked(splice(pipe_[0], nullptr, to, nullptr, size - done, 0));
    }
    return size;
  }

 private:
  bool is_splicing_;
  std::vector<std::byte> buffer_;
  int pipe_[2] = {-1, -1};
};

void loop(const std::string& way, std::size_t chunk_bytes, std::uint16_t port,
          std::uint16_t back_port) {
  tcp::acceptor acceptor(context, {own_address, 0});
  std::cout << acceptor.local_endpoint().port() << std::endl;
  Mover mover(way, chunk_bytes);
  tcp::socket from = acceptor.accept();
  tcp::socket to = call(other_address, port);
  if (back_port == 0) {
    while (true) mover.move(from.native_handle(), to.native_handle(), chunk_bytes);
  }
  tcp::socket back_from = acceptor.accept();
  tcp::socket back_to = call(other_address, back_port);
  const auto move_all = [&](tcp::socket& one, tcp::socket& other) {
    for (std::size_t rest = chunk_bytes; rest > 0;) {
      rest -= mover.move(one.native_handle(), other.native_handle(), rest);
    }
  };
  while (true) {
    move_all(from, to);
    move_all(back_from, back_to);
  }
}

// The ends.

Middle read_middle() {
  Middle middle;
  std::cin >> middle.port >> middle.process >> middle.is_router;
  return middle;
}

double cpu_s(const Middle& middle) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(middle.process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("what forwards has ended");
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Takes bytes without a copy of them, so that the cores are left to what is measured.
void discard(tcp::socket& socket, std::size_t bytes) {
  static std::vector<std::byte> room(1 << 20);
  while (bytes > 0) {
    bytes -=
        checked(recv(socket.native_handle(), room.data(), std::min(room.size(), bytes), MSG_TRUNC));
  }
}

void bulk(std::size_t payload_bytes, std::size_t total_bytes) {
  tcp::acceptor acceptor(context, {own_address, 0});
  std::cout << acceptor.local_endpoint().port() << std::endl;
  const Middle middle = read_middle();
  std::thread source([&] {
    tcp::socket socket = call(middle, acceptor.local_endpoint().port(), 0);
    const auto message = frames_of(payload_bytes, 2);
    asio::error_code ended;
    while (!ended) asio::write(socket, asio::buffer(message), ended);
  });
  {
    tcp::socket sink = answered(acceptor, middle);
    discard(sink, total_bytes / 8);
    const double start_s = now_s();
    const double start_cpu_s = cpu_s(middle);
    discard(sink, total_bytes);
    std::printf("%zu %.9f %.9f\n", total_bytes, now_s() - start_s, cpu_s(middle) - start_cpu_s);
    std::fflush(stdout);
  }
  // The source ends when what forwards is ended.
  source.join();
}

void pingpong(std::size_t payload_bytes, int rounds) {
  tcp::acceptor first(context, {own_address, 0});
  tcp::acceptor second(context, {own_address, 0});
  std::cout << first.local_endpoint().port() << " " << second.local_endpoint().port() << std::endl;
  const Middle middle = read_middle();
  const int warm_up = rounds / 8 + 1;
  tcp::socket to_other = call(middle, second.local_endpoint().port(), 0);
  auto message = frames_of(payload_bytes, 2);
  std::thread other([&, answer = frames_of(payload_bytes, 0)]() mutable {
    asio::write(to_other, asio::buffer(message));
    tcp::socket from = answered(second, middle);
    tcp::socket to = call(middle, first.local_endpoint().port(), 2);
    auto taken = answer;
    for (int round = 0; round < warm_up + rounds; ++round) {
      asio::read(from, asio::buffer(taken));
      asio::write(to, asio::buffer(answer));
    }
  });
  tcp::socket from_other = answered(first, middle);
  auto taken = message;
  asio::read(from_other, asio::buffer(taken));
  std::vector<double> times_s;
  double begin_cpu_s = 0.0;
  for (int round = 1; round < warm_up + rounds; ++round) {
    if (round == warm_up && middle.process != 0) begin_cpu_s = cpu_s(middle);
    const double start_s = now_s();
    asio::write(to_other, asio::buffer(message));
    asio::read(from_other, asio::buffer(taken));
    if (round >= warm_up) times_s.push_back((now_s() - start_s) / 2.0);
  }
  std::nth_element(times_s.begin(), times_s.begin() + rounds / 2, times_s.end());
  const double used_s = middle.process != 0 ? (cpu_s(middle) - begin_cpu_s) / (2 * rounds) : 0.0;
  std::printf("%.9f %.9f\n", times_s[static_cast<std::size_t>(rounds / 2)], used_s);
  std::fflush(stdout);
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::vector<std::string> words(argv + 3, argv + argc);
  try {
    own_address = asio::ip::make_address(argv[1]);
    other_address = asio::ip::make_address(argv[2]);
    const auto number = [&](std::size_t index) {
      return index < words.size() ? std::stoull(words[index]) : 0ULL;
    };
    const auto port = [&](std::size_t index) { return static_cast<std::uint16_t>(number(index)); };
    if (words.at(0) == "loop") loop(words.at(1), number(2), port(3), port(4));
    if (words.at(0) == "bulk") bulk(number(1), number(2));
    if (words.at(0) == "pingpong") pingpong(number(1), static_cast<int>(number(2)));
  } catch (const std::exception&) {
    // A bare loop ends with its connections.
    return words[0] == "loop" ? 0 : 1;
  }
}
