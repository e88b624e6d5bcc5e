// SPDX-License-Identifier: Apache-2.0
// Reads the lines that describe jobs, or end one.
#include "router/job.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "fairlead/error.hpp"

namespace fairlead::router {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxHosts = std::numeric_limits<std::uint16_t>::max();

Peer parse_peer(const Json& peer) {
  if (!peer.is_array() || peer.size() != 2 || !peer[0].is_string() ||
      !peer[1].is_number_unsigned()) {
    throw InputError("job: peers: expected [address, port] each");
  }
  const auto port = peer[1].get<std::uint64_t>();
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw InputError("job: peers: no such port: " + std::to_string(port));
  }
  return {peer[0].get<std::string>(), static_cast<std::uint16_t>(port)};
}

const Json& field(const Json& job, const char* name, Json::value_t type) {
  const auto found = job.find(name);
  if (found == job.end() || found->type() != type) {
    throw InputError(std::string("job: ") + name + ": missing, or of another type");
  }
  return *found;
}

relay::Key key_in(const Json& line, const char* name) {
  const auto key = relay::parse_key(field(line, name, Json::value_t::string).get<std::string>());
  if (!key) throw InputError(std::string("job: ") + name + ": expected 64 hexadecimal digits");
  return *key;
}

}  // namespace

Job parse_job(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) throw InputError("job: expected a JSON object in one line");
  Job job;
  job.key = key_in(json, "key");
  const Json& peers = field(json, "peers", Json::value_t::array);
  if (peers.empty() || peers.size() > kMaxHosts) throw InputError("job: peers: from 1 to 65535");
  std::transform(peers.begin(), peers.end(), std::back_inserter(job.peers), parse_peer);
  const auto host = field(json, "host", Json::value_t::number_unsigned).get<std::uint64_t>();
  if (host >= job.peers.size()) throw InputError("job: host: not one of the peers");
  job.host = static_cast<std::uint16_t>(host);
  return job;
}

std::optional<relay::Key> parse_ended(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("ended")) return std::nullopt;
  return key_in(json, "ended");
}

}  // namespace fairlead::router
