// SPDX-License-Identifier: Apache-2.0
// fairlead-probe: measures latency and bandwidth between all processes of one MPI job.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "carried_by_tcp.hpp"
#include "flows/step_runner.hpp"
#include "hosts/host_runner.hpp"
#include "inside/host_inside.hpp"
#include "messages/rehearsal.hpp"
#include "orders.hpp"
#include "result.hpp"

namespace fairlead::probe {
namespace {

/// Runs flows together, led by this rank 0, and prints the result.
void probe_contention(const Options& options, StepRunner& step_runner, const Behaviour& behaviour,
                      Outcome& outcome) {
  // On one machine, many flows are limited by its processor, not by an interface.
  constexpr int kFlowsOnOneMachine = 4;
  const double begin_s = now_s();
  const auto measure = [&](std::span<const Flow> flows, Precision precision) {
    return step_runner.measure(flows, precision);
  };
  const auto num_hosts = static_cast<int>(outcome.node_names.size());
  const int most_flows = behaviour.shares_machine ? kFlowsOnOneMachine : kMostFlows;
  const ContentionFindings findings =
      options.interfaces ? find_interfaces(num_hosts, measure, kMostFlows)
                         : find_contention(num_hosts, measure,
                                           {.is_one_machine = behaviour.shares_machine,
                                            .max_nic_flows = most_flows});
  print_contention(findings, now_s() - begin_s);
  outcome.is_orderly = outcome.is_orderly && step_runner.is_orderly();
}

/// Carries out the options. Returns whether MPI can be finalized.
bool carry_out(MPI_Comm comm, const Options& options, ControlChannel& control) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Behaviour behaviour = start_session(comm, options, control);
  const double begin_s = now_s();
  const std::uint64_t earlier_tcp_bytes = acknowledged_tcp_bytes();
  Exchange exchange(comm, options, control, behaviour.yields);
  Findings findings = walk_tournament(comm, options, behaviour.concurrency, control, exchange);
  std::string report = options.inside ? look_inside(*options.inside, rank) : "";
  FlowRunner runner(comm, options.silence_timeout_s, control, behaviour.yields);
  Rehearsal rehearsal(comm, options, control, behaviour.yields);
  HostRunner host_runner(comm, control);
  const auto sent = [&] {
    const std::uint64_t tcp_bytes = acknowledged_tcp_bytes();
    return SentBytes{.by_mpi = exchange.sent_bytes() + rehearsal.sent_bytes(),
                     .by_tcp = tcp_bytes - std::min(tcp_bytes, earlier_tcp_bytes)};
  };
  const bool runs_flows = options.has_contention || options.interfaces;
  if (rank != 0) {
    if (options.inside) send_report(comm, report);
    const bool is_needed = runs_flows || options.rehearsal || options.has_hosts;
    const auto serve = [&] {
      host_runner.serve();
      runner.serve();
      rehearsal.serve();
    };
    return hand_in(comm, findings, control, serve, is_needed ? kLongPause_s : kIdlePause_s) &&
           !runner.has_given_up() && !rehearsal.has_given_up();
  }
  Outcome outcome = collect(comm, std::move(findings), control);
  const std::vector<std::optional<MeasuredHost>> hosts =
      options.has_hosts ? host_runner.conduct(outcome, behaviour.shares_machine)
                        : std::vector<std::optional<MeasuredHost>>{};
  outcome.is_orderly = outcome.is_orderly && host_runner.is_orderly();
  print_result(options, behaviour, outcome, hosts, now_s() - begin_s, sent());
  if (runs_flows) {
    StepRunner step_runner(comm, options, outcome, begin_s + options.budget_s, control, runner);
    probe_contention(options, step_runner, behaviour, outcome);
  }
  if (options.rehearsal) {
    const RehearsalFindings found = rehearsal.conduct(*options.rehearsal, outcome);
    print_rehearsal(found, sent());
  }
  if (options.inside) {
    print_inside(collect_reports(comm, std::move(report), outcome, control));
  }
  end_session(comm, outcome, control);
  return outcome.is_orderly && !rehearsal.has_given_up();
}

/// The main flow: one order, or one after the other. Returns whether MPI can be finalized.
bool run(MPI_Comm comm, const Options& first) {
  ControlChannel control(comm, first.silence_timeout_s);
  for (std::optional order = first; order; order = next_order(comm, first.silence_timeout_s)) {
    if (!carry_out(comm, *order, control)) return false;
    control.discard_messages();
    if (!first.has_more_orders) break;
  }
  return true;
}

/// Exits without MPI: with messages that will never be received, MPI_Finalize may wait forever.
[[noreturn]] void leave_at_once() {
  std::fflush(stderr);
  _exit(0);
}

/// Open MPI 4 waits for its sockets by poll, which checks each of them every time: with a socket to
/// every other host, this was the largest part of the probe's time. A setting of the user is kept.
void choose_event_loop() {
  setenv("OMPI_MCA_opal_event_include", "epoll", 0);
}

/// Ends the process even if MPI_Finalize hangs: MPICH 4.0 over UCX's TCP waits there for peers that
/// have already exited (openucx issue 8738). By then the result is delivered.
void bound_finalize() {
  constexpr unsigned kFinalizeLimit_s = 2;
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(kFinalizeLimit_s);
}

}  // namespace
}  // namespace fairlead::probe

int main(int argc, char** argv) {
  using namespace fairlead::probe;
  Options options;
  try {
    if (argc != 2) throw std::invalid_argument("order: expected one argument, a JSON object");
    options = parse_order(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead-probe: error %s\n", error.what());
    return 2;
  }
  choose_event_loop();
  MPI_Init(&argc, &argv);
  // A lost partner must not end the others: failed calls are treated as silence.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  try {
    if (!run(MPI_COMM_WORLD, options)) leave_at_once();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead-probe: error %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bound_finalize();
  MPI_Finalize();
  return 0;
}
