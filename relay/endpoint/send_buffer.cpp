// SPDX-License-Identifier: Apache-2.0
// Selects the next segment, takes acks, and repeats segments.
#include "endpoint/send_buffer.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "wire/hop_times.hpp"
#include "wire/rendezvous_header.hpp"

namespace fairlead::relay {
namespace {
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::size_t kMaxClasses = 1024;

std::size_t num_segments(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kMaxSegmentBytes - 1) / kMaxSegmentBytes);
}

bool has_relays(TransferMode mode) {
  return mode == TransferMode::striped || mode == TransferMode::relayed;
}

// How long a frame waited at all routers because of frames of other processes.
double held_s(const FrameHeader& header) {
  return 16e-6 * std::accumulate(header.held_16us.begin(), header.held_16us.end(), 0.0);
}

std::uint32_t clock_us(Time now) {
  const auto us = duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return static_cast<std::uint32_t>(us);
}

}  // namespace

SendBuffer::SendBuffer(const EndpointConfig& config, Time now)
    : rank_(config.rank),
      host_(config.host),
      host_of_rank_(config.host_of_rank),
      is_rehearsal_(config.is_rehearsal),
      links_(std::make_shared<LinkTable>(config.segment_s_of_link)),
      last_number_of_rank_(host_of_rank_.size(), 0),
      unmatched_bytes_of_rank_(host_of_rank_.size(), 0) {
  for (std::size_t host = 0; host < config.paths_of_host.size(); ++host) {
    queues_.emplace_back(config, host, links_, now);
  }
}

TransferMode SendBuffer::mode_to(std::uint32_t dst_rank, std::uint64_t bytes, Time now) {
  SendQueue& queue = queues_[host_of_rank_[dst_rank]];
  // Without a relay there is one path only, the direct one without routers.
  if (!queue.has_choice()) return TransferMode::mpi;
  queue.resume_if_idle(now);
  const MessageClass like = MessageClass::of(dst_rank, bytes);
  // Statistics of further message classes of a program are not kept.
  if (state_of_class_.size() >= kMaxClasses && !state_of_class_.contains(like)) {
    return choose_mode(queue, bytes, now);
  }
  ClassState& state = state_of_class_[like];
  if (is_rehearsal_) return choose_mode(queue, bytes, now);
  const bool is_slower = state.detector.add_message(now, queue.resumed());
  if (const auto gap_s = state.detector.last_gap_s()) {
    queue.rule->add_interval(state.last_mode, *gap_s, now);
  }
  if (is_slower) {
    queue.rule->note_slowdown(now);
  } else if (state.detector.is_far_slower()) {
    queue.rule->note_long_gap(now);
  }
  state.last_mode = choose_mode(queue, bytes, now);
  return state.last_mode;
}

TransferMode SendBuffer::choose_mode(SendQueue& queue, std::uint64_t bytes, Time now) {
  // The rule is not called, since its choice would have to be followed.
  return has_space(bytes) ? queue.next_mode(bytes, now) : TransferMode::mpi;
}

bool SendBuffer::is_striping_worth(std::uint16_t host, std::uint64_t bytes) const {
  const SendQueue& queue = queues_[host];
  return queue.has_choice() && queue.rule->is_striping_worth(bytes);
}

std::uint64_t SendBuffer::reserve(std::uint32_t dst_rank) {
  const std::uint64_t number = ++last_number_of_rank_[dst_rank];
  reserved_[{dst_rank, number}] = false;
  return number;
}

// The number is used again where possible, since receivers remember each number that is skipped.
void SendBuffer::give_up(std::uint32_t dst_rank, std::uint64_t number, std::uint64_t bytes,
                         TransferMode mode, Time now) {
  if (last_number_of_rank_[dst_rank] == number) --last_number_of_rank_[dst_rank];
  reserved_.erase({dst_rank, number});
  if (bytes > kRendezvousHeaderBytes) queues_[host_of_rank_[dst_rank]].rule->miss(mode, bytes, now);
}

void SendBuffer::add(std::uint32_t dst_rank, std::uint64_t number, Payload payload,
                     TransferMode mode, Time now) {
  const MessageKey key{dst_rank, number};
  const std::size_t segments = num_segments(payload->size());
  const std::uint16_t host = host_of_rank_[dst_rank];
  SendQueue& queue = queues_[host];
  const Sending sending = queue.start(mode, payload->size(), now);
  if (sending.has_unusable_time) {
    for (auto& [other, on_its_way] : messages_) {
      if (host_of_rank_[other.dst_rank] != host) continue;
      on_its_way.sending.has_unusable_time = true;
      // A segment that waits for the direct path would delay the receiver, which needs it first.
      if (has_relays(mode)) on_its_way.sending.changed_mode = mode;
    }
  }
  Message message{std::move(payload), std::vector<bool>(segments, false), segments, sending};
  if (const auto found = reserved_.find(key); found != reserved_.end()) {
    message.is_matched = found->second;
    reserved_.erase(found);
  }
  kept_bytes_ += sending.bytes;
  messages_[key] = std::move(message);
  // An untimed message does not change the queue's last mode. After messages of that mode it would
  // not be considered, so it goes first.
  if (sending.is_untimed) return queue.waiting.push_front({key, 0});
  for (std::size_t segment = 0; segment < segments; ++segment) {
    queue.waiting.push_back({key, segment});
  }
}

std::optional<Departure> SendBuffer::next(Time now, OwnRouter router) {
  for (std::size_t turn = 0; turn < queues_.size(); ++turn) {
    next_queue_ = (next_queue_ + 1) % queues_.size();
    if (auto departure = next_of(queues_[next_queue_], now, router)) return departure;
  }
  return std::nullopt;
}

std::optional<Departure> SendBuffer::next_of(SendQueue& queue, Time now, OwnRouter router) {
  std::optional<MessageKey> without_space;
  for (auto each = queue.waiting.begin(); each != queue.waiting.end();) {
    const auto message = messages_.find(each->message);
    if (message == messages_.end() || message->second.is_acknowledged[each->segment]) {
      each = queue.waiting.erase(each);
      continue;
    }
    if (!may_go(message->first, message->second)) {
      message->second.sending.has_unusable_time = true;
      ++each;
      continue;
    }
    Sending& sending = message->second.sending;
    const bool has_to_wait = without_space == each->message;
    const auto path =
        has_to_wait ? std::nullopt : queue.choose(sending, size_of(*each), now, router);
    // Later messages may have space only if they are in another mode than this one. Messages in
    // other modes come before the first message in the queue's current mode.
    if (!path && !queue.rule->is_one_path_a_message() && sending.current_mode() == queue.mode())
      break;
    if (!path) {
      without_space = each->message;
      ++each;
      continue;
    }
    // No relay answers.
    const bool is_relayed = queue.paths[*path].planned.hops.size() > 1;
    if (sending.current_mode() == TransferMode::relayed && !is_relayed)
      sending.has_unusable_time = true;
    const SegmentKey segment = *each;
    queue.waiting.erase(each);
    return depart(queue, *path, segment, now);
  }
  return std::nullopt;
}

// A receiver keeps messages that it has not matched, up to a limit; further ones wait until it has
// matched some.
bool SendBuffer::may_go(const MessageKey& key, const Message& message) const {
  if (message.is_matched || unmatched_.contains(key)) return true;
  const std::uint64_t others = unmatched_bytes_of_rank_[key.dst_rank];
  return others == 0 || others + message.payload->size() <= kUnmatchedBytes;
}

Departure SendBuffer::depart(SendQueue& queue, std::size_t index, const SegmentKey& segment,
                             Time now) {
  PathState& path = queue.paths[index];
  const Message& message = messages_.at(segment.message);
  const std::uint64_t bytes = size_of(segment);
  const duration<double> expected(4.0 * path.expected_s(bytes));
  if (!message.is_matched && unmatched_.emplace(segment.message, message.payload->size()).second) {
    unmatched_bytes_of_rank_[segment.message.dst_rank] += message.payload->size();
  }
  path.in_flight_bytes += bytes;
  path.sent_bytes += bytes;
  path.last_used = now;
  const auto timeout = std::clamp<Clock::duration>(duration_cast<milliseconds>(expected),
                                                   queue.least_timeout, SendQueue::kLongestTimeout);
  in_flight_[segment] = {index, bytes, path.in_flight_bytes, now, now + timeout};

  Departure departure{{}, message.payload, index + 1 == queue.paths.size()};
  FrameHeader& header = departure.header;
  header.kind = FrameKind::data;
  if (departure.bypasses_routers) {
    header.hops[0] = host_of_rank_[segment.message.dst_rank];
  } else {
    header.num_hops = static_cast<std::uint8_t>(path.planned.hops.size());
    std::copy(path.planned.hops.begin(), path.planned.hops.end(), header.hops.begin());
  }
  header.connection = path.planned.connection;
  header.src_rank = rank_;
  header.dst_rank = segment.message.dst_rank;
  header.message = segment.message.number;
  header.offset_bytes = std::uint64_t{segment.segment} * kMaxSegmentBytes;
  header.message_bytes = message.payload->size();
  header.segment_bytes = static_cast<std::uint32_t>(bytes);
  header.sent_us = clock_us(now);
  return departure;
}

std::uint64_t SendBuffer::size_of(const SegmentKey& segment) const {
  const std::uint64_t offset = std::uint64_t{segment.segment} * kMaxSegmentBytes;
  const std::uint64_t rest = messages_.at(segment.message).payload->size() - offset;
  return std::min<std::uint64_t>(rest, kMaxSegmentBytes);
}

void SendBuffer::acknowledge(const FrameHeader& header, Time now) {
  // An ack goes the other way, so its source is the receiver of the message.
  const MessageKey key{header.src_rank, header.message};
  const auto message = messages_.find(key);
  const auto segment = static_cast<std::size_t>(header.offset_bytes / kMaxSegmentBytes);
  if (message == messages_.end() || segment >= message->second.is_acknowledged.size()) return;
  SendQueue& queue = queues_[host_of_rank_[key.dst_rank]];
  bool is_in_time = false;
  if (const auto found = in_flight_.find({key, segment}); found != in_flight_.end()) {
    const InFlight& sent = found->second;
    PathState& path = queue.paths[sent.path];
    // That of an earlier sending, perhaps by another path, does not time this one (Karn and
    // Partridge 1987).
    is_in_time = header.sent_us == clock_us(sent.sent);
    if (is_in_time) {
      learn(path, sent, header, now);
    }
    path.in_flight_bytes -= sent.bytes;
    in_flight_.erase(found);
  }
  Message& found = message->second;
  if (found.is_acknowledged[segment]) return;
  queue.answer(std::chrono::microseconds(clock_us(now) - header.sent_us), is_in_time);
  found.is_acknowledged[segment] = true;
  queue.arrive(found.sending, size_of({key, segment}));
  if (--found.num_left > 0) return;
  queue.finish(found.sending, now);
  erase(message);
}

// The time of each hop goes into the table of links, less the time of this sender's segments ahead
// of it, as entries are for one segment. The short last segment of a message would make a link look
// fast.
void SendBuffer::learn(PathState& path, const InFlight& sent, const FrameHeader& header, Time now) {
  const double took_s = duration<double>(now - sent.sent).count();
  path.learn(sent.bytes, sent.bytes_ahead, took_s, held_s(header));
  const std::uint64_t whole_bytes = std::min<std::uint64_t>(header.message_bytes, kMaxSegmentBytes);
  if (links_->is_empty() || sent.bytes < whole_bytes) return;
  // Without routers there are no hops of the path.
  if (path.planned.hops.size() != header.num_hops) return;
  auto hops_s = seconds_of_hops(header, took_s);
  if (!hops_s) return;
  const double own_part = static_cast<double>(sent.bytes) / static_cast<double>(sent.bytes_ahead);
  for (double& hop_s : *hops_s) hop_s *= own_part;
  links_->learn(host_, path.planned.hops, *hops_s);
}

void SendBuffer::erase(std::map<MessageKey, Message>::iterator message) {
  kept_bytes_ -= message->second.payload->size();
  messages_.erase(message);
}

void SendBuffer::match(std::uint32_t dst_rank, std::uint64_t number) {
  remove_unmatched({dst_rank, number});
  const auto found = messages_.find({dst_rank, number});
  if (found != messages_.end()) found->second.is_matched = true;
}

void SendBuffer::remove_unmatched(const MessageKey& key) {
  if (const auto found = reserved_.find(key); found != reserved_.end()) found->second = true;
  const auto found = unmatched_.find(key);
  if (found == unmatched_.end()) return;
  unmatched_bytes_of_rank_[key.dst_rank] -= found->second;
  unmatched_.erase(found);
}

void SendBuffer::reject(std::uint32_t dst_rank, std::uint64_t number, Time now) {
  remove_unmatched({dst_rank, number});
  const auto found = messages_.find({dst_rank, number});
  if (found == messages_.end()) return;
  const auto first = in_flight_.lower_bound({found->first, 0});
  auto each = first;
  while (each != in_flight_.end() && each->first.message == found->first) {
    queues_[host_of_rank_[dst_rank]].paths[each->second.path].in_flight_bytes -= each->second.bytes;
    each = in_flight_.erase(each);
  }
  for (std::size_t segment = 0; segment < found->second.is_acknowledged.size(); ++segment) {
    if (found->second.is_acknowledged[segment]) continue;
    queues_[host_of_rank_[dst_rank]].unacknowledged_bytes -= size_of({found->first, segment});
  }
  const Sending& sending = found->second.sending;
  if (!sending.is_untimed) {
    queues_[host_of_rank_[dst_rank]].rule->miss(sending.mode, sending.bytes, now);
  }
  // Its waiting segments are dropped when they come up.
  erase(found);
}

void SendBuffer::take_back(std::map<SegmentKey, InFlight>::iterator found) {
  SendQueue& queue = queues_[host_of_rank_[found->first.message.dst_rank]];
  queue.paths[found->second.path].in_flight_bytes -= found->second.bytes;
  queue.waiting.push_front(found->first);
  in_flight_.erase(found);
}

bool SendBuffer::bypasses_routers(const SegmentKey& segment, const InFlight& sent) const {
  return sent.path + 1 == queues_[host_of_rank_[segment.message.dst_rank]].paths.size();
}

void SendBuffer::expire(Time now) {
  std::vector<std::pair<std::uint16_t, std::size_t>> closed;
  std::set<std::uint16_t> late;
  for (const auto& [segment, sent] : in_flight_) {
    if (sent.expires > now) continue;
    const std::uint16_t host = host_of_rank_[segment.message.dst_rank];
    // Without routers there is no other path to leave it for.
    if (bypasses_routers(segment, sent)) {
      late.insert(host);
      continue;
    }
    PathState& path = queues_[host].paths[sent.path];
    if (!path.is_open(now)) continue;
    path.close(now);
    closed.emplace_back(host, sent.path);
  }
  for (const std::uint16_t host : late) queues_[host].wait_longer();
  // Other segments on a path that does not answer are sent again as well.
  for (auto each = in_flight_.begin(); each != in_flight_.end();) {
    const auto found = each++;
    const std::uint16_t host = host_of_rank_[found->first.message.dst_rank];
    const std::pair key{host, found->second.path};
    const bool is_closed = std::find(closed.begin(), closed.end(), key) != closed.end();
    if (is_closed || found->second.expires <= now) take_back(found);
  }
}

void SendBuffer::leave_late(Time now) {
  for (std::size_t host = 0; host < queues_.size(); ++host) {
    if (queues_[host].may_be_late(now)) leave_late(static_cast<std::uint16_t>(host), now);
  }
}

// Segments in flight stay on their path: there are only as many as keep the path busy.
void SendBuffer::leave_late(std::uint16_t host, Time now) {
  SendQueue& queue = queues_[host];
  std::vector<Sending*> late;
  const Sending* next = nullptr;
  for (auto& [key, message] : messages_) {
    Sending& sending = message.sending;
    if (host_of_rank_[key.dst_rank] != host || !queue.is_of_period(sending)) continue;
    if (sending.has_unusable_time) return;
    late.push_back(&sending);
    if (next == nullptr || sending.began < next->began) next = &sending;
  }
  if (next == nullptr) return;
  const auto mode = queue.leave_if_late(*next, now);
  if (!mode) return;
  for (Sending* const sending : late) {
    sending->changed_mode = mode;
    sending->is_untimed = true;
  }
  for (const auto& [segment, sent] : in_flight_) {
    if (host_of_rank_[segment.message.dst_rank] != host) continue;
    PathState& path = queue.paths[sent.path];
    if (!path.planned.is_direct()) continue;
    path.learn_late(sent.bytes_ahead, duration<double>(now - sent.sent).count());
  }
}

void SendBuffer::lose_router() {
  for (auto each = in_flight_.begin(); each != in_flight_.end();) {
    const auto found = each++;
    if (!bypasses_routers(found->first, found->second)) take_back(found);
  }
}

void SendBuffer::lose_connection(std::uint32_t dst_rank) {
  for (auto each = in_flight_.lower_bound({{dst_rank, 0}, 0});
       each != in_flight_.end() && each->first.message.dst_rank == dst_rank;) {
    const auto found = each++;
    if (bypasses_routers(found->first, found->second)) take_back(found);
  }
}

}  // namespace fairlead::relay
