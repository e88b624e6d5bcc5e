// SPDX-License-Identifier: Apache-2.0
// The latencies of a program's own large messages. Included before its source (-include), it takes
// the place of MPI_Sendrecv, and at the end prints of each message a line
// "message SRC DST BYTES SENT SECONDS": from the call that sends it to its arrival. Clocks are
// CLOCK_MONOTONIC, which all processes of a machine share, so this is for emulated hosts.
#pragma once

#include <mpi.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace timed {

constexpr double kLeastBytes = 65536.0;

/// As doubles, to be gathered: peer, bytes, whether it was received, when.
struct Event {
  double peer;
  double bytes;
  double is_receive;
  double time_s;
};
inline std::vector<Event> events;

inline double clock_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline void note(int peer, int count, MPI_Datatype type, bool is_receive) {
  int size = 0;
  int rank = 0;
  MPI_Type_size(type, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double bytes = static_cast<double>(size) * count;
  if (bytes < kLeastBytes || peer == rank) return;
  events.push_back({static_cast<double>(peer), bytes, is_receive ? 1.0 : 0.0, clock_s()});
}

inline int sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int dst, int send_tag,
                    void* received, int receive_count, MPI_Datatype receive_type, int src,
                    int receive_tag, MPI_Comm comm, MPI_Status* /*ignored by the program*/) {
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(received, receive_count, receive_type, src, receive_tag, comm, &requests[0]);
  note(dst, send_count, send_type, false);
  MPI_Isend(sent, send_count, send_type, dst, send_tag, comm, &requests[1]);
  for (int left = 2; left > 0; --left) {
    int done = 0;
    const int code = MPI_Waitany(2, requests.data(), &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    if (done == 0) note(src, receive_count, receive_type, true);
  }
  return MPI_SUCCESS;
}

inline std::vector<Event> gathered(std::vector<int>& counts) {
  int num_ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  counts.assign(static_cast<std::size_t>(num_ranks), 0);
  const int count = static_cast<int>(4 * events.size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> starts(counts.size(), 0);
  int sum = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    starts[rank] = sum;
    sum += counts[rank];
  }
  std::vector<Event> all(static_cast<std::size_t>(sum) / 4);
  MPI_Gatherv(events.data(), count, MPI_DOUBLE, all.data(), counts.data(), starts.data(),
              MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

/// Messages between two ranks arrive in the order in which they are sent (one tag).
inline int finalize() {
  std::vector<int> counts;
  const std::vector<Event> all = gathered(counts);
  std::map<std::pair<int, int>, std::deque<Event>> sent;
  for (const bool is_receive : {false, true}) {
    std::size_t index = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      for (int each = 0; each < counts[rank] / 4; ++each) {
        const Event& event = all[index++];
        if (is_receive != (event.is_receive > 0.0)) continue;
        const int own = static_cast<int>(rank);
        const int peer = static_cast<int>(event.peer);
        if (!is_receive) {
          sent[{own, peer}].push_back(event);
          continue;
        }
        auto& waiting = sent[{peer, own}];
        if (waiting.empty()) continue;
        std::printf("message %d %d %.0f %.6f %.9f\n", peer, own, event.bytes,
                    waiting.front().time_s, event.time_s - waiting.front().time_s);
        waiting.pop_front();
      }
    }
  }
  return MPI_Finalize();
}

}  // namespace timed

#define MPI_Sendrecv timed::sendrecv
#define MPI_Finalize timed::finalize
