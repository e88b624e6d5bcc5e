// SPDX-License-Identifier: Apache-2.0
// Choice of paths, acknowledgements, and what is sent again.
#include "relay/messenger/outbox.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "relay/messenger/path_rules.hpp"

namespace fairlead::intercept::relay {
namespace {

using fairlead::relay::FrameHeader;
using fairlead::relay::FrameKind;
using fairlead::relay::kMaxSegmentBytes;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kFirstClosing{500};
constexpr milliseconds kLongestClosing{8000};
// Of messages that overlap, those after this are a new choice.
constexpr milliseconds kLongestSameWay{250};
// What is acknowledged last has mostly arrived: acknowledgements are on their way so long.
constexpr std::uint64_t kLastBytes = std::uint64_t{2} * kMaxSegmentBytes;
// Messages that overlap are timed together, so many of them: acknowledgements may come in batches.
constexpr std::size_t kTimedTogether = 4;
// New samples of a rate have this weight.
constexpr double kSampleWeight = 0.25;
constexpr double kRecoveredRatio = 2.0;
constexpr std::size_t kMaxClasses = 1024;
// For a connection with the receiver, of which nothing is known.
constexpr double kUnknownRate_Bps = 1e8;

std::size_t num_segments(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kMaxSegmentBytes - 1) / kMaxSegmentBytes);
}

// What a frame waited at all routers because of frames of other processes.
double held_s(const FrameHeader& header) {
  return 16e-6 * std::accumulate(header.held_16us.begin(), header.held_16us.end(), 0.0);
}

std::uint32_t clock_us(Time now) {
  const auto us = duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return static_cast<std::uint32_t>(us);
}

}  // namespace

Outbox::Outbox(const MessengerSite& site, Time now)
    : rank_(site.rank),
      host_of_rank_(site.host_of_rank),
      last_number_of_rank_(host_of_rank_.size(), 0),
      unclaimed_bytes_of_rank_(host_of_rank_.size(), 0) {
  for (std::size_t host = 0; host < site.routes_of_host.size(); ++host) {
    const std::vector<Route> routes =
        with_connections(site.rule, site.routes_of_host[host], site.routes_of_host.size());
    const auto seed = static_cast<std::uint32_t>(site.rank * site.routes_of_host.size() + host);
    lanes_.push_back({make_path_rule(site.rule, site.zones, routes, site.capacity_Bps_of_host[host],
                                     seed, now)});
    for (const Route& route : routes) {
      PathState path;
      path.route = route;
      path.rate_Bps = route.bandwidth_Bps;
      path.latency_s = route.latency_s;
      path.last_used = now;
      path.next_closing = kFirstClosing;
      lanes_[host].paths.push_back(path);
    }
    PathState past_routers;
    past_routers.rate_Bps = kUnknownRate_Bps;
    past_routers.last_used = now;
    past_routers.next_closing = kFirstClosing;
    lanes_[host].paths.push_back(past_routers);
  }
}

Way Outbox::way_to(std::uint32_t dst_rank, std::uint64_t bytes, Time now) {
  recognise_phase(dst_rank, bytes, now);
  Lane& lane = lanes_[host_of_rank_[dst_rank]];
  // Without a relay there is nothing to choose: the direct route, and past all routers.
  if (lane.paths.size() < 3) return Way::mpi;
  const MessageClass like = MessageClass::of(dst_rank, bytes);
  // Further classes of a program are not followed.
  if (state_of_class_.size() >= kMaxClasses && !state_of_class_.contains(like)) {
    return choose_way(lane, bytes, now);
  }
  ClassState& state = state_of_class_[like];
  const bool is_slower = state.cadence.note(now);
  if (const auto gap_s = state.cadence.last_gap_s()) {
    lane.rule->pace(state.last_way, *gap_s, now);
  }
  if (is_slower) lane.rule->doubt(now);
  state.last_way = choose_way(lane, bytes, now);
  return state.last_way;
}

Way Outbox::choose_way(Lane& lane, std::uint64_t bytes, Time now) {
  // The rule is not asked, since what it chooses has to be done.
  if (!has_room(bytes)) return Way::mpi;
  const bool is_same = overlaps_next(lane) &&
                       (now - lane.busy_since < kLongestSameWay || lane.rule->is_trying(lane.way));
  return is_same ? lane.way : lane.rule->next(bytes, now);
}

void Outbox::recognise_phase(std::uint32_t dst_rank, std::uint64_t bytes, Time now) {
  const PhaseMemory::Step step = phases_.note(MessageClass::of(dst_rank, bytes), now);
  if (step.left) remember(*step.left);
  if (step.entered) recall(*step.entered, now);
}

void Outbox::remember(PhaseMemory::PhaseId phase) {
  std::erase_if(remembered_, [this](const auto& each) { return !phases_.is_kept(each.first); });
  auto& memories = remembered_[phase];
  memories.clear();
  for (const MessageClass& each : phases_.classes_of(phase)) {
    const std::uint16_t host = host_of_rank_[each.dst_rank];
    if (memories.contains(host)) continue;
    LaneMemory memory{lanes_[host].rule->clone()};
    for (const PathState& path : lanes_[host].paths) {
      memory.rates_Bps.push_back(path.rate_Bps);
      memory.latencies_s.push_back(path.latency_s);
    }
    memories[host] = std::move(memory);
  }
}

// All paths of the phase at once, also those to hosts whose turn comes later.
void Outbox::recall(PhaseMemory::PhaseId phase, Time now) {
  for (const auto& [host, memory] : remembered_[phase]) {
    Lane& lane = lanes_[host];
    lane.rule = memory.rule->clone();
    lane.rule->resume(now);
    for (std::size_t index = 0; index < lane.paths.size(); ++index) {
      lane.paths[index].rate_Bps = memory.rates_Bps[index];
      lane.paths[index].latency_s = memory.latencies_s[index];
      lane.paths[index].last_used = now;
    }
  }
}

// Whether a message that is added now finds another one on its way to this host.
bool Outbox::overlaps_next(const Lane& lane) {
  return lane.unacknowledged_bytes > kLastBytes;
}

bool Outbox::is_striping_worth(std::uint16_t host, std::uint64_t bytes) const {
  const Lane& lane = lanes_[host];
  return lane.paths.size() >= 3 && lane.rule->is_striping_worth(bytes);
}

std::uint64_t Outbox::reserve(std::uint32_t dst_rank) {
  const std::uint64_t number = ++last_number_of_rank_[dst_rank];
  reserved_[{dst_rank, number}] = false;
  return number;
}

// Numbers are given again where that is possible: receivers keep those that never come.
void Outbox::give_up(std::uint32_t dst_rank, std::uint64_t number, std::uint64_t bytes, Way way,
                     Time now) {
  if (last_number_of_rank_[dst_rank] == number) --last_number_of_rank_[dst_rank];
  reserved_.erase({dst_rank, number});
  lanes_[host_of_rank_[dst_rank]].rule->miss(way, bytes, now);
}

void Outbox::add(std::uint32_t dst_rank, std::uint64_t number, Payload payload, Way way, Time now) {
  const MessageKey key{dst_rank, number};
  const std::uint64_t bytes = payload->size();
  const std::size_t segments = num_segments(bytes);
  const std::uint16_t host = host_of_rank_[dst_rank];
  Lane& lane = lanes_[host];
  const bool overlaps = overlaps_next(lane);
  Message message{std::move(payload), std::vector<bool>(segments, false), segments, way, now};
  if (!overlaps) lane.busy_since = now;
  if (!overlaps || way != lane.way) begin_period(lane, now);
  message.overlaps = overlaps;
  message.period = lane.period;
  if (const auto found = reserved_.find(key); found != reserved_.end()) {
    message.is_claimed = found->second;
    reserved_.erase(found);
  }
  if (overlaps && way != lane.way) {
    message.tells_nothing = true;
    for (auto& [other, on_its_way] : messages_) {
      if (host_of_rank_[other.dst_rank] == host) on_its_way.tells_nothing = true;
    }
  }
  lane.way = way;
  lane.unacknowledged_bytes += bytes;
  kept_bytes_ += bytes;
  messages_[key] = std::move(message);
  for (std::size_t segment = 0; segment < segments; ++segment) {
    lane.waiting.push_back({key, segment});
  }
}

std::optional<Departure> Outbox::next(Time now, OwnRouter router) {
  for (std::size_t turn = 0; turn < lanes_.size(); ++turn) {
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    Lane& lane = lanes_[next_lane_];
    for (auto each = lane.waiting.begin(); each != lane.waiting.end();) {
      const auto message = messages_.find(each->message);
      if (message == messages_.end() || message->second.is_acknowledged[each->segment]) {
        each = lane.waiting.erase(each);
        continue;
      }
      if (!may_go(message->first, message->second)) {
        message->second.tells_nothing = true;
        ++each;
        continue;
      }
      const auto path = choose(lane, message->second.way, size_of(*each), now, router);
      if (!path) break;
      // No relay answers.
      const bool is_relayed = lane.paths[*path].route.hops.size() > 1;
      if (message->second.way == Way::relayed && !is_relayed) message->second.tells_nothing = true;
      const SegmentKey segment = *each;
      lane.waiting.erase(each);
      return depart(lane, *path, segment, now);
    }
  }
  return std::nullopt;
}

// A receiver keeps what it has not matched; more than that waits until it has.
bool Outbox::may_go(const MessageKey& key, const Message& message) const {
  if (message.is_claimed || unclaimed_.contains(key)) return true;
  const std::uint64_t others = unclaimed_bytes_of_rank_[key.dst_rank];
  return others == 0 || others + message.payload->size() <= kUnclaimedBytes;
}

std::optional<std::size_t> Outbox::choose(Lane& lane, Way way, std::uint64_t bytes, Time now,
                                          OwnRouter router) {
  const std::size_t past_routers = lane.paths.size() - 1;
  std::optional<std::size_t> best;
  if (router != OwnRouter::absent) {
    best = lane.rule->choose(std::span(lane.paths).first(past_routers), way, bytes, now);
  }
  if (best && router == OwnRouter::busy) return std::nullopt;
  if (!best) best = past_routers;
  return lane.paths[*best].has_room(bytes) ? best : std::nullopt;
}

Departure Outbox::depart(Lane& lane, std::size_t index, const SegmentKey& segment, Time now) {
  PathState& path = lane.paths[index];
  const Message& message = messages_.at(segment.message);
  const std::uint64_t bytes = size_of(segment);
  const duration<double> expected(4.0 * path.expected_s(bytes));
  if (!message.is_claimed && unclaimed_.emplace(segment.message, message.payload->size()).second) {
    unclaimed_bytes_of_rank_[segment.message.dst_rank] += message.payload->size();
  }
  path.in_flight_bytes += bytes;
  path.sent_bytes += bytes;
  path.last_used = now;
  const auto timeout =
      std::max<Clock::duration>(lane.least_timeout, duration_cast<milliseconds>(expected));
  in_flight_[segment] = {index, bytes, path.in_flight_bytes, now, now + timeout};

  Departure departure{{}, message.payload, index + 1 == lane.paths.size()};
  FrameHeader& header = departure.header;
  header.kind = FrameKind::data;
  if (departure.is_past_routers) {
    header.hops[0] = host_of_rank_[segment.message.dst_rank];
  } else {
    header.num_hops = static_cast<std::uint8_t>(path.route.hops.size());
    std::copy(path.route.hops.begin(), path.route.hops.end(), header.hops.begin());
  }
  header.connection = path.route.connection;
  header.src_rank = rank_;
  header.dst_rank = segment.message.dst_rank;
  header.message = segment.message.number;
  header.offset_bytes = std::uint64_t{segment.segment} * kMaxSegmentBytes;
  header.message_bytes = message.payload->size();
  header.segment_bytes = static_cast<std::uint32_t>(bytes);
  header.sent_us = clock_us(now);
  return departure;
}

std::uint64_t Outbox::size_of(const SegmentKey& segment) const {
  const std::uint64_t offset = std::uint64_t{segment.segment} * kMaxSegmentBytes;
  const std::uint64_t rest = messages_.at(segment.message).payload->size() - offset;
  return std::min<std::uint64_t>(rest, kMaxSegmentBytes);
}

void Outbox::acknowledge(const FrameHeader& header, Time now) {
  // An acknowledgement goes the other way, so its source is the receiver of the message.
  const MessageKey key{header.src_rank, header.message};
  const auto message = messages_.find(key);
  const auto segment = static_cast<std::size_t>(header.offset_bytes / kMaxSegmentBytes);
  if (message == messages_.end() || segment >= message->second.is_acknowledged.size()) return;
  Lane& lane = lanes_[host_of_rank_[key.dst_rank]];
  bool is_in_time = false;
  if (const auto found = in_flight_.find({key, segment}); found != in_flight_.end()) {
    const InFlight& sent = found->second;
    PathState& path = lane.paths[sent.path];
    // That of an earlier sending, perhaps by another path, tells nothing of this one (Karn and
    // Partridge 1987).
    is_in_time = header.sent_us == clock_us(sent.sent);
    if (is_in_time) learn(path, sent, header, now);
    path.in_flight_bytes -= sent.bytes;
    in_flight_.erase(found);
  }
  if (message->second.is_acknowledged[segment]) return;
  learn_timeout(lane, is_in_time, header, now);
  message->second.is_acknowledged[segment] = true;
  lane.unacknowledged_bytes -= size_of({key, segment});
  if (message->second.period == lane.period) lane.arrived_bytes += size_of({key, segment});
  Message& done = message->second;
  if (--done.num_left > 0) return;
  if (done.tells_nothing) {
    lane.rule->miss(done.way, done.payload->size(), now);
  } else {
    learn(lane, done, now);
  }
  erase(message);
}

void Outbox::erase(std::map<MessageKey, Message>::iterator message) {
  kept_bytes_ -= message->second.payload->size();
  messages_.erase(message);
}

void Outbox::begin_period(Lane& lane, Time now) {
  ++lane.period;
  lane.arrived_bytes = 0;
  lane.marks = {{now, 0}};
}

// What has arrived counts, not what was unacknowledged as a message began: where acknowledgements
// are held up, most of that had arrived by then, and the path seemed several times as fast.
void Outbox::learn(Lane& lane, const Message& done, Time now) {
  if (!done.overlaps) {
    const double took_s = duration<double>(now - done.added).count();
    lane.rule->learn(done.way, done.payload->size(), took_s, now);
  } else if (done.period == lane.period) {
    const Mark& from = lane.marks.front();
    const double took_s = duration<double>(now - from.time).count();
    lane.rule->learn(done.way, lane.arrived_bytes - from.arrived_bytes, took_s, now);
  } else {
    lane.rule->miss(done.way, done.payload->size(), now);
  }
  if (done.period != lane.period) return;
  lane.marks.push_back({now, lane.arrived_bytes});
  if (lane.marks.size() > kTimedTogether) lane.marks.pop_front();
}

void Outbox::learn(PathState& path, const InFlight& sent, const FrameHeader& header, Time now) {
  const double took_s = duration<double>(now - sent.sent).count();
  // Some of it is the bytes' own, also where the plan expects a longer latency.
  const double latency_s = std::min(path.route.latency_s + held_s(header), 0.75 * took_s);
  path.latency_s += kSampleWeight * (latency_s - path.latency_s);
  const double busy_s = std::max(took_s - latency_s, 1e-6);
  const double sample_Bps = static_cast<double>(sent.bytes_ahead) / busy_s;
  // A single segment says more of the latency than of the rate, except where it is much faster than
  // the path was known to be: it has recovered.
  const bool has_recovered = sample_Bps > kRecoveredRatio * path.rate_Bps;
  if (sent.bytes_ahead > sent.bytes || sample_Bps < path.rate_Bps || has_recovered) {
    path.rate_Bps += kSampleWeight * (sample_Bps - path.rate_Bps);
  }
  path.next_closing = kFirstClosing;
}

// An acknowledgement that comes after its segment was sent again shows that this was too early (as
// in RFC 3522). The next ones would be, too, until the path's rate is learned: from segments that
// are sent only once.
void Outbox::learn_timeout(Lane& lane, bool is_in_time, const FrameHeader& header, Time now) {
  const std::chrono::microseconds took(clock_us(now) - header.sent_us);
  if (is_in_time) {
    lane.least_timeout =
        std::min(lane.least_timeout, std::max<Clock::duration>(kLeastTimeout, 4 * took));
  } else {
    lane.least_timeout = std::clamp<Clock::duration>(2 * took, lane.least_timeout, kLongestTimeout);
  }
}

void Outbox::claim(std::uint32_t dst_rank, std::uint64_t number) {
  end_claim_of({dst_rank, number});
  const auto found = messages_.find({dst_rank, number});
  if (found != messages_.end()) found->second.is_claimed = true;
}

void Outbox::end_claim_of(const MessageKey& key) {
  if (const auto found = reserved_.find(key); found != reserved_.end()) found->second = true;
  const auto found = unclaimed_.find(key);
  if (found == unclaimed_.end()) return;
  unclaimed_bytes_of_rank_[key.dst_rank] -= found->second;
  unclaimed_.erase(found);
}

void Outbox::refuse(std::uint32_t dst_rank, std::uint64_t number, Time now) {
  end_claim_of({dst_rank, number});
  const auto found = messages_.find({dst_rank, number});
  if (found == messages_.end()) return;
  const auto first = in_flight_.lower_bound({found->first, 0});
  auto each = first;
  while (each != in_flight_.end() && each->first.message == found->first) {
    lanes_[host_of_rank_[dst_rank]].paths[each->second.path].in_flight_bytes -= each->second.bytes;
    each = in_flight_.erase(each);
  }
  for (std::size_t segment = 0; segment < found->second.is_acknowledged.size(); ++segment) {
    if (found->second.is_acknowledged[segment]) continue;
    lanes_[host_of_rank_[dst_rank]].unacknowledged_bytes -= size_of({found->first, segment});
  }
  const Message& refused = found->second;
  lanes_[host_of_rank_[dst_rank]].rule->miss(refused.way, refused.payload->size(), now);
  // The segments that wait are dropped when it is their turn.
  erase(found);
}

void Outbox::take_back(std::map<SegmentKey, InFlight>::iterator found) {
  Lane& lane = lanes_[host_of_rank_[found->first.message.dst_rank]];
  lane.paths[found->second.path].in_flight_bytes -= found->second.bytes;
  lane.waiting.push_front(found->first);
  in_flight_.erase(found);
}

bool Outbox::is_past_routers(const SegmentKey& segment, const InFlight& sent) const {
  return sent.path + 1 == lanes_[host_of_rank_[segment.message.dst_rank]].paths.size();
}

void Outbox::expire(Time now) {
  std::vector<std::pair<std::uint16_t, std::size_t>> closed;
  std::set<std::uint16_t> late;
  for (const auto& [segment, sent] : in_flight_) {
    if (sent.expires > now) continue;
    const std::uint16_t host = host_of_rank_[segment.message.dst_rank];
    // Past all routers there is no other path to leave it for.
    if (is_past_routers(segment, sent)) {
      late.insert(host);
      continue;
    }
    PathState& path = lanes_[host].paths[sent.path];
    if (!path.is_open(now)) continue;
    path.closed_until = now + path.next_closing;
    path.next_closing = std::min(2 * path.next_closing, kLongestClosing);
    closed.emplace_back(host, sent.path);
  }
  // As TCP does (RFC 6298, 5.5): what has been sent may fill the path, so that no repetition comes
  // in time.
  for (const std::uint16_t host : late) {
    Clock::duration& timeout = lanes_[host].least_timeout;
    timeout = std::max(timeout, std::min<Clock::duration>(2 * timeout, kLongestDoubled));
  }
  // What else went by a path that does not answer is taken back as well.
  for (auto each = in_flight_.begin(); each != in_flight_.end();) {
    const auto found = each++;
    const std::uint16_t host = host_of_rank_[found->first.message.dst_rank];
    const std::pair key{host, found->second.path};
    const bool is_closed = std::find(closed.begin(), closed.end(), key) != closed.end();
    if (is_closed || found->second.expires <= now) take_back(found);
  }
}

void Outbox::lose_router() {
  for (auto each = in_flight_.begin(); each != in_flight_.end();) {
    const auto found = each++;
    if (!is_past_routers(found->first, found->second)) take_back(found);
  }
}

void Outbox::lose_connection(std::uint32_t dst_rank) {
  for (auto each = in_flight_.lower_bound({{dst_rank, 0}, 0});
       each != in_flight_.end() && each->first.message.dst_rank == dst_rank;) {
    const auto found = each++;
    if (is_past_routers(found->first, found->second)) take_back(found);
  }
}

}  // namespace fairlead::intercept::relay
