// SPDX-License-Identifier: Apache-2.0
// What is kept of a communicator: who its ranks are, and which messages a probe has taken out of
// the MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "relay/probed_mutex.hpp"
#include "wire/rendezvous_header.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::RendezvousHeader;

/// A message that a probe has found, with its rendezvous header received, or before such a one.
struct UnexpectedMessage {
  int source = 0;
  int tag = 0;
  std::uint64_t size_bytes = 0;
  std::optional<RendezvousHeader> header{};
  /// Without a rendezvous header, the MPI's own.
  MPI_Message message{};

  [[nodiscard]] bool matches(int wanted_source, int wanted_tag) const {
    return (wanted_source == MPI_ANY_SOURCE || wanted_source == source) &&
           (wanted_tag == MPI_ANY_TAG || wanted_tag == tag);
  }
};

struct Peers {
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  MPI_Comm comm{};
  /// By rank (of the remote group in an intercommunicator); kOutsideWorld for others.
  std::vector<int> world_rank_of_peer{};
  /// Whether messages to and from it may go by routers. The same at both ends.
  std::vector<bool> is_remote{};
  bool has_remote = false;
  /// Posting a receive and extracting messages exclude each other (docs/design/relay-protocol.md).
  ProbedMutex lock{};
  /// The first messages of each source that no receive has matched.
  std::deque<UnexpectedMessage> unexpected_messages{};
  /// Under the lock: the error handler that the communicator had when it was freed. Once the call
  /// that freed it has ended, its handle is not to be used, but receives may be pending.
  std::optional<MPI_Errhandler> last_errhandler{};

  [[nodiscard]] bool is_remote_rank(int rank) const {
    return rank >= 0 && rank < static_cast<int>(is_remote.size()) &&
           is_remote[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool may_be_source(int rank) const {
    return rank == MPI_ANY_SOURCE || (rank >= 0 && rank < static_cast<int>(is_remote.size()));
  }
  [[nodiscard]] bool may_be_destination(int rank) const {
    return rank == MPI_PROC_NULL || (rank >= 0 && rank < static_cast<int>(is_remote.size()));
  }
  /// Whether a receive with this source may match a rendezvous header.
  [[nodiscard]] bool may_send_headers(int source) const {
    return source == MPI_ANY_SOURCE ? has_remote : is_remote_rank(source);
  }
  [[nodiscard]] std::uint32_t world_rank(int rank) const {
    return static_cast<std::uint32_t>(world_rank_of_peer[static_cast<std::size_t>(rank)]);
  }
};

/// Its facts, found at the first use and kept as an attribute; null for no communicator.
[[nodiscard]] std::shared_ptr<Peers> peers_of(MPI_Comm comm);
/// The same where they were found already; else, and while the feature is off, null.
[[nodiscard]] std::shared_ptr<Peers> known_peers_of(MPI_Comm comm);

}  // namespace fairlead::intercept::relay
