// SPDX-License-Identifier: Apache-2.0
// The calls that wait, test, cancel and free.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "pmpi/argument_check.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/match_question.hpp"
#include "relay/relay.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::relay {
namespace {

// The entries of the requests of a call, null for requests that need nothing. They are removed from
// the feature's table as long as they are here.
class RequestEntries {
 public:
  // @param requests  the program's; updated as the MPI changes the requests that are passed to it
  RequestEntries(int count, MPI_Request* requests) : requests_(requests) {
    complete_freed();
    if (feature().requests.is_empty() || count <= 0 || requests == nullptr) return;
    entries_.resize(static_cast<std::size_t>(count));
    for (std::size_t index = 0; index < entries_.size(); ++index) {
      entries_[index] = feature().requests.extract(&requests[index]);
      has_any_ |= entries_[index] != nullptr;
    }
  }
  RequestEntries(const RequestEntries&) = delete;
  RequestEntries& operator=(const RequestEntries&) = delete;
  // Puts back the entries of requests that were not completed, or are persistent.
  ~RequestEntries() {
    for (std::size_t index = 0; index < entries_.size(); ++index) keep(index);
  }

  [[nodiscard]] bool has_any() const { return has_any_; }
  [[nodiscard]] Entry& first() { return *entries_.front(); }

  /// Whether one is a synchronous send that completes by an answer of the receiver's messenger, of
  /// which the MPI knows nothing.
  [[nodiscard]] bool has_question() const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const EntryPtr& entry) { return entry && entry->question; });
  }

  /// Leaves out of calls the requests of ours that are not ready, since the MPI might complete them
  /// before their message or answer is here.
  /// @return whether there is any
  bool hide_unready() {
    return hide([this](std::size_t index) {
      MPI_Status status{};
      return entries_[index] && !is_ready(*entries_[index], requests_[index], status);
    });
  }

  /// Leaves out of calls whatever is not complete, so that a call that waits returns at once.
  /// @return whether there is any
  bool hide_incomplete() {
    return hide([this](std::size_t index) {
      MPI_Status status{};
      if (entries_[index]) return !is_ready(*entries_[index], requests_[index], status);
      if (requests_[index] == request_null()) return false;
      int is_complete = 0;
      const int code = mpi().Request_get_status(requests_[index], &is_complete, &status);
      return code == MPI_SUCCESS && is_complete == 0;
    });
  }

  /// Makes a call with the requests that the MPI knows.
  template <class Call>
  int call(const Call& make) {
    MpiRequests known(*this);
    return make(known.requests.data());
  }

  /// @pre the MPI has completed the request
  int complete(std::size_t index, MPI_Status& status) {
    if (!entries_[index]) return MPI_SUCCESS;
    Entry& entry = *entries_[index];
    const int code = finish(entry, status);
    if (code != MPI_SUCCESS) peers_of_error_ = entry.peers;
    if (!entry.is_persistent()) entries_[index].reset();
    return code;
  }
  /// The request has failed in the MPI.
  void drop(std::size_t index) {
    if (!entries_[index]) return;
    Entry& entry = *entries_[index];
    entry.is_active = false;
    entry.found.reset();
    entry.substitute.reset();
    entry.question.reset();
    if (!entry.is_persistent()) entries_[index].reset();
  }
  /// Calls the error handler with an error of a completed request.
  int report_error(int code) { return peers_of_error_ ? report(*peers_of_error_, code) : code; }

 private:
  template <class IsHidden>
  bool hide(const IsHidden& is_hidden) {
    is_hidden_.assign(entries_.size(), false);
    for (std::size_t index = 0; index < entries_.size(); ++index) {
      is_hidden_[index] = is_hidden(index);
    }
    return std::find(is_hidden_.begin(), is_hidden_.end(), true) != is_hidden_.end();
  }

  // The requests as the MPI knows them; what it does to them is done to the program's, also where
  // its error handler leaves the call by an exception.
  struct MpiRequests {
    explicit MpiRequests(RequestEntries& all) : entries(all), requests(all.entries_.size()) {
      for (std::size_t index = 0; index < requests.size(); ++index) {
        requests[index] = entries.in_mpi(index);
      }
    }
    MpiRequests(const MpiRequests&) = delete;
    MpiRequests& operator=(const MpiRequests&) = delete;
    ~MpiRequests() {
      for (std::size_t index = 0; index < requests.size(); ++index) {
        if (entries.is_hidden(index) || entries.has_substitute(index)) continue;
        entries.requests_[index] = requests[index];
      }
    }

    RequestEntries& entries;
    std::vector<MPI_Request> requests;
  };

  [[nodiscard]] bool is_hidden(std::size_t index) const {
    return !is_hidden_.empty() && is_hidden_[index];
  }
  [[nodiscard]] bool has_substitute(std::size_t index) const {
    return entries_[index] && entries_[index]->substitute;
  }
  [[nodiscard]] MPI_Request in_mpi(std::size_t index) const {
    if (is_hidden(index)) return request_null();
    return entries_[index] ? entries_[index]->request_in_mpi(requests_[index]) : requests_[index];
  }
  // A request that is null now has failed, in a call that does not report which requests have
  // failed.
  void keep(std::size_t index) {
    if (!entries_[index] || requests_[index] == request_null()) return;
    feature().requests.insert(requests_[index], std::move(entries_[index]));
  }

  MPI_Request* requests_;
  std::vector<EntryPtr> entries_;
  std::vector<bool> is_hidden_;
  bool has_any_ = false;
  std::shared_ptr<Peers> peers_of_error_;
};

// After a call that completes several: finishes those which the MPI has completed.
// @param index_of  which request each status belongs to
template <class IndexOf>
int complete_all(RequestEntries& entries, int code, int num_done, MPI_Status* statuses,
                 const IndexOf& index_of) {
  // Only then are the statuses' errors set (MPI 4.0, section 3.2.5).
  const bool has_failed = code == MPI_ERR_IN_STATUS;
  std::vector<int> own_codes(static_cast<std::size_t>(num_done), MPI_SUCCESS);
  bool has_own_error = false;
  for (int done = 0; done < num_done; ++done) {
    const std::size_t index = index_of(done);
    MPI_Status& status = statuses[done];
    if (has_failed && status.MPI_ERROR != MPI_SUCCESS) {
      if (status.MPI_ERROR != MPI_ERR_PENDING) entries.drop(index);
      own_codes[static_cast<std::size_t>(done)] = status.MPI_ERROR;
      continue;
    }
    const int own_code = entries.complete(index, status);
    own_codes[static_cast<std::size_t>(done)] = own_code;
    has_own_error |= own_code != MPI_SUCCESS;
  }
  if (!has_own_error) return code;
  for (int done = 0; done < num_done; ++done) {
    statuses[done].MPI_ERROR = own_codes[static_cast<std::size_t>(done)];
  }
  // The MPI has called the error handler already.
  return has_failed ? code : entries.report_error(MPI_ERR_IN_STATUS);
}

// After a call that completes one of several, or none (MPI_UNDEFINED).
int complete_one(RequestEntries& entries, int code, int index, MPI_Status& own,
                 MPI_Status* status) {
  int own_code = MPI_SUCCESS;
  if (index != MPI_UNDEFINED && index >= 0) {
    const auto done = static_cast<std::size_t>(index);
    if (code == MPI_SUCCESS) {
      own_code = entries.complete(done, own);
    } else {
      entries.drop(done);
    }
  }
  copy_status(own, status);
  return own_code == MPI_SUCCESS ? code : entries.report_error(own_code);
}

// Whether the pointers of a call are not null. If one is missing, the MPI reports that.
template <class... Pointers>
bool are_places(const MPI_Status* statuses, const Pointers*... others) {
  return is_place(statuses) && (... && (others != nullptr));
}

// Statuses of our own where the program wants none.
class Statuses {
 public:
  Statuses(int count, MPI_Status* wanted) {
    if (wanted != MPI_STATUSES_IGNORE) {
      statuses_ = wanted;
      return;
    }
    own_.resize(static_cast<std::size_t>(std::max(count, 0)));
    statuses_ = own_.data();
  }
  [[nodiscard]] MPI_Status* data() { return statuses_; }

 private:
  std::vector<MPI_Status> own_;
  MPI_Status* statuses_ = nullptr;
};

}  // namespace

int Wait(MPI_Request* request, MPI_Status* status) {
  RequestEntries entries(1, request);
  if (!entries.has_any() || !is_place(status)) return mpi().Wait(request, status);
  MPI_Status own{};
  const int code = entries.call([&](MPI_Request* known) { return mpi().Wait(known, &own); });
  return complete_one(entries, code, 0, own, status);
}

int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  RequestEntries entries(count, requests);
  if (!entries.has_any() || !is_place(statuses)) return mpi().Waitall(count, requests, statuses);
  Statuses own(count, statuses);
  const int code =
      entries.call([&](MPI_Request* known) { return mpi().Waitall(count, known, own.data()); });
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
  return complete_all(entries, code, count, own.data(),
                      [](int done) { return static_cast<std::size_t>(done); });
}

// Where a request is a synchronous send with an open question, the MPI may choose that one, since
// it does not see the answer. So only complete requests are passed to the MPI, in a loop. The call
// is Waitany, since Open MPI's Testany hides the error of a persistent request.
int Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  for (;;) {
    RequestEntries entries(count, requests);
    if (!entries.has_any() || !are_places(status, index)) {
      return mpi().Waitany(count, requests, index, status);
    }
    const bool has_hidden = entries.has_question() && entries.hide_incomplete();
    MPI_Status own{};
    *index = MPI_UNDEFINED;
    const int code =
        entries.call([&](MPI_Request* known) { return mpi().Waitany(count, known, index, &own); });
    const bool has_met_none = code == MPI_SUCCESS && *index == MPI_UNDEFINED;
    if (!has_hidden || !has_met_none) return complete_one(entries, code, *index, own, status);
    make_progress();
  }
}

int Waitsome(int count, MPI_Request requests[], int* num_done, int indices[],
             MPI_Status statuses[]) {
  for (;;) {
    RequestEntries entries(count, requests);
    if (!entries.has_any() || !are_places(statuses, num_done, indices)) {
      return mpi().Waitsome(count, requests, num_done, indices, statuses);
    }
    const bool has_hidden = entries.has_question() && entries.hide_incomplete();
    *num_done = MPI_UNDEFINED;
    Statuses own(count, statuses);
    const int code = entries.call([&](MPI_Request* known) {
      return mpi().Waitsome(count, known, num_done, indices, own.data());
    });
    if (*num_done != MPI_UNDEFINED) {
      return complete_all(entries, code, *num_done, own.data(),
                          [&](int done) { return static_cast<std::size_t>(indices[done]); });
    }
    if (!has_hidden || code != MPI_SUCCESS) return code;
    make_progress();
  }
}

int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  RequestEntries entries(1, request);
  if (!entries.has_any() || !are_places(status, flag)) return mpi().Test(request, flag, status);
  MPI_Status own{};
  *flag = 0;
  if (entries.hide_unready()) return MPI_SUCCESS;
  const int code = entries.call([&](MPI_Request* known) { return mpi().Test(known, flag, &own); });
  if (code == MPI_SUCCESS && *flag == 0) return code;
  return complete_one(entries, code, 0, own, status);
}

int Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  RequestEntries entries(count, requests);
  if (!entries.has_any() || !are_places(statuses, flag)) {
    return mpi().Testall(count, requests, flag, statuses);
  }
  *flag = 0;
  if (entries.hide_unready()) return MPI_SUCCESS;
  Statuses own(count, statuses);
  const int code = entries.call(
      [&](MPI_Request* known) { return mpi().Testall(count, known, flag, own.data()); });
  if (*flag == 0) return code;
  return complete_all(entries, code, count, own.data(),
                      [](int done) { return static_cast<std::size_t>(done); });
}

int Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  RequestEntries entries(count, requests);
  if (!entries.has_any() || !are_places(status, index, flag)) {
    return mpi().Testany(count, requests, index, flag, status);
  }
  const bool has_hidden = entries.hide_unready();
  MPI_Status own{};
  const int code = entries.call(
      [&](MPI_Request* known) { return mpi().Testany(count, known, index, flag, &own); });
  if (*flag != 0 && *index == MPI_UNDEFINED && has_hidden) *flag = 0;
  if (*flag == 0) return code;
  return complete_one(entries, code, *index, own, status);
}

int Testsome(int count, MPI_Request requests[], int* num_done, int indices[],
             MPI_Status statuses[]) {
  RequestEntries entries(count, requests);
  if (!entries.has_any() || !are_places(statuses, num_done, indices)) {
    return mpi().Testsome(count, requests, num_done, indices, statuses);
  }
  *num_done = MPI_UNDEFINED;
  const bool has_hidden = entries.hide_unready();
  Statuses own(count, statuses);
  const int code = entries.call([&](MPI_Request* known) {
    return mpi().Testsome(count, known, num_done, indices, own.data());
  });
  if (*num_done == MPI_UNDEFINED) {
    if (has_hidden) *num_done = 0;
    return code;
  }
  return complete_all(entries, code, *num_done, own.data(),
                      [&](int done) { return static_cast<std::size_t>(indices[done]); });
}

int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  RequestEntries entries(1, &request);
  if (!entries.has_any() || !are_places(status, flag)) {
    return mpi().Request_get_status(request, flag, status);
  }
  MPI_Status own{};
  *flag = is_ready(entries.first(), request, own) ? 1 : 0;
  if (*flag != 0) copy_status(own, status);
  return MPI_SUCCESS;
}

int Cancel(MPI_Request* request) {
  EntryPtr entry = feature().requests.extract(request);
  if (!entry) return mpi().Cancel(request);
  // What a probe has found is matched already, so it comes.
  int code = MPI_SUCCESS;
  if (!entry->found) {
    code = mpi().Cancel(request);
    entry->is_cancelled = true;
  }
  feature().requests.insert(*request, std::move(entry));
  return code;
}

// The message of a pending receive is still to come, even if no handle to it is left.
int Request_free(MPI_Request* request) {
  Relay& relay = feature();
  EntryPtr entry = relay.requests.extract(request);
  if (!entry) return mpi().Request_free(request);
  const bool is_pending = entry->kind == Entry::Kind::receive || entry->is_active;
  if (!is_pending || entry->kind == Entry::Kind::persistent_send) {
    // The MPI may still be sending the rendezvous header.
    if (entry->header) {
      const std::lock_guard guard(relay.headers_lock);
      static std::uint64_t number = 0;
      relay.headers[{~std::uint32_t{0}, ++number}] = std::move(entry->header);
    }
    return mpi().Request_free(request);
  }
  complete_later(*request, std::move(entry));
  *request = request_null();
  return MPI_SUCCESS;
}

}  // namespace fairlead::intercept::relay
