// SPDX-License-Identifier: Apache-2.0
// Transfers of jobs in SimGrid, and how much of them hosts relay: each job has a router on each of
// its hosts, which lets other jobs have the interface first by its own rule
// (relay/router/pacing/relay_limit.hpp).
#pragma once

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "router/pacing/relay_limit.hpp"

class PacedHosts {
 public:
  /// As the router's (relay/router/pacing/relay_pacer.hpp, .cpp).
  static constexpr double kInterval_s = 0.05;
  static constexpr double kIdle_s = 1.0;

  struct Transfer {
    simgrid::s4u::CommPtr comm;
    std::size_t job;
    simgrid::s4u::Host* src;
    simgrid::s4u::Host* dst;
    /// Its sender has it from another host.
    bool is_relayed;
    /// When last looked at.
    double left_bytes;
  };
  using Handle = std::list<Transfer>::iterator;

  /// @param is_paced  whether hosts limit what they relay
  explicit PacedHosts(bool is_paced) : is_paced_(is_paced) {}

  Handle start(std::size_t job, simgrid::s4u::Host* src, simgrid::s4u::Host* dst,
               std::uint64_t bytes, bool is_relayed) {
    const auto comm = simgrid::s4u::Comm::sendto_init();
    if (is_relayed) pace(*comm, router(job, src));
    // Knowing both ends starts it.
    comm->set_payload_size(bytes)->set_source(src)->set_destination(dst);
    ++num_transfers_[src];
    ++num_transfers_[dst];
    transfers_.push_front({comm, job, src, dst, is_relayed, static_cast<double>(bytes)});
    return transfers_.begin();
  }

  /// Waits until it has arrived.
  void finish(Handle transfer) {
    transfer->comm->wait();
    count(*transfer, 0);
    --num_transfers_[transfer->src];
    --num_transfers_[transfer->dst];
    if (transfer->is_relayed) --router(transfer->job, transfer->src).num_relaying;
    transfers_.erase(transfer);
  }

  /// Transfers of all jobs by the interface of a host.
  [[nodiscard]] int num_transfers(const simgrid::s4u::Host* host) { return num_transfers_[host]; }

  /// To be called once in each interval: routers look at what has passed, and limit what they
  /// relay.
  void sample() {
    for (Transfer& each : transfers_) count(each, each.comm->get_remaining());
    const double now_s = simgrid::s4u::Engine::get_clock();
    for (auto& [key, each] : routers_) {
      if (each.limit.is_limited() || now_s - each.last_relayed_s < kIdle_s) {
        each.limit.update({.seconds = kInterval_s,
                           .all = passed_[key.second].bytes(),
                           .served = each.served.bytes(),
                           .relayed_bytes = static_cast<std::uint64_t>(each.relayed_bytes)});
      }
      each.served = {};
      each.relayed_bytes = 0;
      each.most_relaying = each.num_relaying;
    }
    passed_.clear();
  }

 private:
  struct Bytes {
    double received = 0;
    double sent = 0;
    [[nodiscard]] fairlead::router::InterfaceBytes bytes() const {
      return {.received = static_cast<std::uint64_t>(received),
              .sent = static_cast<std::uint64_t>(sent)};
    }
  };
  struct Router {
    fairlead::router::RelayLimit limit;
    Bytes served;
    double relayed_bytes = 0;
    double last_relayed_s = -kIdle_s;
    int num_relaying = 0;
    int most_relaying = 0;  ///< since the last sample
  };

  // Connections that have something to send share the limit; a segment keeps the rate with which it
  // begins.
  void pace(simgrid::s4u::Comm& comm, Router& router) const {
    router.last_relayed_s = simgrid::s4u::Engine::get_clock();
    router.most_relaying = std::max(++router.num_relaying, router.most_relaying);
    if (is_paced_ && router.limit.is_limited()) {
      comm.set_rate(router.limit.rate_Bps() / router.most_relaying);
    }
  }

  void count(Transfer& transfer, double left_bytes) {
    const double bytes = transfer.left_bytes - left_bytes;
    transfer.left_bytes = left_bytes;
    passed_[transfer.src].sent += bytes;
    passed_[transfer.dst].received += bytes;
    Router& sender = router(transfer.job, transfer.src);
    sender.served.sent += bytes;
    if (transfer.is_relayed) sender.relayed_bytes += bytes;
    router(transfer.job, transfer.dst).served.received += bytes;
  }

  Router& router(std::size_t job, const simgrid::s4u::Host* host) { return routers_[{job, host}]; }

  bool is_paced_;
  std::list<Transfer> transfers_;
  std::map<const simgrid::s4u::Host*, int> num_transfers_;
  std::map<const simgrid::s4u::Host*, Bytes> passed_;
  std::map<std::pair<std::size_t, const simgrid::s4u::Host*>, Router> routers_;
};
