// SPDX-License-Identifier: Apache-2.0
// The state of the feature, from its start to its end.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "endpoint/messenger.hpp"
#include "relay/relay_plan.hpp"
#include "relay/requests.hpp"
#include "wire/rendezvous_header.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::kRendezvousHeaderBytes;
using fairlead::relay::Messenger;
using fairlead::relay::PendingSend;
using fairlead::relay::TransferMode;

/// Tags of messages to oneself.
inline constexpr int kUnpackTag = 0;
inline constexpr int kSelfSendTag = 1;

struct Relay {
  std::uint64_t threshold_bytes = 0;
  bool is_forced = false;
  /// The program may call the MPI from several threads at once.
  bool is_threaded = false;
  std::uint32_t own_rank = 0;
  std::uint16_t own_host = 0;
  std::vector<std::uint16_t> host_of_rank{};
  std::unique_ptr<Messenger> messenger{};
  /// Bytes of messages that may be relayed, and that the MPI has carried.
  std::vector<std::atomic<std::uint64_t>> mpi_bytes_of_host{};
  Requests requests{};

  /// For messages to oneself; one at a time.
  MPI_Comm self{};
  std::mutex self_lock{};
  MPI_Comm world{};

  /// Rendezvous headers that the MPI may still be sending: until the receiver has acknowledged
  /// them.
  std::mutex headers_lock{};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::unique_ptr<RendezvousHeaderBytes>>
      headers{};

  /// Questions of synchronous sends whose answer has not come (MatchQuestions), by receiver and
  /// number.
  std::mutex questions_lock{};
  std::set<std::pair<std::uint32_t, std::uint64_t>> unanswered{};

  /// Receives that the program freed before they were complete.
  std::mutex freed_lock{};
  std::vector<std::pair<MPI_Request, EntryPtr>> freed{};
  std::atomic<std::size_t> num_freed{0};

  /// Messages that a matched probe has given to the program, by their handle.
  std::mutex messages_lock{};
  std::vector<std::pair<MPI_Message, EntryPtr>> messages{};
  std::atomic<std::size_t> num_messages{0};

  [[nodiscard]] bool is_remote(int world_rank) const {
    return world_rank >= 0 && world_rank < static_cast<int>(host_of_rank.size()) &&
           host_of_rank[static_cast<std::size_t>(world_rank)] != own_host;
  }
};

[[nodiscard]] Relay& feature();

/// Begins to send a message to a rank of MPI_COMM_WORLD, if it is to go by routers (Messenger).
[[nodiscard]] std::optional<PendingSend> begin_send(std::uint32_t dst_rank,
                                                    std::uint64_t size_bytes,
                                                    bool must_use_routers);
/// Counts a message that may be relayed and is left to the MPI. Thread-safe.
void count_by_mpi(std::uint32_t dst_rank, std::uint64_t size_bytes);
/// Whether all messages of this size to a rank are to go by routers, as those of a persistent send.
[[nodiscard]] bool is_worth_relaying(std::uint32_t dst_rank, std::uint64_t size_bytes);

}  // namespace fairlead::intercept::relay
