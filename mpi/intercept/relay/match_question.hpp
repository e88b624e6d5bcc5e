// SPDX-License-Identifier: Apache-2.0
// A synchronous send of a rendezvous header's size completes when a receive has begun (MPI 4.0,
// section 3.4), not when a probe receives the header, which completes the send in the MPI. So after
// that the sender asks the receiver's messenger, which answers without the receiver's program.
#pragma once

#include <cstdint>

namespace fairlead::intercept::relay {

class MatchQuestion {
 public:
  /// @param message  number of the synchronous message
  MatchQuestion(std::uint32_t dst_rank, std::uint64_t message);

  /// Asks, if that was not done. @return whether a receive has begun
  /// @pre the send is complete in the MPI
  [[nodiscard]] bool is_matched();
  /// Waits for that.
  void wait();

 private:
  std::uint32_t dst_rank_;
  std::uint64_t message_;
  /// Reserved at the beginning, as the numbers of messages are.
  std::uint64_t number_;
  bool is_asked_ = false;
};

/// Lets the MPI make progress, and other threads run.
void make_progress();

}  // namespace fairlead::intercept::relay
