// SPDX-License-Identifier: Apache-2.0
// A connection of the messenger with the router of its host or with another process: a socket that
// never blocks, a handshake, then frames both ways. Used by the messenger's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "endpoint/send_buffer.hpp"
#include "fairlead/file_descriptor.hpp"
#include "wire/proof.hpp"

namespace fairlead::relay {

class Connection {
 public:
  using OnFrame = std::function<void(const FrameHeader&, std::span<const std::byte> payload)>;
  /// No frame is added to a connection that has this many bytes to send.
  static constexpr std::size_t kFullBytes = std::size_t{256} << 10U;

  /// A connection that this process opened; `socket` may still be connecting.
  static Connection calling(FileDescriptor socket, std::uint32_t rank, const Key& key);
  /// A connection that the other end opened.
  static Connection answering(FileDescriptor socket, const Key& key);

  [[nodiscard]] int descriptor() const { return socket_.number(); }
  [[nodiscard]] bool is_closed() const { return !socket_.is_open(); }
  /// Both ends have proved the key.
  [[nodiscard]] bool is_open() const { return !is_closed() && step_ == Step::frames; }
  /// The other end has taken the first bytes of the handshake, so it is running.
  [[nodiscard]] bool is_taken() const { return handshake_.empty() || step_ != Step::answer; }
  [[nodiscard]] bool is_full() const { return waiting_bytes_ >= kFullBytes; }
  [[nodiscard]] bool has_to_write() const {
    return !handshake_.empty() || (is_open() && !waiting_.empty());
  }
  [[nodiscard]] Time opened() const { return opened_; }
  /// Whether the other end has taken no bytes for this time.
  [[nodiscard]] bool is_stalled(Time now, Clock::duration time) const {
    return is_open() && !waiting_.empty() && now - last_taken_ > time;
  }

  /// Queues a frame, until the end of the handshake at least. If the same segment is still in the
  /// queue, it is not queued again but gets the new header, unless it is being written.
  /// @param payload  null for a frame without one
  void put(const FrameHeader& header, Payload payload);
  /// Reads the available bytes, and passes whole frames on. Closes at the end of the stream, and at
  /// bytes that are no frame.
  void read(const OnFrame& on_frame);
  /// Writes what can be written.
  void write();
  void close();

 private:
  enum class Step : std::uint8_t { answer, hello, proof, frames };
  struct Part {
    FrameHeaderBytes start{};
    std::size_t start_bytes = 0;
    Payload payload{};
    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t written = 0;
  };

  Connection(FileDescriptor socket, const Key& key, Step step);
  static Part part_of(std::span<const std::byte> bytes);
  void send_handshake(std::span<const std::byte> bytes);
  bool renew(const FrameHeader& header, const Payload& payload);
  bool write_from(std::deque<Part>& parts);
  void expect(std::size_t bytes);
  void take_read(const OnFrame& on_frame);
  void take_handshake();

  FileDescriptor socket_;
  Key key_{};
  Step step_ = Step::answer;
  Time opened_ = Clock::now();
  HelloBytes hello_{};
  AnswerBytes answer_{};
  std::deque<Part> handshake_;
  std::deque<Part> waiting_;
  std::size_t waiting_bytes_ = 0;
  Time last_taken_{};
  std::vector<std::byte> incoming_;
  std::size_t num_read_ = 0;
  bool has_header_ = false;
  FrameHeader header_{};
};

/// Connects to a Unix socket; closed if no process listens there.
[[nodiscard]] FileDescriptor connect_locally(const std::string& path);
/// Begins to connect.
[[nodiscard]] FileDescriptor connect_to(const Address& address);
/// Listens at a free port of an address. @throws Error
[[nodiscard]] FileDescriptor listen_at(const std::string& host, std::uint16_t& port);
[[nodiscard]] FileDescriptor accept_from(const FileDescriptor& listener);
/// The canonical form of a numeric address; empty if the text is none.
[[nodiscard]] std::string canonical(const std::string& host);
/// The address of the other end, in canonical form.
[[nodiscard]] std::string host_of_peer(const FileDescriptor& socket);

}  // namespace fairlead::relay
