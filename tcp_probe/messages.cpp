// SPDX-License-Identifier: Apache-2.0
// Numbers travel in network byte order, so that hosts may differ.
#include "messages.hpp"

#include <endian.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace fairlead::tcp_probe {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

template <std::size_t size>
void send_numbers(const Socket& peer, std::array<std::uint64_t, size> numbers) {
  for (std::uint64_t& number : numbers) number = htobe64(number);
  peer.send(std::as_bytes(std::span(numbers)));
}

std::uint64_t receive_number(const Socket& peer) {
  std::uint64_t number = 0;
  peer.receive(std::as_writable_bytes(std::span(&number, 1)));
  return be64toh(number);
}

std::span<std::byte> chunk() {
  thread_local std::vector<std::byte> memory(kChunkBytes, std::byte{1});
  return memory;
}

}  // namespace

void send_request(const Socket& peer, const Request& request) {
  send_numbers<3>(peer,
                  {static_cast<std::uint64_t>(request.exercise), request.count, request.bytes});
}

Request receive_request(const Socket& peer) {
  const std::uint64_t exercise = receive_number(peer);
  const std::uint64_t count = receive_number(peer);
  const std::uint64_t bytes = receive_number(peer);
  const bool is_known = exercise >= 1 && exercise <= static_cast<std::uint64_t>(Exercise::pull);
  if (!is_known || count > kMaxCount || bytes > kMaxBytes) {
    throw ProbeError("the peer sent something that is no request");
  }
  return {static_cast<Exercise>(exercise), count, bytes};
}

void send_times(const Socket& peer, const std::vector<double>& durations_s) {
  for (const double duration_s : durations_s) {
    send_numbers<1>(peer, {static_cast<std::uint64_t>(std::llround(duration_s * 1e9))});
  }
}

std::vector<double> receive_times(const Socket& peer, std::uint64_t count) {
  std::vector<double> durations_s(count);
  for (double& duration_s : durations_s) {
    duration_s = static_cast<double>(receive_number(peer)) * 1e-9;
  }
  return durations_s;
}

void send_bytes(const Socket& peer, std::uint64_t bytes) {
  for (std::uint64_t left = bytes; left > 0;) {
    const std::size_t size = std::min<std::uint64_t>(left, kChunkBytes);
    peer.send(chunk().first(size));
    left -= size;
  }
}

void receive_bytes(const Socket& peer, std::uint64_t bytes) {
  for (std::uint64_t left = bytes; left > 0;) {
    const std::size_t size = std::min<std::uint64_t>(left, kChunkBytes);
    peer.receive(chunk().first(size));
    left -= size;
  }
}

std::vector<double> receive_trains(const Socket& peer, std::uint64_t count, std::uint64_t bytes) {
  std::vector<double> durations_s;
  for (std::uint64_t train = 0; train < count; ++train) {
    const double begin_s = now_s();
    send_bytes(peer, 1);
    receive_bytes(peer, bytes);
    durations_s.push_back(now_s() - begin_s);
  }
  return durations_s;
}

void send_trains(const Socket& peer, std::uint64_t count, std::uint64_t bytes) {
  for (std::uint64_t train = 0; train < count; ++train) {
    receive_bytes(peer, 1);
    send_bytes(peer, bytes);
  }
}

void send_key(const Socket& peer, const std::string& key) {
  peer.send(std::as_bytes(std::span(key.data(), kKeyBytes)));
}

std::string receive_key(const Socket& peer) {
  std::string key(kKeyBytes, '\0');
  peer.receive(std::as_writable_bytes(std::span(key.data(), kKeyBytes)));
  return key;
}

double now_s() {
  using std::chrono::duration;
  using std::chrono::steady_clock;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace fairlead::tcp_probe
