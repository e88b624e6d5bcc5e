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

}  // namespace fairlead::collectives
