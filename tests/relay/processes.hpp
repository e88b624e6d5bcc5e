// SPDX-License-Identifier: Apache-2.0
// Processes of a job that speak with a router frame by frame.
#pragma once

#include <array>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "catch.hpp"
#include "routers.hpp"
#include "wire/frame.hpp"
#include "wire/proof.hpp"

namespace fairlead::tests {

using Local = asio::local::stream_protocol;

inline asio::io_context context;

inline Local::socket local_call(RunningRouter& router) {
  Local::socket socket(context);
  socket.connect(Local::endpoint(router.socket()));
  return socket;
}

/// What a reader of its counters gets.
inline std::string read_metrics(Local::socket& reader) {
  asio::write(reader, asio::buffer(std::string("GET /metrics HTTP/1.0\r\n\r\n")));
  std::string text;
  asio::error_code ended;
  asio::read(reader, asio::dynamic_buffer(text), ended);
  return text;
}

/// Proves the key. False: the other end has closed the connection, or does not know the key.
template <class Socket>
bool proves(Socket& socket, const relay::Hello& hello, const relay::Key& key) {
  const auto hello_bytes = relay::to_bytes(hello);
  asio::error_code failed;
  asio::write(socket, asio::buffer(hello_bytes), failed);
  relay::AnswerBytes answer;
  if (!failed) asio::read(socket, asio::buffer(answer), failed);
  const auto proof = failed ? std::nullopt : relay::check_answer(hello_bytes, answer, key);
  if (proof) asio::write(socket, asio::buffer(*proof), failed);
  return proof && !failed;
}

/// A process that has proved the key.
inline Local::socket shake_hands(RunningRouter& router, std::uint32_t rank, const relay::Key& key) {
  Local::socket socket = local_call(router);
  REQUIRE(proves(socket, relay::make_hello(relay::Role::process, rank, key), key));
  return socket;
}

inline relay::FrameHeader frame_to(std::uint32_t rank, std::uint16_t host) {
  relay::FrameHeader header;
  header.hops[0] = host;
  header.dst_rank = rank;
  header.message = 1;
  header.message_bytes = 3;
  header.segment_bytes = 3;
  return header;
}

/// Sends a frame to itself and waits for it.
inline bool reaches_itself(Local::socket& socket, std::uint32_t rank, std::uint16_t host) {
  relay::FrameHeader to_itself = frame_to(rank, host);
  to_itself.src_rank = rank;
  asio::write(socket, asio::buffer(relay::to_bytes(to_itself)));
  asio::write(socket, asio::buffer("xyz", 3));
  std::array<std::byte, relay::kFrameHeaderBytes + 3> bytes;
  return asio::read(socket, asio::buffer(bytes)) == bytes.size();
}

/// A process that the router knows, since its own frame to itself has come.
inline Local::socket known(RunningRouter& router, std::uint32_t rank, std::uint16_t host) {
  Local::socket socket = shake_hands(router, rank, some_key());
  REQUIRE(reaches_itself(socket, rank, host));
  return socket;
}

template <class Claim>
bool happens(const Claim& claim) {
  for (int round = 0; round < 3000; ++round) {
    if (claim()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline std::uint64_t drops(RunningRouter& router, router::Drop reason) {
  return router.counters().drops[static_cast<std::size_t>(reason)];
}

}  // namespace fairlead::tests
