// SPDX-License-Identifier: Apache-2.0
// Receives: the MPI matches them, as ever. What it receives is looked at when it is complete.
#include <utility>

#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/probes.hpp"
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
  static auto send() { return mpi().Send; }
  static auto sendrecv() { return mpi().Sendrecv; }
  static auto sendrecv_replace() { return mpi().Sendrecv_replace; }
};
#if FAIRLEAD_LARGE_COUNTS
template <>
struct Native<MPI_Count> {
  static auto recv() { return mpi().Recv_c; }
  static auto irecv() { return mpi().Irecv_c; }
  static auto recv_init() { return mpi().Recv_init_c; }
  static auto mrecv() { return mpi().Mrecv_c; }
  static auto imrecv() { return mpi().Imrecv_c; }
  static auto send() { return mpi().Send_c; }
  static auto sendrecv() { return mpi().Sendrecv_c; }
  static auto sendrecv_replace() { return mpi().Sendrecv_replace_c; }
};
#endif

template <class Count>
struct Wanted {
  void* buffer;
  Count count;
  MPI_Datatype type;
  int source;
  int tag;
  MPI_Comm comm;
};

// Null where the MPI alone can do it, or shall say what is wrong with the arguments: an error
// handler may leave the call by a jump, which unlocks nothing.
template <class Count>
std::shared_ptr<Peers> peers_of_receive(const Wanted<Count>& wanted) {
  const auto [buffer, count, type, source, tag, comm] = wanted;
  if (count < 0 || type == datatype_null() || (tag < 0 && tag != MPI_ANY_TAG)) return nullptr;
  std::shared_ptr<Peers> peers = peers_of(comm);
  const bool is_sensible = peers && peers->has_remote && peers->may_be_source(source);
  return is_sensible ? peers : nullptr;
}

template <class Count>
bool may_get_envelope(const Wanted<Count>& wanted, const Peers& peers) {
  return peers.may_send_envelopes(wanted.source) &&
         bytes_of(wanted.count, wanted.type) >= kEnvelopeBytes;
}

template <class Count>
EntryPtr entry_of(const Wanted<Count>& wanted, std::shared_ptr<Peers> peers) {
  auto entry = std::make_unique<Entry>();
  entry->peers = std::move(peers);
  entry->landing = Landing(wanted.buffer, wanted.count, wanted.type, true);
  return entry;
}

// A receive of an envelope that is already open.
template <class Count>
int start_opened(const Wanted<Count>& wanted, EntryPtr entry, MPI_Message message,
                 MPI_Request* request) {
  entry->landing = Landing(wanted.buffer, wanted.count, wanted.type, false);
  const int code = mpi().Imrecv(entry->fed.data(), kEnvelopeBytes, byte_type(), &message, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

template <class Count>
int start_pulled(const Wanted<Count>& wanted, const std::shared_ptr<Peers>& peers, Pulled& pulled,
                 MPI_Request* request) {
  if (!pulled.envelope) {
    return Native<Count>::imrecv()(wanted.buffer, wanted.count, wanted.type, &pulled.message,
                                   request);
  }
  auto entry = std::make_unique<Entry>();
  entry->peers = peers;
  entry->found = pulled;
  const MPI_Message message = feed(*entry, pulled);
  return start_opened(wanted, std::move(entry), message, request);
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
  if (auto pulled = take_pulled(*peers, wanted.source, wanted.tag)) {
    return start_pulled(wanted, peers, *pulled, request);
  }
  if (!may_get_envelope(wanted, *peers)) return post(wanted.buffer, wanted.count, wanted.type);
  EntryPtr entry = entry_of(wanted, peers);
  const Landing& landing = entry->landing;
  const int code = post(landing.buffer(), static_cast<Count>(landing.count()), landing.type());
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

template <class Count>
int receive_pulled(const Wanted<Count>& wanted, Peers& peers, Pulled& pulled, MPI_Status* status) {
  if (!pulled.envelope) {
    return Native<Count>::mrecv()(wanted.buffer, wanted.count, wanted.type, &pulled.message,
                                  status);
  }
  MPI_Status own{};
  own.MPI_SOURCE = pulled.source;
  own.MPI_TAG = pulled.tag;
  const Landing landing(wanted.buffer, wanted.count, wanted.type, false);
  const int code = deliver(landing, *pulled.envelope, own);
  copy_status(own, status);
  return report(peers, code);
}

template <class Count>
int receive(const Wanted<Count>& wanted, MPI_Status* status) {
  const auto native = Native<Count>::recv();
  const auto peers = peers_of_receive(wanted);
  const auto [buffer, count, type, source, tag, comm] = wanted;
  if (!peers) return native(buffer, count, type, source, tag, comm, status);
  complete_freed();
  if (feature().is_threaded) {
    // Another thread's probe must not come between the look at what is pulled and the receive.
    MPI_Request request{};
    const int code = start_receive(wanted, &request);
    return code == MPI_SUCCESS ? Wait(&request, status) : code;
  }
  if (auto pulled = take_pulled(*peers, source, tag)) {
    return receive_pulled(wanted, *peers, *pulled, status);
  }
  if (!may_get_envelope(wanted, *peers)) {
    return native(buffer, count, type, source, tag, comm, status);
  }
  const Landing landing(buffer, count, type, true);
  MPI_Status own{};
  int code = native(landing.buffer(), static_cast<Count>(landing.count()), landing.type(), source,
                    tag, comm, &own);
  if (code == MPI_SUCCESS) code = report(*peers, finish_receive(landing, *peers, own));
  copy_status(own, status);
  return code;
}

template <class Count>
int init_receive(const Wanted<Count>& wanted, MPI_Request* request) {
  const auto native = Native<Count>::recv_init();
  const auto peers = request ? peers_of_receive(wanted) : nullptr;
  // Also one that is too small for an envelope: a probe may pull out its message before it starts.
  if (!peers || !peers->may_send_envelopes(wanted.source)) {
    return native(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, wanted.comm,
                  request);
  }
  EntryPtr entry = entry_of(wanted, peers);
  entry->kind = Entry::Kind::persistent_receive;
  entry->source = wanted.source;
  entry->tag = wanted.tag;
  const Landing& landing = entry->landing;
  const int code = native(landing.buffer(), static_cast<Count>(landing.count()), landing.type(),
                          wanted.source, wanted.tag, wanted.comm, request);
  if (code == MPI_SUCCESS) feature().requests.insert(*request, std::move(entry));
  return code;
}

// What a matched probe of ours has given out, if the message is one.
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

template <class Count>
int receive_matched(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                    MPI_Status* status) {
  const EntryPtr entry = entry_of_message(message);
  if (!entry) return Native<Count>::mrecv()(buffer, count, type, message, status);
  EnvelopeBytes envelope{};
  mpi().Mrecv(envelope.data(), kEnvelopeBytes, byte_type(), message, MPI_STATUS_IGNORE);
  mpi().Wait(&entry->feeding, MPI_STATUS_IGNORE);
  // NOLINTBEGIN(bugprone-unchecked-optional-access): an entry of a message always has what was
  // found.
  Wanted<Count> wanted{
      buffer, count, type, entry->found->source, entry->found->tag, entry->peers->comm};
  return receive_pulled(wanted, *entry->peers, *entry->found, status);
  // NOLINTEND(bugprone-unchecked-optional-access)
}

template <class Count>
int start_matched(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                  MPI_Request* request) {
  EntryPtr entry = entry_of_message(message);
  if (!entry) return Native<Count>::imrecv()(buffer, count, type, message, request);
  const Wanted<Count> wanted{buffer, count, type, 0, 0, entry->peers->comm};
  const int code = start_opened(wanted, std::move(entry), *message, request);
  *message = message_null();
  return code;
}

// Whether an exchange is a send and a receive of ours.
template <class Count>
bool is_handled(const Wanted<Count>& wanted) {
  if (wanted.source != MPI_PROC_NULL) return peers_of_receive(wanted) != nullptr;
  const auto peers = peers_of(wanted.comm);
  return peers && peers->has_remote;
}

// The features' own calls, by the type of their counts.
template <class Count>
struct Handled {
  static constexpr auto isend = &Isend;
};
#if FAIRLEAD_LARGE_COUNTS
template <>
struct Handled<MPI_Count> {
  static constexpr auto isend = &Isend_c;
};
#endif

// The send is started, then the message is received: no order of the two can block. The receive is
// no request, whose errors MPICH reports to MPI_COMM_WORLD.
// @param start  starts the send
template <class Count, class Start>
int exchange(const Wanted<Count>& wanted, const Start& start, MPI_Status* status) {
  MPI_Request request{};
  if (const int code = start(&request); code != MPI_SUCCESS) return code;
  const int code = receive(wanted, status);
  const int code_of_send = Wait(&request, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : code_of_send;
}

// What a send sends, in memory of its own.
template <class Count>
struct Copied {
  std::vector<std::byte> bytes{};
  Count count;
  MPI_Datatype type;

  int start(int dest, int tag, MPI_Comm comm, MPI_Request* request) const {
    return Handled<Count>::isend(bytes.data(), count, type, dest, tag, comm, request);
  }
};

// Nothing where arguments are wrong, or the MPI cannot pack it.
template <class Count>
std::optional<Copied<Count>> copied(const void* buffer, Count count, MPI_Datatype type) {
  Copied<Count> copy{.count = count, .type = type};
  if (count == 0) return copy;
  if (count < 0 || type == datatype_null()) return std::nullopt;
  if (!pack(buffer, count, type, copy.bytes)) return std::nullopt;
  if (is_plain(type)) return copy;
  copy.count = static_cast<Count>(copy.bytes.size());
  copy.type = byte_type();
  return copy;
}

template <class Count>
int exchange_in_place(const Wanted<Count>& wanted, int dest, int tag, MPI_Status* status) {
  const auto copy = copied(wanted.buffer, wanted.count, wanted.type);
  if (!copy) {
    return Native<Count>::sendrecv_replace()(wanted.buffer, wanted.count, wanted.type, dest, tag,
                                             wanted.source, wanted.tag, wanted.comm, status);
  }
  const auto start = [&](MPI_Request* request) {
    return copy->start(dest, tag, wanted.comm, request);
  };
  return exchange(wanted, start, status);
}

#if FAIRLEAD_MPI4_REQUESTS
template <class Count>
struct Sent {
  const void* buffer;
  Count count;
  MPI_Datatype type;
  int dest;
  int tag;
  MPI_Comm comm;
};

// A send that needs no request.
template <class Count>
int start_copied(const Sent<Count>& sent, Copied<Count> copy) {
  MPI_Request request{};
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::copied_send;
  const int code = copy.start(sent.dest, sent.tag, sent.comm, &request);
  entry->copy = std::move(copy.bytes);  // It stays where it is.
  if (code == MPI_SUCCESS) complete_later(request, std::move(entry));
  return code;
}

// The receive's request stands for both: that of the MPI's own call does not tell what came
// (MPICH 4.0 leaves its status empty).
// @param native  the MPI's own call
template <class Count, class Native>
int start_exchange(const Sent<Count>& sent, const Wanted<Count>& wanted, MPI_Request* request,
                   const Native& native) {
  if (request == nullptr || !is_handled(wanted)) return native();
  auto copy = copied(sent.buffer, sent.dest == MPI_PROC_NULL ? Count{0} : sent.count, sent.type);
  if (!copy) return native();
  int code = start_receive(wanted, request);
  if (code != MPI_SUCCESS) return code;
  code = start_copied(sent, std::move(*copy));
  if (code == MPI_SUCCESS) return code;
  Cancel(request);
  Wait(request, MPI_STATUS_IGNORE);
  return code;
}
#endif

}  // namespace

#define RECEIVES(suffix, Count)                                                                  \
  int Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,            \
                   MPI_Comm comm, MPI_Status* status) {                                          \
    return receive(Wanted<Count>{buffer, count, type, source, tag, comm}, status);               \
  }                                                                                              \
  int Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,           \
                    MPI_Comm comm, MPI_Request* request) {                                       \
    return start_receive(Wanted<Count>{buffer, count, type, source, tag, comm}, request);        \
  }                                                                                              \
  int Recv_init##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,       \
                        MPI_Comm comm, MPI_Request* request) {                                   \
    return init_receive(Wanted<Count>{buffer, count, type, source, tag, comm}, request);         \
  }                                                                                              \
  int Mrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,          \
                    MPI_Status* status) {                                                        \
    return receive_matched(buffer, count, type, message, status);                                \
  }                                                                                              \
  int Imrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,         \
                     MPI_Request* request) {                                                     \
    return start_matched(buffer, count, type, message, request);                                 \
  }                                                                                              \
  int Sendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,    \
                       int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype,       \
                       int source, int recvtag, MPI_Comm comm, MPI_Status* status) {             \
    const Wanted<Count> wanted{recvbuf, recvcount, recvtype, source, recvtag, comm};             \
    if (!is_handled(wanted)) {                                                                   \
      return mpi().Sendrecv##suffix(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,        \
                                    recvcount, recvtype, source, recvtag, comm, status);         \
    }                                                                                            \
    const auto start = [&](MPI_Request* request) {                                               \
      return Isend##suffix(sendbuf, sendcount, sendtype, dest, sendtag, comm, request);          \
    };                                                                                           \
    return exchange(wanted, start, status);                                                      \
  }                                                                                              \
  int Sendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest,           \
                               int sendtag, int source, int recvtag, MPI_Comm comm,              \
                               MPI_Status* status) {                                             \
    const Wanted<Count> wanted{buffer, count, type, source, recvtag, comm};                      \
    if (!is_handled(wanted)) {                                                                   \
      return mpi().Sendrecv_replace##suffix(buffer, count, type, dest, sendtag, source, recvtag, \
                                            comm, status);                                       \
    }                                                                                            \
    return exchange_in_place(wanted, dest, sendtag, status);                                     \
  }

#define EXCHANGES(suffix, Count)                                                               \
  int Isendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, \
                        int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype,    \
                        int source, int recvtag, MPI_Comm comm, MPI_Request* request) {        \
    return start_exchange(                                                                     \
        Sent<Count>{sendbuf, sendcount, sendtype, dest, sendtag, comm},                        \
        Wanted<Count>{recvbuf, recvcount, recvtype, source, recvtag, comm}, request, [&] {     \
          return mpi().Isendrecv##suffix(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, \
                                         recvcount, recvtype, source, recvtag, comm, request); \
        });                                                                                    \
  }                                                                                            \
  int Isendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest,        \
                                int sendtag, int source, int recvtag, MPI_Comm comm,           \
                                MPI_Request* request) {                                        \
    return start_exchange(                                                                     \
        Sent<Count>{buffer, count, type, dest, sendtag, comm},                                 \
        Wanted<Count>{buffer, count, type, source, recvtag, comm}, request, [&] {              \
          return mpi().Isendrecv_replace##suffix(buffer, count, type, dest, sendtag, source,   \
                                                 recvtag, comm, request);                      \
        });                                                                                    \
  }

RECEIVES(, int)
#if FAIRLEAD_LARGE_COUNTS
RECEIVES(_c, MPI_Count)
#endif
#if FAIRLEAD_MPI4_REQUESTS
EXCHANGES(, int)
#if FAIRLEAD_LARGE_COUNTS
EXCHANGES(_c, MPI_Count)
#endif
#endif

}  // namespace fairlead::intercept::relay
