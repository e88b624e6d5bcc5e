// SPDX-License-Identifier: Apache-2.0
// Each rank's own share of the trace, a file of its own (docs/design/trace-shares.md): written
// every 30 s and at the end of the program, in whichever way it ends, so that no trace is lost.
#pragma once

#include <string_view>

namespace fairlead::intercept {

/// What a share was written at; the word that it has for it is that of `name_of`.
enum class Occasion : int { interval, signal, abort, exit, finalize };

/// Whose shares they are.
struct ShareOf {
  int rank = 0;
  int num_ranks = 0;
  double start_s = 0.0;  // by now_s(), the end of MPI_Init
  /// Whether the trace is also gathered in MPI_Finalize; what is said where no share can be written
  /// depends on it.
  bool is_gathered = false;
};

/// Begins to write this rank's share into the folder that FAIRLEAD_SHARES names, if it names one
/// and a file can be made there; otherwise the first rank of each host says so in one line. From
/// then on a thread of its own, which takes no signals, writes it.
/// @return whether shares are written
bool begin_shares(const ShareOf& owner);

/// Whether shares are written by this process.
[[nodiscard]] bool are_shares_written() noexcept;

/// Writes the last share, once, and waits until it is written, at most two seconds (30 in
/// MPI_Finalize): what the program holds may keep it from being written, and then the one before is
/// the last. At a signal it then leaves other ranks half a second for theirs. May be called by a
/// signal handler.
void write_last_share(Occasion occasion) noexcept;

/// Ends the thread. No share is written afterwards.
void end_shares() noexcept;

}  // namespace fairlead::intercept
