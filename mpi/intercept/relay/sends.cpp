// SPDX-License-Identifier: Apache-2.0
// Sends: the messenger takes a copy of the message, and the MPI sends a rendezvous header in its
// place, by the same call. So a send completes as its rendezvous header does, whatever becomes of
// the message.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device_memory/device_memory.hpp"
#include "pmpi/argument_check.hpp"
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

// Whether the arguments of a send allow its message to be relayed. If an argument is wrong, the MPI
// reports that.
template <class Count>
bool may_relay(const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               std::shared_ptr<Peers>& peers) {
  if (dest < 0 || count <= 0) return false;
  peers = peers_of(comm);
  return peers && peers->is_remote_rank(dest) &&
         check_sent(buffer, count, type, tag) == MPI_SUCCESS;
}

// A message whose rendezvous header is about to be passed to the MPI. The message is sent only
// after that: without a header no receive would ever take it.
class Outgoing {
 public:
  Outgoing(const PendingSend& send, std::uint64_t size_bytes)
      : send_(send), size_bytes_(size_bytes) {}
  Outgoing(Outgoing&& other) noexcept
      : send_(other.send_),
        size_bytes_(other.size_bytes_),
        bytes_(std::move(other.bytes_)),
        is_pending_(std::exchange(other.is_pending_, false)) {}
  Outgoing& operator=(Outgoing&&) = delete;
  ~Outgoing() {
    if (is_pending_) feature().messenger->cancel(send_, size_bytes_);
  }

  void set_bytes(std::vector<std::byte> bytes) { bytes_ = std::move(bytes); }
  [[nodiscard]] MatchQuestion question() const { return {send_.dst_rank, send_.number}; }
  [[nodiscard]] RendezvousHeaderBytes header() const {
    return to_bytes(RendezvousHeader{feature().own_rank, send_.number, size_bytes_});
  }
  /// The same in memory of its own until the receiver has it: the MPI may read it until then.
  [[nodiscard]] const std::byte* kept_header() const {
    Relay& relay = feature();
    auto kept = std::make_unique<RendezvousHeaderBytes>(header());
    const std::byte* const bytes = kept->data();
    const std::lock_guard guard(relay.headers_lock);
    relay.headers[{send_.dst_rank, send_.number}] = std::move(kept);
    return bytes;
  }
  /// @param code  of the MPI, for the rendezvous header
  int follow(int code) {
    if (code != MPI_SUCCESS) return code;
    is_pending_ = false;
    feature().messenger->post(send_, std::move(bytes_));
    return code;
  }

 private:
  PendingSend send_;
  std::uint64_t size_bytes_;
  std::vector<std::byte> bytes_{};
  bool is_pending_ = true;
};

// How a send completes.
enum class Mode : std::uint8_t { other, synchronous, buffered };

// A probe matches a rendezvous header, and with it would complete a synchronous send before there
// is a receive; a rendezvous header needs less of the program's buffer than its message. So the MPI
// carries these, except those of the size of a rendezvous header.
bool is_for_routers(Mode mode, std::uint64_t size_bytes) {
  return mode == Mode::other || size_bytes == kRendezvousHeaderBytes;
}

// Messages in the memory of a device are left to the MPI, except those that would be taken for a
// rendezvous header.
bool is_for_device(const void* buffer, MPI_Datatype type, std::uint64_t size_bytes) {
  if (size_bytes == kRendezvousHeaderBytes || size_bytes < feature().threshold_bytes) return false;
  return is_on_device(buffer, type);
}

template <class Count>
std::optional<Outgoing> take(Mode mode, const void* buffer, Count count, MPI_Datatype type,
                             int dest, int tag, MPI_Comm comm) {
  std::shared_ptr<Peers> peers;
  if (!may_relay(buffer, count, type, dest, tag, comm, peers)) return std::nullopt;
  const std::uint64_t size_bytes = bytes_of(count, type);
  const std::uint32_t dst_rank = peers->world_rank(dest);
  const bool may_use_routers =
      is_for_routers(mode, size_bytes) && !is_for_device(buffer, type, size_bytes);
  const auto begun = may_use_routers ? begin_send(dst_rank, size_bytes, false) : std::nullopt;
  if (!begun) {
    count_by_mpi(dst_rank, size_bytes);
    return std::nullopt;
  }
  Outgoing message(*begun, size_bytes);
  std::vector<std::byte> bytes;
  if (!pack(buffer, count, type, bytes)) return std::nullopt;
  message.set_bytes(std::move(bytes));
  return message;
}

constexpr int kCount = kRendezvousHeaderBytes;

template <class Native, class Count>
int send(Mode mode, Native native, const void* buffer, Count count, MPI_Datatype type, int dest,
         int tag, MPI_Comm comm) {
  auto message = take(mode, buffer, count, type, dest, tag, comm);
  if (!message) return native(buffer, count, type, dest, tag, comm);
  const RendezvousHeaderBytes header = message->header();
  const int code = message->follow(native(header.data(), kCount, byte_type(), dest, tag, comm));
  if (code == MPI_SUCCESS && mode == Mode::synchronous) message->question().wait();
  return code;
}

template <class Native, class Count>
int start_send(Mode mode, Native native, const void* buffer, Count count, MPI_Datatype type,
               int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  // If `request` is null, the MPI sends nothing and reports that.
  auto message = request ? take(mode, buffer, count, type, dest, tag, comm) : std::nullopt;
  if (!message) return native(buffer, count, type, dest, tag, comm, request);
  const int code = message->follow(
      native(message->kept_header(), kCount, byte_type(), dest, tag, comm, request));
  if (code != MPI_SUCCESS || mode != Mode::synchronous) return code;
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::synchronous_send;
  entry->question = message->question();
  feature().requests.insert(*request, std::move(entry));
  return code;
}

// Whether a persistent send uses relays is decided once, since its request either sends the message
// or the rendezvous header.
template <class Native, class Count>
int init_send(Mode mode, Native native, const void* buffer, Count count, MPI_Datatype type,
              int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  std::shared_ptr<Peers> peers;
  const bool is_relayed = request != nullptr &&
                          may_relay(buffer, count, type, dest, tag, comm, peers) &&
                          is_for_routers(mode, bytes_of(count, type)) &&
                          !is_for_device(buffer, type, bytes_of(count, type)) &&
                          is_worth_relaying(peers->world_rank(dest), bytes_of(count, type));
  // The MPI gets the arguments in any case, so that it can report a wrong one.
  int code = native(buffer, count, type, dest, tag, comm, request);
  if (!is_relayed || code != MPI_SUCCESS) return code;
  mpi().Request_free(request);
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::persistent_send;
  entry->is_synchronous = mode == Mode::synchronous;
  entry->peers = peers;
  entry->send_buffer = buffer;
  entry->send_count = count;
  entry->dst_rank = peers->world_rank(dest);
  entry->header = std::make_unique<RendezvousHeaderBytes>();
  entry->owns_send_type = mpi().Type_dup(type, &entry->send_type) == MPI_SUCCESS;
  code = native(entry->header->data(), kCount, byte_type(), dest, tag, comm, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

// Each start copies the current content of the program's buffer.
int start_send(Entry& entry, MPI_Request* request) {
  std::vector<std::byte> bytes;
  if (!pack(entry.send_buffer, entry.send_count, entry.send_type, bytes)) {
    return report(*entry.peers, MPI_ERR_INTERN);
  }
  const auto begun = begin_send(entry.dst_rank, bytes.size(), true);
  if (!begun) return report(*entry.peers, MPI_ERR_INTERN);
  Outgoing message(*begun, bytes.size());
  message.set_bytes(std::move(bytes));
  *entry.header = message.header();
  const int code = message.follow(mpi().Start(request));
  if (code == MPI_SUCCESS && entry.is_synchronous) entry.question = message.question();
  return code;
}

int receive_into(const ReceiveBuffer& receive_buffer, MPI_Message message, MPI_Request* request) {
#if FAIRLEAD_LARGE_COUNTS
  return mpi().Imrecv_c(receive_buffer.buffer(), receive_buffer.count(), receive_buffer.type(),
                        &message, request);
#else
  return mpi().Imrecv(receive_buffer.buffer(), static_cast<int>(receive_buffer.count()),
                      receive_buffer.type(), &message, request);
#endif
}

// A message that a probe has extracted cannot be received by the request itself, since that
// receives by communicator and tag.
int start_substitute(Entry& entry, const UnexpectedMessage& unexpected) {
  MPI_Request request{};
  int code = MPI_SUCCESS;
  if (unexpected.header) {
    MPI_Message message = send_to_self(entry, unexpected);
    code = mpi().Imrecv(entry.self_received.data(), kRendezvousHeaderBytes, byte_type(), &message,
                        &request);
  } else {
    code = receive_into(entry.receive_buffer, unexpected.message, &request);
  }
  if (code != MPI_SUCCESS) return code;
  note_receive(unexpected);
  entry.found = unexpected;
  entry.substitute = request;
  return MPI_SUCCESS;
}

int start_receive(Entry& entry, MPI_Request* request) {
  // No probe of another thread may run between the search of the unexpected messages and the start.
  const std::lock_guard guard(entry.peers->lock);
  if (const auto unexpected = take_unexpected(*entry.peers, entry.source, entry.tag)) {
    return start_substitute(entry, *unexpected);
  }
  return mpi().Start(request);
}

// The request is active already, or not persistent. The MPI reports that. Where it has started a
// substitute in place of the request, the error is reported here.
int refuse_start(MPI_Request* request, EntryPtr entry) {
  const bool has_substitute = entry->substitute.has_value();
  const std::shared_ptr<Peers> peers = entry->peers;
  feature().requests.insert(*request, std::move(entry));
  return has_substitute ? report(*peers, MPI_ERR_REQUEST) : mpi().Start(request);
}

}  // namespace

int Start(MPI_Request* request) {
  EntryPtr entry = feature().requests.extract(request);
  if (!entry) return mpi().Start(request);
  if (entry->is_active || !entry->is_persistent()) return refuse_start(request, std::move(entry));
  entry->is_match_sent = false;
  const int code = entry->is_send() ? start_send(*entry, request) : start_receive(*entry, request);
  entry->is_active |= code == MPI_SUCCESS;
  // Open MPI may have given it another handle.
  feature().requests.insert(*request, std::move(entry));
  return code;
}

int Startall(int count, MPI_Request requests[]) {
  if (!feature().requests.has_any_of(count, requests)) return mpi().Startall(count, requests);
  for (int index = 0; index < count; ++index) {
    if (const int code = Start(&requests[index]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

#define SEND(mode, name, Count)                                                                    \
  int name(const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    return send(Mode::mode, mpi().name, buffer, count, type, dest, tag, comm);                     \
  }
#define STARTING_SEND(how, mode, name, Count)                                                    \
  int name(const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
           MPI_Request* request) {                                                               \
    return how(Mode::mode, mpi().name, buffer, count, type, dest, tag, comm, request);           \
  }
#define SENDS(suffix, Count)                                       \
  SEND(other, Send##suffix, Count)                                 \
  SEND(buffered, Bsend##suffix, Count)                             \
  SEND(synchronous, Ssend##suffix, Count)                          \
  SEND(other, Rsend##suffix, Count)                                \
  STARTING_SEND(start_send, other, Isend##suffix, Count)           \
  STARTING_SEND(start_send, buffered, Ibsend##suffix, Count)       \
  STARTING_SEND(start_send, synchronous, Issend##suffix, Count)    \
  STARTING_SEND(start_send, other, Irsend##suffix, Count)          \
  STARTING_SEND(init_send, other, Send_init##suffix, Count)        \
  STARTING_SEND(init_send, buffered, Bsend_init##suffix, Count)    \
  STARTING_SEND(init_send, synchronous, Ssend_init##suffix, Count) \
  STARTING_SEND(init_send, other, Rsend_init##suffix, Count)

SENDS(, int)
#if FAIRLEAD_LARGE_COUNTS
SENDS(_c, MPI_Count)
#endif

}  // namespace fairlead::intercept::relay
