// SPDX-License-Identifier: Apache-2.0
// Start of a session, collection of results, end of the session; without MPI collectives, which
// have no timeout.
#include "pairs/rendezvous.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "fairlead/host_identity.hpp"
#include "fairlead/node_name.hpp"

namespace fairlead::probe {
namespace {

int size_of(MPI_Comm comm) {
  int num_ranks = 0;
  MPI_Comm_size(comm, &num_ranks);
  return num_ranks;
}

/// Equal for processes under one kernel, also in different containers or network namespaces.
std::int64_t machine_identity() {
  return static_cast<std::int64_t>(std::hash<std::string>{}(boot_id()));
}

/// A process that measures keeps a core busy. Hosts that are containers of one machine share its
/// cores, so only as many pairs are measured at a time as there are cores for both partners: on
/// 2 cores and 32 hosts, two pairs at a time took as long as one and had 3.5 times its latency.
Behaviour decide(const Options& options, const std::map<std::int64_t, int>& ranks_of_machine,
                 int num_ranks) {
  const int all_pairs = std::max(1, num_ranks / 2);
  const int num_cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  int most_ranks = 0;
  for (const auto& [machine, ranks] : ranks_of_machine) most_ranks = std::max(most_ranks, ranks);
  const bool is_crowded = most_ranks > num_cores;
  Behaviour behaviour{
      .concurrency = all_pairs, .yields = is_crowded, .shares_machine = most_ranks > 1};
  if (options.concurrency > 0) {
    behaviour.concurrency = std::min(options.concurrency, all_pairs);
  } else if (is_crowded) {
    behaviour.concurrency = std::clamp(num_cores / 2, 1, all_pairs);
  }
  return behaviour;
}

struct ReportHead {
  std::uint64_t host;
  std::int32_t has_given_up;
  char node_name[65];
};

std::vector<std::byte> pack(const Findings& findings) {
  ReportHead head{
      .host = host_identity(), .has_given_up = findings.has_given_up ? 1 : 0, .node_name = {}};
  node_name().copy(head.node_name, sizeof head.node_name - 1);
  const std::size_t results_bytes = findings.results.size() * sizeof(PairResult);
  std::vector<std::byte> packed(sizeof head + results_bytes);
  std::memcpy(packed.data(), &head, sizeof head);
  if (results_bytes > 0) {
    std::memcpy(packed.data() + sizeof head, findings.results.data(), results_bytes);
  }
  return packed;
}

/// Receives the reports of all ranks, in any order.
class Reports {
 public:
  explicit Reports(MPI_Comm comm)
      : comm_(comm), reports_(static_cast<std::size_t>(size_of(comm))) {}

  [[nodiscard]] bool has(int src) { return take_in(), reports_[index(src)].is_complete; }

  void unpack(int src, Outcome& outcome) const {
    const auto& packed = reports_[index(src)].packed;
    ReportHead head{};
    std::memcpy(&head, packed.data(), sizeof head);
    outcome.node_names[index(src)] = head.node_name;
    outcome.host_identities[index(src)] = head.host;
    if (head.has_given_up != 0) outcome.is_orderly = false;
    const std::size_t num_before = outcome.results.size();
    const std::size_t results_bytes = packed.size() - sizeof head;
    if (results_bytes == 0) return;
    outcome.results.resize(num_before + results_bytes / sizeof(PairResult));
    std::memcpy(outcome.results.data() + num_before, packed.data() + sizeof head, results_bytes);
  }

 private:
  struct Report {
    std::vector<std::byte> packed;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_complete = false;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  void take_in() {
    int has_arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, report_tag, comm_, &has_arrived, &status);
    if (has_arrived != 0) {
      int num_bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &num_bytes);
      Report& report = reports_[index(status.MPI_SOURCE)];
      report.packed.resize(static_cast<std::size_t>(num_bytes));
      MPI_Irecv(report.packed.data(), num_bytes, MPI_BYTE, status.MPI_SOURCE, report_tag, comm_,
                &report.request);
    }
    for (Report& report : reports_) {
      if (report.request == MPI_REQUEST_NULL) continue;
      int is_complete = 0;
      MPI_Test(&report.request, &is_complete, MPI_STATUS_IGNORE);
      report.is_complete = is_complete != 0;
    }
  }

  MPI_Comm comm_;
  std::vector<Report> reports_;
};

}  // namespace

Behaviour start_session(MPI_Comm comm, const Options& options, ControlChannel& control) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int num_ranks = size_of(comm);
  if (rank != 0) {
    control.post(0, MessageKind::hello, 0, machine_identity());
    const auto is_started = [&] { return control.has(0, MessageKind::start); };
    if (!control.wait(0, is_started)) return {.concurrency = std::max(1, num_ranks / 2)};
    const Message& start = control.message(0, MessageKind::start);
    return {.concurrency = start.value, .yields = start.data != 0};
  }
  std::map<std::int64_t, int> ranks_of_machine = {{machine_identity(), 1}};
  for (int src = 1; src < num_ranks; ++src) {
    if (control.wait(src, [&] { return control.has(src, MessageKind::hello); })) {
      ++ranks_of_machine[control.message(src, MessageKind::hello).data];
    } else {
      control.announce_silent(src);
    }
  }
  const Behaviour behaviour = decide(options, ranks_of_machine, num_ranks);
  for (int dst = 1; dst < num_ranks; ++dst) {
    control.post(dst, MessageKind::start, behaviour.concurrency, behaviour.yields ? 1 : 0);
  }
  return behaviour;
}

Outcome collect(MPI_Comm comm, Findings findings, ControlChannel& control) {
  const int num_ranks = size_of(comm);
  Outcome outcome{
      .results = std::move(findings.results),
      .num_rounds = findings.num_rounds,
      .node_names = std::vector<std::string>(static_cast<std::size_t>(num_ranks)),
      .host_identities = std::vector<std::uint64_t>(static_cast<std::size_t>(num_ranks)),
      .is_orderly = !findings.has_given_up};
  outcome.node_names[0] = node_name();
  outcome.host_identities[0] = host_identity();
  Reports reports(comm);
  for (int src = 1; src < num_ranks; ++src) {
    if (control.wait(src, [&] { return reports.has(src); }, [] { return kLongPause_s; })) {
      reports.unpack(src, outcome);
    } else {
      outcome.is_orderly = false;
      control.announce_silent(src);
    }
  }
  return outcome;
}

bool hand_in(MPI_Comm comm, const Findings& findings, ControlChannel& control,
             const std::function<void()>& serve, double longest_pause_s) {
  const std::vector<std::byte> packed = pack(findings);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, 0, report_tag, comm,
            &request);
  int is_sent = 0;
  const auto is_done = [&] {
    if (is_sent == 0) MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE);
    serve();
    return control.has(0, MessageKind::done);
  };
  // A process that only waits must not take processor time from the flows of others.
  const bool is_ended = control.wait(0, is_done, [&] { return longest_pause_s; });
  return is_ended && control.message(0, MessageKind::done).value != 0;
}

void end_session(MPI_Comm comm, const Outcome& outcome, ControlChannel& control) {
  constexpr double kFlushLimit_s = 1;
  for (int dst = 1; dst < size_of(comm); ++dst) {
    control.post(dst, MessageKind::done, outcome.is_orderly ? 1 : 0);
  }
  control.flush(kFlushLimit_s);
}

}  // namespace fairlead::probe
