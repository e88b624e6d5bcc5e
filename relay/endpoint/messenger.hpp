// SPDX-License-Identifier: Apache-2.0
// Sends messages to other processes by routers and receives theirs, in a thread of its own that
// calls no MPI function. So messages arrive while the program computes, or waits in a blocking MPI
// call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "endpoint/connection.hpp"
#include "endpoint/control_messages.hpp"
#include "endpoint/endpoint_config.hpp"
#include "endpoint/match_questions.hpp"
#include "endpoint/reassembly_buffer.hpp"
#include "endpoint/send_buffer.hpp"
#include "endpoint/start_timeouts.hpp"
#include "endpoint/submissions.hpp"
#include "wire/unproved_callers.hpp"

namespace fairlead::relay {

class Messenger {
 public:
  /// Maximum number of incoming connections that have not yet proved the key. The file descriptors
  /// that they use are the program's.
  static constexpr std::size_t kMaxUnproved = 64;

  /// Called in the messenger's thread when a receiver has matched a message.
  using OnMatch = std::function<void(std::uint32_t dst_rank, std::uint64_t message)>;

  /// Starts to listen; `start` does the rest, when the addresses of all processes are known.
  /// @param own_address  numeric, of this host
  Messenger(EndpointConfig config, const std::string& own_address, OnMatch on_match);
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;
  ~Messenger();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// @param address_of_rank  where each process listens
  void start(std::vector<Address> address_of_rank);
  /// Waits until the router of this host has proved the key. @return whether it has
  [[nodiscard]] bool wait_for_router(const StartTimeouts& timeouts);

  /// Begins to send a message if it is to go by routers. Otherwise the MPI carries it.
  /// @param fixed             the mode; none: by the rule, whose choice has to be taken
  /// @param must_use_routers  also where the rule or want of space leaves the message to the MPI
  /// @return a handle that has to be passed to `post` or to `cancel`
  [[nodiscard]] std::optional<PendingSend> begin_send(std::uint32_t dst_rank, std::uint64_t bytes,
                                                      std::optional<TransferMode> fixed,
                                                      bool must_use_routers);
  /// Takes the message over. Takes no lock.
  void post(const PendingSend& send, std::vector<std::byte> bytes);
  /// The MPI has not taken the rendezvous header, so the message does not come. Takes no lock.
  void cancel(const PendingSend& send, std::uint64_t bytes);
  /// The number of a message to a rank that is to be posted.
  [[nodiscard]] std::uint64_t reserve(std::uint32_t dst_rank);
  /// Sends a message by routers. @return its number
  std::uint64_t send(std::uint32_t dst_rank, std::vector<std::byte> bytes, TransferMode mode) {
    const PendingSend send{dst_rank, reserve(dst_rank), mode};
    post(send, std::move(bytes));
    return send.number;
  }
  /// Whether all of a message has arrived.
  [[nodiscard]] bool has(std::uint32_t src_rank, std::uint64_t message);
  /// Matches a message and waits for it.
  [[nodiscard]] Arrived receive(std::uint32_t src_rank, std::uint64_t message);
  /// Notifies the sender that a message is matched.
  void match(std::uint32_t src_rank, std::uint64_t message);
  void reject(std::uint32_t src_rank, std::uint64_t message);
  /// Around the receive of a rendezvous header by a probe (MatchQuestions).
  /// @param extracted  a message whose send may not complete yet
  void begin_extraction(std::uint32_t src_rank);
  void end_extraction(std::uint32_t src_rank, std::optional<std::uint64_t> extracted);
  /// A receive has begun for a message that a probe has extracted.
  void note_receive(std::uint32_t src_rank, std::uint64_t message);
  /// Waits until all messages are acknowledged, and all senders have acknowledged the matches.
  /// False: nothing arrived for a long time.
  /// @param meanwhile  called again and again, without a lock
  bool drain(const std::function<void()>& meanwhile = [] {});

  [[nodiscard]] bool is_striping_worth(std::uint16_t host, std::uint64_t bytes);
  [[nodiscard]] std::vector<PathState> paths_to(std::uint16_t host);
  /// As in the send buffer.
  [[nodiscard]] std::vector<PathUse> uses_of_paths_to(std::uint16_t host);
  [[nodiscard]] std::vector<LinkLatency> measured_links();

 private:
  /// Takes the lock, and moves into the send buffer what threads have submitted since it was last
  /// held.
  [[nodiscard]] std::unique_lock<std::mutex> lock_state();
  void take_submitted();
  void work();
  void wake();
  void poll_once();
  void connect_router(Time now);
  void count_failed_call();
  void accept_caller(Time now);
  void drop_callers(Time now);
  void drop_called(Time now);
  void fill_connections(Time now);
  [[nodiscard]] bool is_meant(const FrameHeader& header, std::span<const std::byte> payload) const;
  /// @return the answer, if there is one
  std::optional<FrameHeader> take_frame(const FrameHeader& header,
                                        std::span<const std::byte> payload);
  bool take_data(const FrameHeader& header, std::span<const std::byte> payload);
  void take_control(const FrameHeader& header);
  [[nodiscard]] FrameHeader answer_to(const FrameHeader& header, FrameKind kind) const;
  void answer(const std::vector<MatchQuestions::Key>& questions);
  void send_control_message(std::uint32_t rank, std::uint64_t message, FrameKind kind);
  void put(const FrameHeader& header, Payload payload, bool bypasses_routers);
  Connection* connection_to(std::uint32_t rank);

  EndpointConfig config_;
  OnMatch on_match_;
  // Set when the listener is made.
  std::uint16_t port_ = 0;
  FileDescriptor listener_;
  FileDescriptor wake_event_;

  // Used by the thread alone.
  std::vector<Address> address_of_rank_;
  std::unique_ptr<Connection> router_;
  Time next_call_{};
  Time router_awaited_until_{};
  std::map<std::uint32_t, std::unique_ptr<Connection>> called_;
  std::vector<std::unique_ptr<Connection>> callers_;
  UnprovedCallers<Connection*> unproved_{kMaxUnproved};
  std::set<std::string> hosts_of_job_;
  Time next_accept_{};

  // Under the lock.
  std::mutex lock_;
  std::condition_variable changed_;
  SendBuffer send_buffer_;
  ReassemblyBuffer reassembly_buffer_;
  ControlMessages control_messages_;
  MatchQuestions questions_;
  std::uint64_t num_answers_ = 0;
  bool has_router_ = false;
  /// Connections to the router that were refused or have ended.
  int num_failed_calls_ = 0;

  Submissions submissions_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace fairlead::relay
