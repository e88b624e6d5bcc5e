// SPDX-License-Identifier: Apache-2.0
// The program's requests that need more than the MPI does: receives, which may find a rendezvous
// header, and persistent sends, whose message is taken at each start.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "relay/match_question.hpp"
#include "relay/peers.hpp"
#include "relay/receive_buffer.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::RendezvousHeaderBytes;

struct Entry {
  enum class Kind : std::uint8_t {
    receive,
    persistent_receive,
    persistent_send,
    copied_send,
    synchronous_send,
  };

  Kind kind = Kind::receive;
  /// Null in copied sends.
  std::shared_ptr<Peers> peers{};
  /// Where a receive puts its message.
  ReceiveBuffer receive_buffer{};
  bool is_cancelled = false;
  /// Whether its sender was notified of the match.
  bool is_match_sent = false;
  /// A persistent request was started, and not yet completed.
  bool is_active = false;
  /// Known before the receive, from a probe. If it has a rendezvous header, the MPI's status is
  /// that of a message to oneself.
  std::optional<UnexpectedMessage> found{};
  /// The send of that message, and where it arrives.
  MPI_Request self_send{};
  RendezvousHeaderBytes self_received{};
  /// What a persistent receive asks for.
  int source = 0;
  int tag = 0;
  /// The receive of what a probe had found before the persistent one was started: the MPI then sees
  /// this one in its place, and has not started the other.
  std::optional<MPI_Request> substitute{};
  /// What a persistent send sends.
  const void* send_buffer = nullptr;
  MPI_Count send_count = 0;
  /// A duplicate: the program may free its own.
  MPI_Datatype send_type{};
  bool owns_send_type = false;
  std::uint32_t dst_rank = 0;
  std::unique_ptr<RendezvousHeaderBytes> header{};
  /// That of a synchronous send that is under way.
  std::optional<MatchQuestion> question{};
  bool is_synchronous = false;
  /// What a copied send sends.
  std::vector<std::byte> copy{};

  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  [[nodiscard]] bool is_persistent() const {
    return kind == Kind::persistent_receive || kind == Kind::persistent_send;
  }
  [[nodiscard]] bool is_send() const {
    return kind != Kind::receive && kind != Kind::persistent_receive;
  }
  /// The request that the MPI completes. @param own  the program's
  [[nodiscard]] MPI_Request request_in_mpi(MPI_Request own) const {
    return substitute.value_or(own);
  }
};

using EntryPtr = std::unique_ptr<Entry>;

class Requests {
 public:
  void insert(MPI_Request request, EntryPtr entry) {
    const std::lock_guard guard(lock_);
    entries_[key_of(request)] = std::move(entry);
    num_entries_.store(entries_.size(), std::memory_order_relaxed);
  }
  /// Removes the entry of a request and returns it. Null if there is none, also where the program
  /// passes no request, which the MPI reports. The entry is removed before the request completes,
  /// since another request may then get the same handle.
  [[nodiscard]] EntryPtr extract(const MPI_Request* request) {
    if (request == nullptr || is_empty()) return nullptr;
    const std::lock_guard guard(lock_);
    const auto found = entries_.find(key_of(*request));
    if (found == entries_.end()) return nullptr;
    EntryPtr entry = std::move(found->second);
    entries_.erase(found);
    num_entries_.store(entries_.size(), std::memory_order_relaxed);
    return entry;
  }
  /// Also false if the array is null.
  [[nodiscard]] bool has_any_of(int count, const MPI_Request* requests) {
    if (requests == nullptr || is_empty()) return false;
    const std::lock_guard guard(lock_);
    for (int index = 0; index < count; ++index) {
      if (entries_.contains(key_of(requests[index]))) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_empty() const { return num_entries_.load(std::memory_order_relaxed) == 0; }

 private:
  static std::uintptr_t key_of(MPI_Request request) {
    std::uintptr_t key = 0;
    static_assert(sizeof(MPI_Request) <= sizeof key);
    std::memcpy(&key, static_cast<const void*>(&request), sizeof(MPI_Request));
    return key;
  }

  std::mutex lock_;
  std::unordered_map<std::uintptr_t, EntryPtr> entries_;
  std::atomic<std::size_t> num_entries_{0};
};

}  // namespace fairlead::intercept::relay
