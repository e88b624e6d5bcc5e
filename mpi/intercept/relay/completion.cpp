// SPDX-License-Identifier: Apache-2.0
#include "relay/completion.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "handles/releases.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {

std::uint64_t received_bytes(const MPI_Status& status) {
  MPI_Count count = 0;
  mpi().Get_elements_x(&status, byte_type(), &count);
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

std::optional<RendezvousHeader> header_in(const ReceiveBuffer& receive_buffer, const Peers& peers,
                                          const MPI_Status& status) {
  if (!peers.is_remote_rank(status.MPI_SOURCE)) return std::nullopt;
  if (received_bytes(status) != kRendezvousHeaderBytes) return std::nullopt;
  return fairlead::relay::parse_rendezvous_header(receive_buffer.start<kRendezvousHeaderBytes>());
}

int deliver(const ReceiveBuffer& receive_buffer, const RendezvousHeader& header,
            MPI_Status& status) {
  Messenger& messenger = *feature().messenger;
  const bool is_truncated = header.size_bytes > receive_buffer.capacity_bytes();
  if (is_truncated) {
    messenger.reject(header.src_rank, header.number);
  } else {
    receive_buffer.put(messenger.receive(header.src_rank, header.number).span());
  }
  const std::uint64_t size = std::min(header.size_bytes, receive_buffer.capacity_bytes());
  mpi().Status_set_elements_x(&status, byte_type(), static_cast<MPI_Count>(size));
  return is_truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int finish_receive(const ReceiveBuffer& receive_buffer, const Peers& peers, MPI_Status& status) {
  if (const auto header = header_in(receive_buffer, peers, status)) {
    return deliver(receive_buffer, *header, status);
  }
  if (receive_buffer.has_bounce_buffer())
    receive_buffer.put(receive_buffer.in_bounce_buffer(received_bytes(status)));
  return MPI_SUCCESS;
}

namespace {

// Whether a request for which MPI_Cancel was called has been cancelled.
bool is_cancelled(Entry& entry, const MPI_Status& status) {
  if (!std::exchange(entry.is_cancelled, false)) return false;
  int flag = 0;
  mpi().Test_cancelled(&status, &flag);
  return flag != 0;
}

}  // namespace

int finish(Entry& entry, MPI_Status& status) {
  const bool was_active = std::exchange(entry.is_active, false);
  if (entry.is_send()) {
    if (entry.question && !is_cancelled(entry, status)) entry.question->wait();
    entry.question.reset();
    return MPI_SUCCESS;
  }
  if (entry.is_persistent() && !was_active) return MPI_SUCCESS;
  entry.substitute.reset();
  const auto found = std::exchange(entry.found, std::nullopt);
  if (is_cancelled(entry, status)) return MPI_SUCCESS;
  if (!found || !found->header) return finish_receive(entry.receive_buffer, *entry.peers, status);
  status.MPI_SOURCE = found->source;
  status.MPI_TAG = found->tag;
  mpi().Wait(&entry.self_send, MPI_STATUS_IGNORE);
  return deliver(entry.receive_buffer, *found->header, status);
}

int report(Peers& peers, int code) {
  if (code == MPI_SUCCESS) return code;
  std::optional<MPI_Errhandler> last;
  {
    const std::lock_guard guard(peers.lock);
    last = peers.last_errhandler;
  }
  // In a delete callback the program may still use the communicator.
  if (!last || is_being_freed(peers.comm)) {
    mpi().Comm_call_errhandler(peers.comm, code);
    return code;
  }
  // The program has freed the communicator, so a duplicate of MPI_COMM_SELF gets its error handler.
  MPI_Comm comm{};
  mpi().Comm_dup(comm_self(), &comm);
  mpi().Comm_set_errhandler(comm, *last);
  mpi().Comm_call_errhandler(comm, code);
  mpi().Comm_free(&comm);
  return code;
}

bool is_ready(Entry& entry, MPI_Request own, MPI_Status& status) {
  int is_complete = 0;
  const MPI_Request request = entry.request_in_mpi(own);
  if (mpi().Request_get_status(request, &is_complete, &status) != MPI_SUCCESS) return true;
  if (is_complete == 0) return false;
  if (entry.is_send()) {
    if (!entry.question) return true;
    int is_cancelled = 0;
    if (entry.is_cancelled) mpi().Test_cancelled(&status, &is_cancelled);
    return is_cancelled != 0 || entry.question->is_matched();
  }
  if (entry.is_persistent() && !entry.is_active) return true;
  const auto header =
      entry.found ? entry.found->header : header_in(entry.receive_buffer, *entry.peers, status);
  if (!header) return true;
  if (entry.found) {
    status.MPI_SOURCE = entry.found->source;
    status.MPI_TAG = entry.found->tag;
  }
  const std::uint64_t size = std::min(header->size_bytes, entry.receive_buffer.capacity_bytes());
  mpi().Status_set_elements_x(&status, byte_type(), static_cast<MPI_Count>(size));
  Messenger& messenger = *feature().messenger;
  if (header->size_bytes > entry.receive_buffer.capacity_bytes()) return true;
  if (messenger.has(header->src_rank, header->number)) return true;
  // The sender sends all of a large message only after it is matched.
  if (!std::exchange(entry.is_match_sent, true)) {
    messenger.match(header->src_rank, header->number);
  }
  return false;
}

void complete_later(MPI_Request request, EntryPtr entry) {
  Relay& relay = feature();
  const std::lock_guard guard(relay.freed_lock);
  relay.freed.emplace_back(request, std::move(entry));
  relay.num_freed.store(relay.freed.size(), std::memory_order_relaxed);
}

void complete_freed() {
  Relay& relay = feature();
  if (relay.num_freed.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard guard(relay.freed_lock);
  std::erase_if(relay.freed, [](auto& each) {
    MPI_Status status{};
    auto& [own, entry] = each;
    if (!is_ready(*entry, own, status)) return false;
    MPI_Request request = entry->request_in_mpi(own);
    mpi().Wait(&request, &status);
    (void)finish(*entry, status);
    if (entry->is_persistent()) mpi().Request_free(&own);
    return true;
  });
  relay.num_freed.store(relay.freed.size(), std::memory_order_relaxed);
}

}  // namespace fairlead::intercept::relay
