// SPDX-License-Identifier: Apache-2.0
// Lower bounds: bytes that must pass a NIC or a shared group over what it carries.
#include "collectives/lower_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace fairlead::collectives {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A host as one port: what it can send and receive, and the least latency each way.
struct Port {
  double out_Bps, in_Bps;
  double out_latency_s, in_latency_s;
};

std::vector<Port> ports_of(const Links& links) {
  std::vector<Port> ports;
  for (std::size_t host = 0; host < links.num_hosts(); ++host) {
    double out_Bps = 0.0;
    double in_Bps = 0.0;
    Port port{0.0, 0.0, kInfinity, kInfinity};
    for (std::size_t peer = 0; peer < links.num_hosts(); ++peer) {
      if (peer == host) continue;
      out_Bps += links.bandwidth_Bps(host, peer);
      in_Bps += links.bandwidth_Bps(peer, host);
      port.out_latency_s = std::min(port.out_latency_s, links.latency_s(host, peer));
      port.in_latency_s = std::min(port.in_latency_s, links.latency_s(peer, host));
    }
    port.out_Bps = std::min(links.out_Bps(host), out_Bps);
    port.in_Bps = std::min(links.in_Bps(host), in_Bps);
    ports.push_back(port);
  }
  return ports;
}

/// Bytes that each host must send and receive at least, and bytes that all of them must.
struct Demand {
  std::vector<double> out_bytes, in_bytes;
  double total_out_bytes = 0.0;
  double total_in_bytes = 0.0;
};

class Blocks {
 public:
  Blocks(const Request& request, std::size_t num_hosts) : request_(request) {
    for (std::size_t host = 0; host < num_hosts; ++host) total_ += (*this)[host];
  }
  double operator[](std::size_t host) const {
    return request_.block_bytes.empty() ? static_cast<double>(request_.message_bytes)
                                        : request_.block_bytes[host];
  }
  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] double others(std::size_t host) const { return total_ - (*this)[host]; }

 private:
  const Request& request_;
  double total_ = 0.0;
};

Demand demand_of(const Request& request, std::size_t num_hosts) {
  const Blocks blocks(request, num_hosts);
  const double bytes = static_cast<double>(request.message_bytes);
  const auto root = static_cast<std::size_t>(std::max(request.root, 0));
  Demand demand{std::vector<double>(num_hosts, 0.0), std::vector<double>(num_hosts, 0.0)};
  const auto hosts = static_cast<double>(num_hosts);
  for (std::size_t host = 0; host < num_hosts; ++host) {
    double& out_bytes = demand.out_bytes[host];
    double& in_bytes = demand.in_bytes[host];
    switch (request.operation) {
      case Operation::bcast:
        (host == root ? out_bytes : in_bytes) = bytes;
        break;
      case Operation::reduce:
        (host == root ? in_bytes : out_bytes) = bytes;
        break;
      case Operation::scatter:
        (host == root ? out_bytes : in_bytes) = host == root ? blocks.others(host) : blocks[host];
        break;
      case Operation::gather:
        (host == root ? in_bytes : out_bytes) = host == root ? blocks.others(host) : blocks[host];
        break;
      case Operation::allgather:
        out_bytes = blocks[host];
        in_bytes = blocks.others(host);
        break;
      case Operation::reduce_scatter:
        out_bytes = blocks.others(host);
        in_bytes = blocks[host];
        break;
      case Operation::allreduce:
        out_bytes = in_bytes = bytes;
        break;
      case Operation::alltoall:
        out_bytes = in_bytes = (hosts - 1.0) * bytes;
        break;
      case Operation::barrier:
        break;
    }
    demand.total_out_bytes += out_bytes;
    demand.total_in_bytes += in_bytes;
  }
  // What arrives was sent; each part of an allreduce's vector is combined in N - 1 steps
  // and dealt in N - 1 more.
  demand.total_out_bytes = demand.total_in_bytes =
      request.operation == Operation::allreduce
          ? 2.0 * (hosts - 1.0) * bytes
          : std::max(demand.total_out_bytes, demand.total_in_bytes);
  return demand;
}

/// Hosts that `from` reaches without the pairs of one group, through others as well.
std::vector<char> reached_without(const std::vector<char>& is_in_group, std::size_t num_hosts,
                                  std::size_t from) {
  std::vector<char> is_reached(num_hosts, 0);
  is_reached[from] = 1;
  std::vector<std::size_t> open{from};
  std::vector<std::size_t> missing;
  for (std::size_t host = 0; host < num_hosts; ++host) {
    if (host != from) missing.push_back(host);
  }
  while (!open.empty() && !missing.empty()) {
    const std::size_t src = open.back();
    open.pop_back();
    const auto first_reached = std::partition(missing.begin(), missing.end(), [&](std::size_t dst) {
      return is_in_group[src * num_hosts + dst] != 0;
    });
    for (auto dst = first_reached; dst != missing.end(); ++dst) is_reached[*dst] = 1;
    open.insert(open.end(), first_reached, missing.end());
    missing.erase(first_reached, missing.end());
  }
  return is_reached;
}

/// Bytes that have to cross a group, where `cannot[src][dst]` marks hosts that cannot do without
/// it.
double crossing_bytes(const Request& request, const std::vector<std::vector<char>>& reached) {
  const std::size_t num_hosts = reached.size();
  const Blocks blocks(request, num_hosts);
  const double bytes = static_cast<double>(request.message_bytes);
  const auto root = static_cast<std::size_t>(std::max(request.root, 0));
  double pairs_bytes = 0.0;  // one block for each pair that cannot do without
  double src_bytes = 0.0;    // one for each host that cannot reach all
  double dst_bytes = 0.0;    // one for each host that not all reach
  double from_root_bytes = 0.0;
  double to_root_bytes = 0.0;
  std::vector<char> is_missed(num_hosts, 0);
  for (std::size_t src = 0; src < num_hosts; ++src) {
    bool misses_one = false;
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      if (reached[src][dst] != 0) continue;
      misses_one = true;
      is_missed[dst] = 1;
      pairs_bytes += bytes;
      if (src == root) from_root_bytes += blocks[dst];
      if (dst == root) to_root_bytes += blocks[src];
    }
    if (misses_one) src_bytes += blocks[src];
  }
  for (std::size_t dst = 0; dst < num_hosts; ++dst) {
    if (is_missed[dst] != 0) dst_bytes += blocks[dst];
  }
  switch (request.operation) {
    case Operation::bcast:
      return from_root_bytes > 0.0 ? bytes : 0.0;
    case Operation::reduce:
      return to_root_bytes > 0.0 ? bytes : 0.0;
    case Operation::scatter:
      return from_root_bytes;
    case Operation::gather:
      return to_root_bytes;
    case Operation::allgather:
      return src_bytes;
    case Operation::reduce_scatter:
      return dst_bytes;
    case Operation::allreduce:
      return pairs_bytes > 0.0 ? bytes : 0.0;
    case Operation::alltoall:
      return pairs_bytes;
    case Operation::barrier:
      return 0.0;
  }
  return 0.0;
}

double largest_group_s(const Links& links, const Request& request) {
  const std::size_t num_hosts = links.num_hosts();
  double largest_s = 0.0;
  std::vector<std::vector<char>> is_in_group(links.num_groups(),
                                             std::vector<char>(num_hosts * num_hosts, 0));
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      for (const std::int32_t group : links.groups(src, dst)) {
        is_in_group[static_cast<std::size_t>(group)][src * num_hosts + dst] = 1;
      }
    }
  }
  for (std::size_t group = 0; group < links.num_groups(); ++group) {
    std::vector<std::vector<char>> reached;
    for (std::size_t src = 0; src < num_hosts; ++src) {
      reached.push_back(reached_without(is_in_group[group], num_hosts, src));
    }
    largest_s = std::max(largest_s, crossing_bytes(request, reached) / links.group_Bps(group));
  }
  return largest_s;
}

}  // namespace

double lower_bound_s(const Links& links, const Request& request) {
  const std::size_t num_hosts = links.num_hosts();
  if (num_hosts < 2) return 0.0;
  const std::vector<Port> ports = ports_of(links);
  const Demand demand = demand_of(request, num_hosts);
  const bool is_barrier = request.operation == Operation::barrier;
  double bound_s = 0.0;
  double least_latency_s = kInfinity;
  double sum_out_Bps = 0.0;
  double sum_in_Bps = 0.0;
  for (std::size_t host = 0; host < num_hosts; ++host) {
    const Port& port = ports[host];
    least_latency_s = std::min(least_latency_s, port.out_latency_s);
    sum_out_Bps += port.out_Bps;
    sum_in_Bps += port.in_Bps;
    if (demand.out_bytes[host] > 0.0 || is_barrier) {
      bound_s = std::max(bound_s, port.out_latency_s + demand.out_bytes[host] / port.out_Bps);
    }
    if (demand.in_bytes[host] > 0.0 || is_barrier) {
      bound_s = std::max(bound_s, port.in_latency_s + demand.in_bytes[host] / port.in_Bps);
    }
  }
  return std::max({bound_s, least_latency_s + demand.total_out_bytes / sum_out_Bps,
                   least_latency_s + demand.total_in_bytes / sum_in_Bps,
                   largest_group_s(links, request)});
}

double largest_message_Bps(const Links& links, Operation operation, std::int32_t root) {
  const std::vector<Port> ports = ports_of(links);
  double most_Bps = kInfinity;
  for (std::size_t host = 0; host < ports.size(); ++host) {
    const bool is_root = static_cast<std::int32_t>(host) == root;
    const Port& port = ports[host];
    if (operation == Operation::allreduce) {
      most_Bps = std::min({most_Bps, port.out_Bps / 2.0, port.in_Bps / 2.0});
    } else if (operation == Operation::bcast) {
      most_Bps = std::min(most_Bps, is_root ? port.out_Bps : port.in_Bps);
    } else {
      most_Bps = std::min(most_Bps, is_root ? port.in_Bps : port.out_Bps);
    }
  }
  constexpr std::uint64_t kBytes = 1U << 30U;
  const double group_s =
      largest_group_s(links, {.operation = operation, .root = root, .message_bytes = kBytes});
  return group_s > 0.0 ? std::min(most_Bps, static_cast<double>(kBytes) / group_s) : most_Bps;
}

}  // namespace fairlead::collectives
