// SPDX-License-Identifier: Apache-2.0
// Streams of messages with a few under way at a time, and their rate at the receiver.
#include "flows/flow_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <thread>

namespace fairlead::probe {
namespace {

// Messages under way. Sends are synchronous, so no more than these wait in the network's queues,
// and a flow ends soon after its last message.
constexpr int kNumSlots = 6;
// A late message of an aborted step must not be mistaken for one of the next.
constexpr int kFirstFlowTag = 1000;
constexpr int kNumFlowTags = 20000;

struct Arrival {
  double time_s;
  double bytes;
};

/// Bytes per second within the window, between the first and the last message that ended in it.
/// If there are few, because the flow is slow or the process was not running, all messages count.
double rate_Bps(const std::vector<Arrival>& arrivals, const FlowTiming& timing, double start_s) {
  constexpr int kFewest = 4;
  if (arrivals.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double begin_s = arrivals.front().time_s + timing.lead_s;
  auto first = std::ranges::find_if(arrivals, [&](auto& a) { return a.time_s >= begin_s; });
  auto end = std::find_if(first, arrivals.end(),
                          [&](auto& a) { return a.time_s > begin_s + timing.window_s; });
  const auto bytes = [](auto from, auto to) {
    return std::accumulate(from, to, 0.0, [](double sum, auto& a) { return sum + a.bytes; });
  };
  const auto is_long = [&](double duration_s) { return duration_s >= timing.window_s / 2; };
  if (end - first >= kFewest && is_long(std::prev(end)->time_s - first->time_s)) {
    return bytes(std::next(first), end) / (std::prev(end)->time_s - first->time_s);
  }
  const double all_s = arrivals.back().time_s - arrivals.front().time_s;
  if (is_long(all_s)) return bytes(std::next(arrivals.begin()), arrivals.end()) / all_s;
  return bytes(arrivals.begin(), arrivals.end()) / (arrivals.back().time_s - start_s);
}

/// One end of a running flow. An empty message ends each of its slots.
class Stream {
 public:
  Stream(MPI_Comm comm, const FlowEnd& end, int tag, std::byte* memory, double end_s)
      : comm_(comm), end_(end), tag_(tag), memory_(memory), end_s_(end_s) {
    for (int slot = 0; slot < kNumSlots; ++slot) is_sender() ? send(slot) : receive(slot);
  }

  [[nodiscard]] bool is_sender() const { return end_.is_sender != 0; }
  [[nodiscard]] bool is_over() const { return num_over_ == kNumSlots; }
  [[nodiscard]] double progress_s() const { return progress_s_; }
  [[nodiscard]] const std::vector<Arrival>& arrivals() const { return arrivals_; }

  /// Handles completed messages and starts the next ones. Returns whether there were any.
  bool advance() {
    bool has_moved = false;
    for (int slot = 0; slot < kNumSlots; ++slot) {
      MPI_Request& request = requests_[index(slot)];
      if (request == MPI_REQUEST_NULL) continue;
      int is_complete = 0;
      MPI_Status status;
      if (MPI_Test(&request, &is_complete, &status) != MPI_SUCCESS || is_complete == 0) continue;
      has_moved = true;
      progress_s_ = now_s();
      is_sender() ? sent(slot) : received(slot, status);
    }
    return has_moved;
  }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }

  void sent(int slot) { is_last_[index(slot)] ? void(++num_over_) : send(slot); }

  void received(int slot, const MPI_Status& status) {
    int num_bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &num_bytes);
    if (num_bytes <= 0) {
      ++num_over_;
      return;
    }
    arrivals_.push_back({.time_s = progress_s_, .bytes = static_cast<double>(num_bytes)});
    receive(slot);
  }

  void send(int slot) {
    is_last_[index(slot)] = now_s() >= end_s_;
    const auto bytes = is_last_[index(slot)] ? 0 : static_cast<int>(end_.message_bytes);
    MPI_Issend(memory_, bytes, MPI_BYTE, end_.peer, tag_, comm_, &requests_[index(slot)]);
  }

  void receive(int slot) {
    std::byte* place = memory_ + index(slot) * static_cast<std::size_t>(end_.message_bytes);
    MPI_Irecv(place, static_cast<int>(end_.message_bytes), MPI_BYTE, end_.peer, tag_, comm_,
              &requests_[index(slot)]);
  }

  MPI_Comm comm_;
  FlowEnd end_;
  int tag_;
  std::byte* memory_;
  double end_s_;
  double progress_s_ = now_s();
  int num_over_ = 0;
  std::array<bool, kNumSlots> is_last_{};
  std::array<MPI_Request, kNumSlots> requests_ = [] {
    std::array<MPI_Request, kNumSlots> none{};
    none.fill(MPI_REQUEST_NULL);
    return none;
  }();
  std::vector<Arrival> arrivals_;
};

}  // namespace

FlowRunner::FlowRunner(MPI_Comm comm, double silence_timeout_s, ControlChannel& control,
                       bool yields)
    : comm_(comm), silence_timeout_s_(silence_timeout_s), control_(control), yields_(yields) {}

FlowReport FlowRunner::run(const FlowOrder& order) {
  constexpr double kLookInterval_s = 0.01;
  const double start_s = now_s();
  const double end_s = start_s + order.timing.total_s();
  const int tag = kFirstFlowTag + order.step % kNumFlowTags;
  const std::span ends(order.ends.data(), static_cast<std::size_t>(order.num_flows));
  std::size_t num_bytes = 0;
  for (const FlowEnd& end : ends) num_bytes += static_cast<std::size_t>(end.message_bytes);
  std::byte* memory = buffer(num_bytes * kNumSlots).data();
  std::vector<Stream> streams;
  for (const FlowEnd& end : ends) {
    streams.emplace_back(comm_, end, tag, memory, end_s);
    memory += end.message_bytes * kNumSlots;
  }
  const auto is_done = [&](const Stream& stream) {
    return stream.is_over() || now_s() - std::max(stream.progress_s(), end_s) > silence_timeout_s_;
  };
  double looked_s = now_s();
  while (!std::ranges::all_of(streams, is_done)) {
    bool has_moved = false;
    for (Stream& stream : streams) has_moved |= stream.advance();
    if (!has_moved && yields_) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (now_s() - looked_s < kLookInterval_s) continue;
    control_.poll();
    looked_s = now_s();
  }
  FlowReport report{.step = order.step, .has_given_up = 0, .rates_Bps = {}};
  report.rates_Bps.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t flow = 0; flow < streams.size(); ++flow) {
    if (!streams[flow].is_over()) report.has_given_up = 1;
    if (!streams[flow].is_sender() && streams[flow].is_over()) {
      report.rates_Bps[flow] = rate_Bps(streams[flow].arrivals(), order.timing, start_s);
    }
  }
  if (report.has_given_up != 0) {
    has_given_up_ = true;
    buffers_.emplace_front();
  }
  return report;
}

void FlowRunner::serve() {
  int has_arrived = 0;
  if (MPI_Iprobe(0, order_tag, comm_, &has_arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      has_arrived == 0) {
    return;
  }
  FlowOrder order{};
  if (MPI_Recv(&order, sizeof order, MPI_BYTE, 0, order_tag, comm_, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS) {
    return;
  }
  // Only the last report may still be in transit: rank 0 waits for each.
  if (reports_.size() > 1) reports_.pop_front();
  reports_.push_back(run(order));
  control_.heard(0);  // waiting for a flow may have taken long
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&reports_.back(), sizeof(FlowReport), MPI_BYTE, 0, flow_report_tag, comm_, &request);
  MPI_Request_free(&request);
}

std::vector<std::byte>& FlowRunner::buffer(std::size_t bytes) {
  if (buffers_.empty()) buffers_.emplace_front();
  if (buffers_.front().size() < bytes) buffers_.front().resize(bytes, std::byte{1});
  return buffers_.front();
}

}  // namespace fairlead::probe
