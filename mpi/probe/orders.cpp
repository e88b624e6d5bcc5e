// SPDX-License-Identifier: Apache-2.0
// Reading, sending and receiving orders; without MPI collectives, which have no timeout.
#include "orders.hpp"

#include <iostream>
#include <vector>

#include "control_channel.hpp"

namespace fairlead::probe {
namespace {

/// Sends the line to all others. Returns whether it was sent to each.
bool send_to_all(MPI_Comm comm, const std::string& line, double silence_timeout_s) {
  int num_ranks = 0;
  MPI_Comm_size(comm, &num_ranks);
  std::vector<MPI_Request> requests;
  for (int dst = 1; dst < num_ranks; ++dst) {
    MPI_Isend(line.data(), static_cast<int>(line.size()), MPI_CHAR, dst, order_text_tag, comm,
              &requests.emplace_back(MPI_REQUEST_NULL));
  }
  const double begin_s = now_s();
  for (int are_sent = 0; are_sent == 0;) {
    if (now_s() - begin_s > silence_timeout_s) return false;
    if (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &are_sent,
                    MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
      return false;
    }
    pause(now_s() - begin_s, kShortPause_s);
  }
  return true;
}

/// Waits for a line from rank 0. If rank 0 has died, the launcher ends this process.
std::string hear(MPI_Comm comm) {
  const double begin_s = now_s();
  int has_arrived = 0;
  MPI_Status status;
  for (;;) {
    if (MPI_Iprobe(0, order_text_tag, comm, &has_arrived, &status) != MPI_SUCCESS) return {};
    if (has_arrived != 0) break;
    pause(now_s() - begin_s, kIdlePause_s);
  }
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string line(static_cast<std::size_t>(length), '\0');
  MPI_Recv(line.data(), length, MPI_CHAR, 0, order_text_tag, comm, MPI_STATUS_IGNORE);
  return line;
}

}  // namespace

std::optional<Options> next_order(MPI_Comm comm, double silence_timeout_s) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string line;
  if (rank == 0) {
    // At the end of the input the line is empty, which ends the others.
    std::getline(std::cin, line);
    if (!send_to_all(comm, line, silence_timeout_s)) return std::nullopt;
  } else {
    line = hear(comm);
  }
  if (line.empty()) return std::nullopt;
  return parse_order(line);
}

}  // namespace fairlead::probe
