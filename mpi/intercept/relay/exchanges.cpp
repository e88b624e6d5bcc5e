// SPDX-License-Identifier: Apache-2.0
// Calls that send and receive.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pmpi/argument_check.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/peers.hpp"
#include "relay/receive_buffer.hpp"
#include "relay/receives.hpp"
#include "relay/requests.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {
namespace {

template <class Count>
struct Sent {
  const void* buffer;
  Count count;
  MPI_Datatype type;
  int dest;
  int tag;
};

// Whether an exchange becomes a send and a receive of ours. If an argument is wrong, the MPI
// reports that.
template <class Count>
bool is_handled(const Sent<Count>& sent, const Wanted<Count>& wanted) {
  const auto peers = peers_of(wanted.comm);
  if (!peers || !peers->has_remote) return false;
  const bool is_from_anyone = wanted.source == MPI_PROC_NULL || peers->may_be_source(wanted.source);
  if (!is_from_anyone || !peers->may_be_destination(sent.dest)) return false;
  return check_sent(sent.buffer, sent.count, sent.type, sent.tag) == MPI_SUCCESS &&
         check_received(wanted.buffer, wanted.count, wanted.type, wanted.tag) == MPI_SUCCESS;
}

// The features' own calls, by the type of their counts.
template <class Count>
struct Handled {
  static constexpr auto isend = &Isend;
  static constexpr auto recv = &Recv;
  static constexpr auto irecv = &Irecv;
};
#if FAIRLEAD_LARGE_COUNTS
template <>
struct Handled<MPI_Count> {
  static constexpr auto isend = &Isend_c;
  static constexpr auto recv = &Recv_c;
  static constexpr auto irecv = &Irecv_c;
};
#endif

// The send is started before the message is received, so that neither can block the other. The
// receive is a blocking one, since MPICH reports errors of requests to MPI_COMM_WORLD.
// @param start  starts the send
template <class Count, class Start>
int exchange(const Wanted<Count>& wanted, const Start& start, MPI_Status* status) {
  MPI_Request request{};
  if (const int code = start(&request); code != MPI_SUCCESS) return code;
  const auto [buffer, count, type, source, tag, comm] = wanted;
  const int code = Handled<Count>::recv(buffer, count, type, source, tag, comm, status);
  const int code_of_send = Wait(&request, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : code_of_send;
}

// A copy of the message of a send.
template <class Count>
struct Copied {
  std::vector<std::byte> bytes{};
  Count count;
  MPI_Datatype type;

  int start(int dest, int tag, MPI_Comm comm, MPI_Request* request) const {
    return Handled<Count>::isend(bytes.data(), count, type, dest, tag, comm, request);
  }
};

// Nothing where the MPI cannot pack it.
template <class Count>
std::optional<Copied<Count>> copied(const void* buffer, Count count, MPI_Datatype type) {
  Copied<Count> copy{.count = count, .type = type};
  if (count == 0) return copy;
  if (!pack(buffer, count, type, copy.bytes)) return std::nullopt;
  if (is_plain(type)) return copy;
  copy.count = static_cast<Count>(copy.bytes.size());
  copy.type = byte_type();
  return copy;
}

// @param native  the MPI's own call
template <class Count, class Native>
int exchange_in_place(const Wanted<Count>& wanted, int dest, int tag, MPI_Status* status,
                      const Native& native) {
  const Sent<Count> sent{wanted.buffer, wanted.count, wanted.type, dest, tag};
  if (!is_handled(sent, wanted) || !is_place(status)) return native();
  const auto copy = copied(wanted.buffer, wanted.count, wanted.type);
  if (!copy) return native();
  const auto start = [&](MPI_Request* request) {
    return copy->start(dest, tag, wanted.comm, request);
  };
  return exchange(wanted, start, status);
}

#if FAIRLEAD_MPI4_REQUESTS
// A send that needs no request.
template <class Count>
int start_copied(const Sent<Count>& sent, MPI_Comm comm, Copied<Count> copy) {
  MPI_Request request{};
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::copied_send;
  const int code = copy.start(sent.dest, sent.tag, comm, &request);
  entry->copy = std::move(copy.bytes);  // It stays where it is.
  if (code == MPI_SUCCESS) complete_later(request, std::move(entry));
  return code;
}

// The receive's request stands for both: that of the MPI's own call does not show what came
// (MPICH 4.0 leaves its status empty).
// @param native  the MPI's own call
template <class Count, class Native>
int start_exchange(const Sent<Count>& sent, const Wanted<Count>& wanted, MPI_Request* request,
                   const Native& native) {
  if (request == nullptr || !is_handled(sent, wanted)) return native();
  auto copy = copied(sent.buffer, sent.dest == MPI_PROC_NULL ? Count{0} : sent.count, sent.type);
  if (!copy) return native();
  const auto [buffer, count, type, source, tag, comm] = wanted;
  int code = Handled<Count>::irecv(buffer, count, type, source, tag, comm, request);
  if (code != MPI_SUCCESS) return code;
  code = start_copied(sent, comm, std::move(*copy));
  if (code == MPI_SUCCESS) return code;
  Cancel(request);
  Wait(request, MPI_STATUS_IGNORE);
  return code;
}
#endif

}  // namespace

#define EXCHANGES(suffix, Count)                                                                 \
  int Sendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,    \
                       int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype,       \
                       int source, int recvtag, MPI_Comm comm, MPI_Status* status) {             \
    const Wanted<Count> wanted{recvbuf, recvcount, recvtype, source, recvtag, comm};             \
    const Sent<Count> sent{sendbuf, sendcount, sendtype, dest, sendtag};                         \
    if (!is_handled(sent, wanted) || !is_place(status)) {                                        \
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
    return exchange_in_place(wanted, dest, sendtag, status, [&] {                                \
      return mpi().Sendrecv_replace##suffix(buffer, count, type, dest, sendtag, source, recvtag, \
                                            comm, status);                                       \
    });                                                                                          \
  }

EXCHANGES(, int)
#if FAIRLEAD_LARGE_COUNTS
EXCHANGES(_c, MPI_Count)
#endif

#if FAIRLEAD_MPI4_REQUESTS
#define STARTED_EXCHANGES(suffix, Count)                                                       \
  int Isendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, \
                        int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype,    \
                        int source, int recvtag, MPI_Comm comm, MPI_Request* request) {        \
    return start_exchange(                                                                     \
        Sent<Count>{sendbuf, sendcount, sendtype, dest, sendtag},                              \
        Wanted<Count>{recvbuf, recvcount, recvtype, source, recvtag, comm}, request, [&] {     \
          return mpi().Isendrecv##suffix(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, \
                                         recvcount, recvtype, source, recvtag, comm, request); \
        });                                                                                    \
  }                                                                                            \
  int Isendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest,        \
                                int sendtag, int source, int recvtag, MPI_Comm comm,           \
                                MPI_Request* request) {                                        \
    return start_exchange(                                                                     \
        Sent<Count>{buffer, count, type, dest, sendtag},                                       \
        Wanted<Count>{buffer, count, type, source, recvtag, comm}, request, [&] {              \
          return mpi().Isendrecv_replace##suffix(buffer, count, type, dest, sendtag, source,   \
                                                 recvtag, comm, request);                      \
        });                                                                                    \
  }

STARTED_EXCHANGES(, int)
#if FAIRLEAD_LARGE_COUNTS
STARTED_EXCHANGES(_c, MPI_Count)
#endif
#endif

}  // namespace fairlead::intercept::relay
