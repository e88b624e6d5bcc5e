// SPDX-License-Identifier: Apache-2.0
// Brings messages to other processes by routers, in a thread of its own that makes no call of MPI.
// So what is on its way arrives whatever the program does, also in a blocking call of MPI.
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

#include "fairlead/relay/unproved_callers.hpp"
#include "relay/messenger/channel.hpp"
#include "relay/messenger/inbox.hpp"
#include "relay/messenger/match_questions.hpp"
#include "relay/messenger/notices.hpp"
#include "relay/messenger/outbox.hpp"
#include "relay/messenger/patience.hpp"
#include "relay/messenger/site.hpp"

namespace fairlead::intercept::relay {

class Messenger {
 public:
  /// Callers that have not yet proved the key. File descriptors are the program's.
  static constexpr std::size_t kMaxUnproved = 64;

  /// Told in the messenger's thread that a receiver has matched a message.
  using OnClaim = std::function<void(std::uint32_t dst_rank, std::uint64_t message)>;

  /// Starts to listen; `start` does the rest, when the addresses of all processes are known.
  /// @param own_address  numeric, of this host
  Messenger(MessengerSite site, const std::string& own_address, OnClaim on_claim);
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;
  ~Messenger();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// @param address_of_rank  where each process listens
  void start(std::vector<Address> address_of_rank);
  /// Whether the own router has proved the key.
  [[nodiscard]] bool wait_for_router(const Patience& patience);

  /// The number of a message to a rank, of which the envelope tells.
  [[nodiscard]] std::uint64_t reserve(std::uint32_t dst_rank);
  /// Takes the message over, for a way by routers.
  void send(std::uint32_t dst_rank, std::uint64_t number, std::vector<std::byte> bytes, Way way);
  /// The same with the next number, which it returns.
  std::uint64_t send(std::uint32_t dst_rank, std::vector<std::byte> bytes, Way way) {
    const std::uint64_t number = reserve(dst_rank);
    send(dst_rank, number, std::move(bytes), way);
    return number;
  }
  /// The MPI has not taken the envelope, so the message does not come.
  void give_up(std::uint32_t dst_rank, std::uint64_t number, std::uint64_t bytes, Way way);
  /// Whether a message is here as a whole.
  [[nodiscard]] bool has(std::uint32_t src_rank, std::uint64_t message);
  /// Claims a message and waits for it.
  [[nodiscard]] Arrived receive(std::uint32_t src_rank, std::uint64_t message);
  /// Tells the sender that a message is matched.
  void claim(std::uint32_t src_rank, std::uint64_t message);
  void refuse(std::uint32_t src_rank, std::uint64_t message);
  /// Around the opening of an envelope by a probe (MatchQuestions).
  /// @param opened  a message whose send may not complete yet
  void begin_opening(std::uint32_t src_rank);
  void end_opening(std::uint32_t src_rank, std::optional<std::uint64_t> opened);
  /// A receive of what a probe has opened has begun.
  void note_receive(std::uint32_t src_rank, std::uint64_t message);
  /// Waits until all messages are acknowledged, and all senders know what is claimed. False: for a
  /// long time nothing came.
  /// @param meanwhile  called again and again, without a lock
  bool drain(const std::function<void()>& meanwhile = [] {});

  /// The way of the next message to a rank, which has to be taken (PathRule).
  [[nodiscard]] Way way_to(std::uint32_t dst_rank, std::uint64_t bytes);
  /// Whether one more message of this size may be kept until it is acknowledged.
  [[nodiscard]] bool has_room(std::uint64_t bytes);
  [[nodiscard]] bool is_striping_worth(std::uint16_t host, std::uint64_t bytes);
  [[nodiscard]] std::vector<PathState> paths_to(std::uint16_t host);
  /// As of the outbox.
  [[nodiscard]] std::vector<PathUse> uses_of_paths_to(std::uint16_t host);
  [[nodiscard]] std::vector<LinkLatency> measured_links();

 private:
  using FrameHeader = fairlead::relay::FrameHeader;

  void work();
  void wake();
  void poll_once();
  void connect_router(Time now);
  void note_call_in_vain();
  void accept_caller(Time now);
  void drop_callers(Time now);
  void drop_called(Time now);
  void fill_channels(Time now);
  [[nodiscard]] bool is_meant(const FrameHeader& header, std::span<const std::byte> payload) const;
  /// @return the answer, if there is one
  std::optional<FrameHeader> take_frame(const FrameHeader& header,
                                        std::span<const std::byte> payload);
  bool take_data(const FrameHeader& header, std::span<const std::byte> payload);
  void take_control(const FrameHeader& header);
  [[nodiscard]] FrameHeader answer_to(const FrameHeader& header,
                                      fairlead::relay::FrameKind kind) const;
  void answer(const std::vector<MatchQuestions::Key>& questions);
  void tell(std::uint32_t rank, std::uint64_t message, fairlead::relay::FrameKind kind);
  void put(const FrameHeader& header, Payload payload, bool is_past_routers);
  Channel* channel_to(std::uint32_t rank);

  MessengerSite site_;
  OnClaim on_claim_;
  // Set by the listener's making.
  std::uint16_t port_ = 0;
  Descriptor listener_;
  Descriptor wake_event_;

  // Used by the thread alone.
  std::vector<Address> address_of_rank_;
  std::unique_ptr<Channel> router_;
  Time next_call_{};
  Time router_awaited_until_{};
  std::map<std::uint32_t, std::unique_ptr<Channel>> called_;
  std::vector<std::unique_ptr<Channel>> callers_;
  fairlead::relay::UnprovedCallers<Channel*> unproved_{kMaxUnproved};
  std::set<std::string> hosts_of_job_;
  Time next_accept_{};

  // Under the lock.
  std::mutex lock_;
  std::condition_variable changed_;
  Outbox outbox_;
  Inbox inbox_;
  Notices notices_;
  MatchQuestions questions_;
  std::uint64_t num_answers_ = 0;
  bool has_router_ = false;
  /// Calls of the router that were refused or have ended.
  int num_calls_in_vain_ = 0;

  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace fairlead::intercept::relay
