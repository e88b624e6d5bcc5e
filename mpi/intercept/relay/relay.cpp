// SPDX-License-Identifier: Apache-2.0
// Start and end of the feature.
#include "relay/relay.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <thread>

#include "endpoint/reach.hpp"
#include "handles/releases.hpp"
#include "plan/own_names.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "relay/completion.hpp"
#include "relay/relay_traffic.hpp"
#include "session/feature.hpp"

namespace fairlead::intercept {
namespace relay {
namespace {

using fairlead::relay::Address;
using fairlead::relay::EndpointConfig;
using fairlead::relay::StartTimeouts;

constexpr const char* kRelayFile = "relay.json";
// Counts of bytes are int in most calls.
constexpr std::uint64_t kMostBytes = 0x7fffffff;

void complain(const char* problem) noexcept {
  std::fprintf(stderr, "fairlead: no message is relayed: %s\n", problem);
}

template <class Value>
std::vector<Value> gather_all(const Value& own, int num_ranks) {
  std::vector<Value> all(static_cast<std::size_t>(num_ranks));
  mpi().Allgather(&own, sizeof own, byte_type(), all.data(), sizeof own, byte_type(), comm_world());
  return all;
}

// The first rank with a problem reports it.
bool is_fine_on_all(const std::string& problem, const Session& session) {
  const auto fine = gather_all<char>(problem.empty() ? 1 : 0, session.num_ranks);
  const auto first = std::find(fine.begin(), fine.end(), 0);
  if (first == fine.end()) return true;
  if (first - fine.begin() == session.rank) complain(problem.c_str());
  return false;
}

// The receiver has matched a message, or answers a question.
void note_match(std::uint32_t dst_rank, std::uint64_t number) {
  Relay& relay = feature();
  {
    const std::lock_guard guard(relay.questions_lock);
    relay.unanswered.erase({dst_rank, number});
  }
  const std::lock_guard guard(relay.headers_lock);
  relay.headers.erase({dst_rank, number});
}

EndpointConfig config_of(const RelayPlan& plan) {
  const Relay& relay = feature();
  EndpointConfig config;
  config.key = plan.key;
  config.rank = relay.own_rank;
  config.host = relay.own_host;
  config.host_of_rank = relay.host_of_rank;
  config.socket = plan.socket_of_host[relay.own_host];
  config.paths_of_host = plan.paths[relay.own_host];
  config.rule = plan.rule;
  config.zones = plan.zones;
  config.is_rehearsal = plan.is_rehearsal;
  config.segment_s_of_link = plan.segment_s_of_link;
  config.capacity_Bps_of_host = plan.capacity_Bps[relay.own_host];
  return config;
}

// Reads the plan, and finds this process's host in it.
bool prepare(const Session& session, RelayPlan& plan) {
  Relay& relay = feature();
  std::string problem;
  try {
    const Plan& files = session.plan;
    plan = parse_relay_plan({files.path(kNetworkFile), files.text(kNetworkFile)},
                            {files.path(kRelayFile), files.text(kRelayFile)});
    const std::vector<std::string> names = own_names();
    const int host = find_host(plan.network, names);
    if (host == kUnknownHost) {
      problem = "host '" + (names.empty() ? "?" : names.front()) + "' is not in the plan";
    }
    relay.own_host = static_cast<std::uint16_t>(std::max(host, 0));
    (void)fairlead::relay::Sodium::loaded();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return is_fine_on_all(problem, session);
}

// Once the MPI has carried a rendezvous header, only routers or messengers can deliver its message.
// So all of them must be reachable before the first message; a firewall may admit only the MPI's
// ports.
std::string reach_others(const RelayPlan& plan, std::span<const Address> address_of_rank) {
  const Relay& relay = feature();
  const StartTimeouts timeouts;
  const auto name_of = [&](std::uint16_t host) { return plan.network.names_of_host[host].front(); };
  if (!relay.messenger->wait_for_router(timeouts)) {
    return "the router of host '" + name_of(relay.own_host) + "' did not answer";
  }
  std::vector<Address> addresses;
  const auto ranks = fairlead::relay::ranks_to_reach(relay.host_of_rank, relay.own_rank);
  for (const std::uint32_t rank : ranks) addresses.push_back(address_of_rank[rank]);
  const auto found = fairlead::relay::find_unreached(addresses, relay.own_rank, plan.key, timeouts);
  if (!found) return {};
  return "host '" + name_of(relay.own_host) + "' could not reach a process on host '" +
         name_of(relay.host_of_rank[ranks[*found]]) + "' at " + addresses[*found].host + ", port " +
         std::to_string(addresses[*found].port);
}

bool start_messenger(const Session& session, const RelayPlan& plan) {
  Relay& relay = feature();
  relay.own_rank = static_cast<std::uint32_t>(session.rank);
  relay.host_of_rank = gather_all(relay.own_host, session.num_ranks);
  relay.threshold_bytes = plan.threshold_bytes;
  relay.mpi_bytes_of_host =
      std::vector<std::atomic<std::uint64_t>>(plan.network.names_of_host.size());
  relay.is_forced = plan.is_forced;
  int level = MPI_THREAD_SINGLE;
  mpi().Query_thread(&level);
  relay.is_threaded = level == MPI_THREAD_MULTIPLE;
  const std::string& address = plan.address_of_host[relay.own_host];
  std::string problem;
  try {
    relay.messenger = std::make_unique<Messenger>(config_of(plan), address, note_match);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!is_fine_on_all(problem, session)) {
    relay.messenger.reset();
    return false;
  }
  const auto ports = gather_all(relay.messenger->port(), session.num_ranks);
  std::vector<Address> addresses;
  addresses.reserve(ports.size());
  for (std::size_t rank = 0; rank < ports.size(); ++rank) {
    addresses.push_back({plan.address_of_host[relay.host_of_rank[rank]], ports[rank]});
  }
  try {
    relay.messenger->start(addresses);
    problem = reach_others(plan, addresses);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!is_fine_on_all(problem, session)) {
    relay.messenger.reset();
    return false;
  }
  mpi().Comm_dup(comm_self(), &relay.self);
  mpi().Comm_dup(comm_world(), &relay.world);
  mpi().Comm_set_errhandler(relay.world, errors_return());
  ask_before_freeing([](MPI_Comm comm) -> std::shared_ptr<void> { return known_peers_of(comm); });
  return true;
}

// The mode of messages for which there is no choice. One that has the size of a rendezvous header
// must go by routers, since the receiver would take it for a header.
std::optional<TransferMode> fixed_mode(const Relay& relay, std::uint64_t size_bytes) {
  if (size_bytes == kRendezvousHeaderBytes) return TransferMode::striped;
  if (size_bytes < std::max<std::uint64_t>(relay.threshold_bytes, kRendezvousHeaderBytes))
    return TransferMode::mpi;
  if (size_bytes > kMostBytes) return TransferMode::mpi;
  if (relay.is_forced) return TransferMode::striped;
  return std::nullopt;
}

}  // namespace

Relay& feature() {
  static Relay* const instance = new Relay;
  return *instance;
}

std::optional<PendingSend> begin_send(std::uint32_t dst_rank, std::uint64_t size_bytes,
                                      bool must_use_routers) {
  Relay& relay = feature();
  const auto mode = fixed_mode(relay, size_bytes);
  if (mode == TransferMode::mpi && !must_use_routers) return std::nullopt;
  // A message of the size of a rendezvous header has to be relayed; others only while there is
  // space.
  const bool must = must_use_routers || size_bytes == kRendezvousHeaderBytes;
  return relay.messenger->begin_send(dst_rank, size_bytes, mode, must);
}

void count_by_mpi(std::uint32_t dst_rank, std::uint64_t size_bytes) {
  Relay& relay = feature();
  if (size_bytes < relay.threshold_bytes) return;
  relay.mpi_bytes_of_host[relay.host_of_rank[dst_rank]] += size_bytes;
}

bool is_worth_relaying(std::uint32_t dst_rank, std::uint64_t size_bytes) {
  Relay& relay = feature();
  if (const auto mode = fixed_mode(relay, size_bytes)) return *mode != TransferMode::mpi;
  return relay.messenger->is_striping_worth(relay.host_of_rank[dst_rank], size_bytes);
}

bool begin(const Session& session) noexcept try {
  if (!session.plan.has(kRelayFile)) return false;
  RelayPlan plan;
  return prepare(session, plan) && start_messenger(session, plan);
} catch (const std::exception& error) {
  complain(error.what());
  return false;
}

// Meanwhile freed receives take their messages: a large one does not come before it is matched.
void wait_for_others() {
  MPI_Request barrier{};
  mpi().Ibarrier(feature().world, &barrier);
  for (int is_over = 0; is_over == 0;) {
    complete_freed();
    mpi().Test(&barrier, &is_over, MPI_STATUS_IGNORE);
    if (is_over == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// No process leaves before all messages are acknowledged: until then its acks may have
// to be repeated.
void end() noexcept try {
  Relay& relay = feature();
  if (!relay.messenger) return;
  complete_freed();
  if (!relay.messenger->drain(complete_freed)) complain("some messages were not acknowledged");
  wait_for_others();
  complete_freed();
  write_relay_traffic();
  ask_before_freeing(nullptr);
  relay.messenger.reset();
  mpi().Comm_free(&relay.world);
  mpi().Comm_free(&relay.self);
} catch (const std::exception& error) {
  complain(error.what());
}

}  // namespace relay
}  // namespace fairlead::intercept
