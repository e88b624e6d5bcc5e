// SPDX-License-Identifier: Apache-2.0
// Receives: the MPI matches them as always. What it has received is examined when it is complete.
#include <utility>

#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/probes.hpp"
#include "relay/receives.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {
namespace {

// The MPI's own calls, by the type of their counts.
template <class Count>
struct Native {
  static auto recv() { return mpi().Recv; }
  static auto irecv() { return mpi().Irecv; }
  static auto recv_init() { return mpi().Recv_init; }
  static auto mrecv() { return mpi().Mrecv; }
  static auto imrecv() { return mpi().Imrecv; }
};
#if FAIRLEAD_LARGE_COUNTS
template <>
struct Native<MPI_Count> {
  static auto recv() { return mpi().Recv_c; }
  static auto irecv() { return mpi().Irecv_c; }
  static auto recv_init() { return mpi().Recv_init_c; }
  static auto mrecv() { return mpi().Mrecv_c; }
  static auto imrecv() { return mpi().Imrecv_c; }
};
#endif

template <class Count>
bool may_get_header(const Wanted<Count>& wanted, const Peers& peers) {
  return peers.may_send_headers(wanted.source) &&
         bytes_of(wanted.count, wanted.type) >= kRendezvousHeaderBytes;
}

template <class Count>
EntryPtr entry_of(const Wanted<Count>& wanted, std::shared_ptr<Peers> peers) {
  auto entry = std::make_unique<Entry>();
  entry->peers = std::move(peers);
  entry->receive_buffer = ReceiveBuffer(wanted.buffer, wanted.count, wanted.type, true);
  return entry;
}

// A receive of a message whose rendezvous header a probe has received.
template <class Count>
int start_extracted(const Wanted<Count>& wanted, EntryPtr entry, MPI_Message message,
                    MPI_Request* request) {
  entry->receive_buffer = ReceiveBuffer(wanted.buffer, wanted.count, wanted.type, false);
  if (entry->found) note_receive(*entry->found);
  const int code = mpi().Imrecv(entry->self_received.data(), kRendezvousHeaderBytes, byte_type(),
                                &message, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

template <class Count>
int start_unexpected(const Wanted<Count>& wanted, const std::shared_ptr<Peers>& peers,
                     UnexpectedMessage& unexpected, MPI_Request* request) {
  if (!unexpected.header) {
    return Native<Count>::imrecv()(wanted.buffer, wanted.count, wanted.type, &unexpected.message,
                                   request);
  }
  auto entry = std::make_unique<Entry>();
  entry->peers = peers;
  entry->found = unexpected;
  const MPI_Message message = send_to_self(*entry, unexpected);
  return start_extracted(wanted, std::move(entry), message, request);
}

template <class Count>
int start_receive(const Wanted<Count>& wanted, MPI_Request* request) {
  const auto native = Native<Count>::irecv();
  const auto post = [&](void* buffer, Count count, MPI_Datatype type) {
    return native(buffer, count, type, wanted.source, wanted.tag, wanted.comm, request);
  };
  const auto peers = request ? peers_of_receive(wanted) : nullptr;
  if (!peers) return post(wanted.buffer, wanted.count, wanted.type);
  const std::lock_guard guard(peers->lock);
  if (auto unexpected = take_unexpected(*peers, wanted.source, wanted.tag)) {
    return start_unexpected(wanted, peers, *unexpected, request);
  }
  if (!may_get_header(wanted, *peers)) return post(wanted.buffer, wanted.count, wanted.type);
  EntryPtr entry = entry_of(wanted, peers);
  const ReceiveBuffer& receive_buffer = entry->receive_buffer;
  const int code = post(receive_buffer.buffer(), static_cast<Count>(receive_buffer.count()),
                        receive_buffer.type());
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

template <class Count>
int receive_unexpected(const Wanted<Count>& wanted, Peers& peers, UnexpectedMessage& unexpected,
                       MPI_Status* status) {
  if (!unexpected.header) {
    return Native<Count>::mrecv()(wanted.buffer, wanted.count, wanted.type, &unexpected.message,
                                  status);
  }
  note_receive(unexpected);
  MPI_Status own{};
  own.MPI_SOURCE = unexpected.source;
  own.MPI_TAG = unexpected.tag;
  const ReceiveBuffer receive_buffer(wanted.buffer, wanted.count, wanted.type, false);
  const int code = deliver(receive_buffer, *unexpected.header, own);
  copy_status(own, status);
  return report(peers, code);
}

template <class Count>
int receive(const Wanted<Count>& wanted, MPI_Status* status) {
  const auto native = Native<Count>::recv();
  const auto peers = is_place(status) ? peers_of_receive(wanted) : nullptr;
  const auto [buffer, count, type, source, tag, comm] = wanted;
  if (!peers) return native(buffer, count, type, source, tag, comm, status);
  complete_freed();
  if (feature().is_threaded) {
    // Another thread's probe must not come between the look at unexpected messages and the receive.
    MPI_Request request{};
    const int code = start_receive(wanted, &request);
    return code == MPI_SUCCESS ? Wait(&request, status) : code;
  }
  if (auto unexpected = take_unexpected(*peers, source, tag)) {
    return receive_unexpected(wanted, *peers, *unexpected, status);
  }
  if (!may_get_header(wanted, *peers)) {
    return native(buffer, count, type, source, tag, comm, status);
  }
  const ReceiveBuffer receive_buffer(buffer, count, type, true);
  MPI_Status own{};
  int code = native(receive_buffer.buffer(), static_cast<Count>(receive_buffer.count()),
                    receive_buffer.type(), source, tag, comm, &own);
  if (code == MPI_SUCCESS) code = report(*peers, finish_receive(receive_buffer, *peers, own));
  copy_status(own, status);
  return code;
}

template <class Count>
int init_receive(const Wanted<Count>& wanted, MPI_Request* request) {
  const auto native = Native<Count>::recv_init();
  const auto peers = request ? peers_of_receive(wanted) : nullptr;
  // Also one that is too small for a rendezvous header: a probe may extract its message before it
  // starts.
  if (!peers || !peers->may_send_headers(wanted.source)) {
    return native(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, wanted.comm,
                  request);
  }
  EntryPtr entry = entry_of(wanted, peers);
  entry->kind = Entry::Kind::persistent_receive;
  entry->source = wanted.source;
  entry->tag = wanted.tag;
  const ReceiveBuffer& receive_buffer = entry->receive_buffer;
  const int code = native(receive_buffer.buffer(), static_cast<Count>(receive_buffer.count()),
                          receive_buffer.type(), wanted.source, wanted.tag, wanted.comm, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

// The entry of a message handle that MPI_Mprobe of this feature has returned; null for other
// handles.
EntryPtr entry_of_message(const MPI_Message* message) {
  Relay& relay = feature();
  if (message == nullptr) return nullptr;
  if (relay.num_messages.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard guard(relay.messages_lock);
  for (auto each = relay.messages.begin(); each != relay.messages.end(); ++each) {
    if (each->first != *message) continue;
    EntryPtr entry = std::move(each->second);
    relay.messages.erase(each);
    relay.num_messages.store(relay.messages.size(), std::memory_order_relaxed);
    return entry;
  }
  return nullptr;
}

// The message stays for another receive. Open MPI reports the error to the communicator on which
// the probe found it, which is not that of the message to oneself; MPICH to MPI_COMM_WORLD.
// @param native  the MPI's own call
template <class Native>
int refuse_receive(MPI_Message message, EntryPtr entry, [[maybe_unused]] int code,
                   [[maybe_unused]] const Native& native) {
  Relay& relay = feature();
  [[maybe_unused]] const std::shared_ptr<Peers> peers = entry->peers;
  {
    const std::lock_guard guard(relay.messages_lock);
    relay.messages.emplace_back(message, std::move(entry));
    relay.num_messages.store(relay.messages.size(), std::memory_order_relaxed);
  }
#if defined(OPEN_MPI)
  return report(*peers, code);
#else
  return native();
#endif
}

template <class Count>
int receive_matched(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                    MPI_Status* status) {
  EntryPtr entry = is_place(status) ? entry_of_message(message) : nullptr;
  const auto native = [&] { return Native<Count>::mrecv()(buffer, count, type, message, status); };
  if (!entry) return native();
  if (const int code = check_received(buffer, count, type); code != MPI_SUCCESS) {
    return refuse_receive(*message, std::move(entry), code, native);
  }
  RendezvousHeaderBytes header{};
  mpi().Mrecv(header.data(), kRendezvousHeaderBytes, byte_type(), message, MPI_STATUS_IGNORE);
  mpi().Wait(&entry->self_send, MPI_STATUS_IGNORE);
  // NOLINTBEGIN(bugprone-unchecked-optional-access): an entry of a message always has what was
  // found.
  Wanted<Count> wanted{
      buffer, count, type, entry->found->source, entry->found->tag, entry->peers->comm};
  return receive_unexpected(wanted, *entry->peers, *entry->found, status);
  // NOLINTEND(bugprone-unchecked-optional-access)
}

template <class Count>
int start_matched(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                  MPI_Request* request) {
  const auto native = [&] {
    return Native<Count>::imrecv()(buffer, count, type, message, request);
  };
  EntryPtr entry = request ? entry_of_message(message) : nullptr;
  if (!entry) return native();
  if (const int code = check_received(buffer, count, type); code != MPI_SUCCESS) {
    return refuse_receive(*message, std::move(entry), code, native);
  }
  const Wanted<Count> wanted{buffer, count, type, 0, 0, entry->peers->comm};
  const int code = start_extracted(wanted, std::move(entry), *message, request);
  *message = message_null();
  return code;
}

}  // namespace

#define RECEIVES(suffix, Count)                                                            \
  int Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,      \
                   MPI_Comm comm, MPI_Status* status) {                                    \
    return receive(Wanted<Count>{buffer, count, type, source, tag, comm}, status);         \
  }                                                                                        \
  int Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,     \
                    MPI_Comm comm, MPI_Request* request) {                                 \
    return start_receive(Wanted<Count>{buffer, count, type, source, tag, comm}, request);  \
  }                                                                                        \
  int Recv_init##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag, \
                        MPI_Comm comm, MPI_Request* request) {                             \
    return init_receive(Wanted<Count>{buffer, count, type, source, tag, comm}, request);   \
  }                                                                                        \
  int Mrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,    \
                    MPI_Status* status) {                                                  \
    return receive_matched(buffer, count, type, message, status);                          \
  }                                                                                        \
  int Imrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,   \
                     MPI_Request* request) {                                               \
    return start_matched(buffer, count, type, message, request);                           \
  }

RECEIVES(, int)
#if FAIRLEAD_LARGE_COUNTS
RECEIVES(_c, MPI_Count)
#endif

}  // namespace fairlead::intercept::relay
