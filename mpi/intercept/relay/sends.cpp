// SPDX-License-Identifier: Apache-2.0
// Sends: the messenger takes a copy of the message, and the MPI sends an envelope in its place, by
// the same call. So a send completes as its envelope does, whatever becomes of the message.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/probes.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {

Entry::~Entry() {
  if (owns_send_type) mpi().Type_free(&send_type);
}

namespace {

// A message that the messenger has taken.
struct Taken {
  std::uint32_t dst_rank = 0;
  std::uint64_t number = 0;
  EnvelopeBytes envelope{};
};

// Whether the arguments of a send are such that its message may be relayed; what is wrong with them
// is for the MPI to say.
bool may_relay(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm,
               std::shared_ptr<Peers>& peers) {
  if (dest < 0 || count <= 0 || type == datatype_null()) return false;
  peers = peers_of(comm);
  return peers && peers->is_remote_rank(dest);
}

Taken hand_over(std::uint32_t dst_rank, std::vector<std::byte> bytes, Way way) {
  Relay& relay = feature();
  const std::uint64_t size = bytes.size();
  const std::uint64_t number = relay.messenger->send(dst_rank, std::move(bytes), way);
  return {dst_rank, number, to_bytes(Envelope{relay.own_rank, number, size})};
}

std::optional<Taken> take(const void* buffer, MPI_Count count, MPI_Datatype type, int dest,
                          MPI_Comm comm) {
  std::shared_ptr<Peers> peers;
  if (!may_relay(count, type, dest, comm, peers)) return std::nullopt;
  const std::uint32_t dst_rank = peers->world_rank(dest);
  const Way way = way_to(dst_rank, bytes_of(count, type));
  if (way == Way::mpi) return std::nullopt;
  std::vector<std::byte> bytes;
  if (!pack(buffer, count, type, bytes)) return std::nullopt;
  return hand_over(dst_rank, std::move(bytes), way);
}

constexpr int kCount = kEnvelopeBytes;

template <class Native, class Count>
int send(Native native, const void* buffer, Count count, MPI_Datatype type, int dest, int tag,
         MPI_Comm comm) {
  const auto taken = take(buffer, count, type, dest, comm);
  if (!taken) return native(buffer, count, type, dest, tag, comm);
  return native(taken->envelope.data(), kCount, byte_type(), dest, tag, comm);
}

// The envelope stays until the receiver has it: the MPI may read it until then.
const std::byte* kept_envelope(const Taken& taken) {
  Relay& relay = feature();
  auto envelope = std::make_unique<EnvelopeBytes>(taken.envelope);
  const std::byte* const bytes = envelope->data();
  const std::lock_guard guard(relay.envelopes_lock);
  relay.envelopes[{taken.dst_rank, taken.number}] = std::move(envelope);
  return bytes;
}

template <class Native, class Count>
int start_send(Native native, const void* buffer, Count count, MPI_Datatype type, int dest, int tag,
               MPI_Comm comm, MPI_Request* request) {
  const auto taken = take(buffer, count, type, dest, comm);
  if (!taken) return native(buffer, count, type, dest, tag, comm, request);
  return native(kept_envelope(*taken), kCount, byte_type(), dest, tag, comm, request);
}

// Whether a persistent send uses relays is decided once, since its request is the envelope's.
template <class Native, class Count>
int init_send(Native native, const void* buffer, Count count, MPI_Datatype type, int dest, int tag,
              MPI_Comm comm, MPI_Request* request) {
  std::shared_ptr<Peers> peers;
  const bool is_relayed = may_relay(count, type, dest, comm, peers) &&
                          is_worth_relaying(peers->world_rank(dest), bytes_of(count, type)) &&
                          (buffer != nullptr || !is_plain(type));
  // The MPI sees the message in any case, to say what is wrong with it.
  int code = native(buffer, count, type, dest, tag, comm, request);
  if (!is_relayed || code != MPI_SUCCESS) return code;
  mpi().Request_free(request);
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::persistent_send;
  entry->peers = peers;
  entry->send_buffer = buffer;
  entry->send_count = count;
  entry->dst_rank = peers->world_rank(dest);
  entry->envelope = std::make_unique<EnvelopeBytes>();
  entry->owns_send_type = mpi().Type_dup(type, &entry->send_type) == MPI_SUCCESS;
  code = native(entry->envelope->data(), kCount, byte_type(), dest, tag, comm, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

// The message is taken anew at each start.
int start_send(Entry& entry, MPI_Request* request) {
  std::vector<std::byte> bytes;
  if (!pack(entry.send_buffer, entry.send_count, entry.send_type, bytes)) {
    return report(*entry.peers, MPI_ERR_INTERN);
  }
  const Way way = way_to(entry.dst_rank, bytes.size());
  *entry.envelope =
      hand_over(entry.dst_rank, std::move(bytes), way == Way::mpi ? Way::direct : way).envelope;
  return mpi().Start(request);
}

int receive_into(const Landing& landing, MPI_Message message, MPI_Request* request) {
#if FAIRLEAD_LARGE_COUNTS
  return mpi().Imrecv_c(landing.buffer(), landing.count(), landing.type(), &message, request);
#else
  return mpi().Imrecv(landing.buffer(), static_cast<int>(landing.count()), landing.type(), &message,
                      request);
#endif
}

// What a probe has found cannot come to the request itself, which receives by communicator and tag.
int start_stand_in(Entry& entry, const Pulled& pulled) {
  MPI_Request request{};
  int code = MPI_SUCCESS;
  if (pulled.envelope) {
    MPI_Message message = feed(entry, pulled);
    code = mpi().Imrecv(entry.fed.data(), kEnvelopeBytes, byte_type(), &message, &request);
  } else {
    code = receive_into(entry.landing, pulled.message, &request);
  }
  if (code != MPI_SUCCESS) return code;
  entry.found = pulled;
  entry.stand_in = request;
  return MPI_SUCCESS;
}

int start_receive(Entry& entry, MPI_Request* request) {
  // Another thread's probe must not come between the look at what is pulled and the start.
  const std::lock_guard guard(entry.peers->lock);
  if (const auto pulled = take_pulled(*entry.peers, entry.source, entry.tag)) {
    return start_stand_in(entry, *pulled);
  }
  return mpi().Start(request);
}

}  // namespace

int Start(MPI_Request* request) {
  EntryPtr entry = feature().requests.extract(*request);
  if (!entry) return mpi().Start(request);
  entry->is_claimed = false;
  const int code = entry->is_send() ? start_send(*entry, request) : start_receive(*entry, request);
  entry->is_active |= code == MPI_SUCCESS;
  // Open MPI may have given it another handle.
  feature().requests.insert(*request, std::move(entry));
  return code;
}

int Startall(int count, MPI_Request requests[]) {
  for (int index = 0; index < count; ++index) {
    if (const int code = Start(&requests[index]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

#define SEND(name, Count)                                                                          \
  int name(const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    return send(mpi().name, buffer, count, type, dest, tag, comm);                                 \
  }
#define STARTING_SEND(how, name, Count)                                                          \
  int name(const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
           MPI_Request* request) {                                                               \
    return how(mpi().name, buffer, count, type, dest, tag, comm, request);                       \
  }
#define SENDS(suffix, Count)                          \
  SEND(Send##suffix, Count)                           \
  SEND(Bsend##suffix, Count)                          \
  SEND(Ssend##suffix, Count)                          \
  SEND(Rsend##suffix, Count)                          \
  STARTING_SEND(start_send, Isend##suffix, Count)     \
  STARTING_SEND(start_send, Ibsend##suffix, Count)    \
  STARTING_SEND(start_send, Issend##suffix, Count)    \
  STARTING_SEND(start_send, Irsend##suffix, Count)    \
  STARTING_SEND(init_send, Send_init##suffix, Count)  \
  STARTING_SEND(init_send, Bsend_init##suffix, Count) \
  STARTING_SEND(init_send, Ssend_init##suffix, Count) \
  STARTING_SEND(init_send, Rsend_init##suffix, Count)

SENDS(, int)
#if FAIRLEAD_LARGE_COUNTS
SENDS(_c, MPI_Count)
#endif

}  // namespace fairlead::intercept::relay
