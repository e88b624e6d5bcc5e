// SPDX-License-Identifier: Apache-2.0
// Probes. A rendezvous header does not show MPI the size of its message, so it has to be received.
// Then it cannot go back into the MPI, and neither can those of the same source before it, as later
// receives would find it or them in the wrong order: all of them are extracted, in order.
#include "relay/probes.hpp"

#include <algorithm>
#include <utility>

#include "pmpi/argument_check.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {
namespace {

bool is_rendezvous_header(const Peers& peers, const MPI_Status& status) {
  return peers.is_remote_rank(status.MPI_SOURCE) &&
         received_bytes(status) == kRendezvousHeaderBytes;
}

const UnexpectedMessage* find_unexpected(const Peers& peers, int source, int tag) {
  const auto found =
      std::find_if(peers.unexpected_messages.begin(), peers.unexpected_messages.end(),
                   [&](const UnexpectedMessage& each) { return each.matches(source, tag); });
  return found == peers.unexpected_messages.end() ? nullptr : &*found;
}

// A synchronous message with a rendezvous header is one of this size.
std::optional<std::uint64_t> number_to_confirm(const UnexpectedMessage& unexpected) {
  if (!unexpected.header || unexpected.size_bytes != kRendezvousHeaderBytes) return std::nullopt;
  return unexpected.header->number;
}

UnexpectedMessage extract_message(MPI_Message message, const Peers& peers,
                                  const MPI_Status& status) {
  UnexpectedMessage unexpected{.source = status.MPI_SOURCE, .tag = status.MPI_TAG};
  unexpected.size_bytes = received_bytes(status);
  unexpected.message = message;
  if (!is_rendezvous_header(peers, status)) return unexpected;
  RendezvousHeaderBytes bytes{};
  Messenger& messenger = *feature().messenger;
  const std::uint32_t src_rank = peers.world_rank(status.MPI_SOURCE);
  messenger.begin_extraction(src_rank);
  mpi().Mrecv(bytes.data(), kRendezvousHeaderBytes, byte_type(), &unexpected.message,
              MPI_STATUS_IGNORE);
  unexpected.header = fairlead::relay::parse_rendezvous_header(bytes);
  if (unexpected.header) unexpected.size_bytes = unexpected.header->size_bytes;
  messenger.end_extraction(src_rank, number_to_confirm(unexpected));
  return unexpected;
}

// Extracts the messages of a source up to and including the one that a probe has found.
void extract_messages(Peers& peers, MPI_Comm comm, const MPI_Status& found) {
  bool is_there = false;
  while (!is_there) {
    int flag = 0;
    MPI_Message message{};
    MPI_Status status{};
    mpi().Improbe(found.MPI_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
    if (flag == 0) return;
    is_there = status.MPI_TAG == found.MPI_TAG;
    peers.unexpected_messages.push_back(extract_message(message, peers, status));
  }
}

void fill_status(const UnexpectedMessage& unexpected, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = unexpected.source;
  status->MPI_TAG = unexpected.tag;
  mpi().Status_set_elements_x(status, byte_type(), static_cast<MPI_Count>(unexpected.size_bytes));
  mpi().Status_set_cancelled(status, 0);
}

// Whether a message is there. The status describes the message, not its rendezvous header.
int look(Peers& peers, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const ProbeGuard guard(peers.lock);
  if (const UnexpectedMessage* const unexpected = find_unexpected(peers, source, tag)) {
    *flag = 1;
    fill_status(*unexpected, status);
    return MPI_SUCCESS;
  }
  MPI_Status own{};
  const int code = mpi().Iprobe(source, tag, comm, flag, &own);
  if (code != MPI_SUCCESS || *flag == 0) return code;
  if (is_rendezvous_header(peers, own)) {
    extract_messages(peers, comm, own);
    if (const UnexpectedMessage* const unexpected =
            find_unexpected(peers, own.MPI_SOURCE, own.MPI_TAG)) {
      fill_status(*unexpected, status);
      return MPI_SUCCESS;
    }
  }
  copy_status(own, status);
  return MPI_SUCCESS;
}

// The same, and extracts the message.
int look_and_take(const std::shared_ptr<Peers>& kept, int source, int tag, MPI_Comm comm, int* flag,
                  MPI_Message* message, MPI_Status* status) {
  Peers& peers = *kept;
  const ProbeGuard guard(peers.lock);
  std::optional<UnexpectedMessage> unexpected = take_unexpected(peers, source, tag);
  if (!unexpected) {
    MPI_Status own{};
    const int code = mpi().Improbe(source, tag, comm, flag, message, &own);
    if (code != MPI_SUCCESS || *flag == 0) return code;
    if (!is_rendezvous_header(peers, own)) {
      copy_status(own, status);
      return MPI_SUCCESS;
    }
    unexpected = extract_message(*message, peers, own);
  }
  *flag = 1;
  fill_status(*unexpected, status);
  *message = unexpected->message;
  if (!unexpected->header) return MPI_SUCCESS;
  Relay& relay = feature();
  auto entry = std::make_unique<Entry>();
  entry->peers = kept;
  entry->found = unexpected;
  *message = send_to_self(*entry, *unexpected);
  const std::lock_guard listing(relay.messages_lock);
  relay.messages.emplace_back(*message, std::move(entry));
  relay.num_messages.store(relay.messages.size(), std::memory_order_relaxed);
  return MPI_SUCCESS;
}

// Null where the MPI alone can do it, and where an argument is wrong, which the MPI reports.
std::shared_ptr<Peers> probed_peers(int source, int tag, MPI_Comm comm, const MPI_Status* status) {
  if (!is_place(status)) return nullptr;
  std::shared_ptr<Peers> peers = peers_of(comm);
  if (!peers || !peers->has_remote || !peers->may_be_source(source)) return nullptr;
  return check_probed(tag) == MPI_SUCCESS ? peers : nullptr;
}

}  // namespace

std::optional<UnexpectedMessage> take_unexpected(Peers& peers, int source, int tag) {
  const auto found =
      std::find_if(peers.unexpected_messages.begin(), peers.unexpected_messages.end(),
                   [&](const UnexpectedMessage& each) { return each.matches(source, tag); });
  if (found == peers.unexpected_messages.end()) return std::nullopt;
  UnexpectedMessage unexpected = *found;
  peers.unexpected_messages.erase(found);
  return unexpected;
}

void note_receive(const UnexpectedMessage& unexpected) {
  const auto number = number_to_confirm(unexpected);
  if (!number) return;
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the number is that of the header.
  feature().messenger->note_receive(unexpected.header->src_rank, *number);
}

MPI_Message send_to_self(Entry& entry, const UnexpectedMessage& unexpected) {
  Relay& relay = feature();
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only what has a header is sent.
  entry.header = std::make_unique<RendezvousHeaderBytes>(to_bytes(*unexpected.header));
  MPI_Message message{};
  const std::lock_guard guard(relay.self_lock);
  mpi().Isend(entry.header->data(), kRendezvousHeaderBytes, byte_type(), 0, kSelfSendTag,
              relay.self, &entry.self_send);
  mpi().Mprobe(0, kSelfSendTag, relay.self, &message, MPI_STATUS_IGNORE);
  return message;
}

int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const auto peers = flag ? probed_peers(source, tag, comm, status) : nullptr;
  if (!peers) return mpi().Iprobe(source, tag, comm, flag, status);
  return look(*peers, source, tag, comm, flag, status);
}

int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const auto peers = probed_peers(source, tag, comm, status);
  if (!peers) return mpi().Probe(source, tag, comm, status);
  int flag = 0;
  while (true) {
    const int code = look(*peers, source, tag, comm, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    // Not by MPI_Probe: another thread may extract the message meanwhile, so that it never comes.
    std::this_thread::yield();
  }
}

int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) {
  const auto peers = flag && message ? probed_peers(source, tag, comm, status) : nullptr;
  if (!peers) return mpi().Improbe(source, tag, comm, flag, message, status);
  return look_and_take(peers, source, tag, comm, flag, message, status);
}

int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const auto peers = message ? probed_peers(source, tag, comm, status) : nullptr;
  if (!peers) return mpi().Mprobe(source, tag, comm, message, status);
  int flag = 0;
  while (true) {
    const int code = look_and_take(peers, source, tag, comm, &flag, message, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    std::this_thread::yield();
  }
}

}  // namespace fairlead::intercept::relay
