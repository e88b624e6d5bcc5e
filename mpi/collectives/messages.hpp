// SPDX-License-Identifier: Apache-2.0
// Messages under way: started one by one, finished in any order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "team.hpp"

namespace fairlead::collectives {

/// What the caller knows a message by.
struct MessageName {
  int edge = 0;
  int number = 0;
};

/// Messages of one collective call. What is still under way at the end, after an error, is given
/// up: requests are freed, and receives that nothing came for are cancelled.
class Messages {
 public:
  Messages(MPI_Comm comm, std::size_t max_under_way);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  [[nodiscard]] bool is_any_under_way() const { return num_under_way_ > 0; }

  int send(const void* data, std::uint64_t count, MPI_Datatype type, int rank, int tag,
           MessageName name);
  /// One that is under way until it is being received: a short send may be done at once, and then
  /// does not count for a limit.
  int send_synchronously(const void* data, std::uint64_t count, MPI_Datatype type, int rank,
                         int tag, MessageName name);
  int receive(void* data, std::uint64_t count, MPI_Datatype type, int rank, int tag,
              MessageName name);
  /// Waits until one is finished.
  /// @pre is_any_under_way()
  int wait(MessageName& name);
  /// Waits until all are finished.
  int wait_for_all();

 private:
  std::size_t take_place(MessageName name, bool is_receive);

  struct Place {
    MessageName name;
    bool is_receive = false;
  };
  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
  std::vector<Place> places_;
  std::vector<std::size_t> free_places_;
  std::size_t num_under_way_ = 0;
};

/// Exchanges all messages of one host: starts those that may start, waits for one, and so on.
/// @param form  has `post_receives(messages)` and `start_sends(messages)`, which start all that may
/// start, and `finish(name)`, which is called for each finished message
template <class Form>
int exchange(Form& form, Messages& messages) {
  for (;;) {
    if (const int code = form.post_receives(messages); code != MPI_SUCCESS) return code;
    if (const int code = form.start_sends(messages); code != MPI_SUCCESS) return code;
    if (!messages.is_any_under_way()) return MPI_SUCCESS;
    MessageName name;
    if (const int code = messages.wait(name); code != MPI_SUCCESS) return code;
    if (const int code = form.finish(name); code != MPI_SUCCESS) return code;
  }
}

}  // namespace fairlead::collectives
