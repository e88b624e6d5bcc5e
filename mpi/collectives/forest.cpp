// SPDX-License-Identifier: Apache-2.0
// Segments along spanning trees: down (bcast), up (reduce), up and then down (allreduce).
#include <algorithm>
#include <cstddef>
#include <vector>

#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

constexpr int kNotReady = -1;

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

enum class EdgeDirection : std::uint8_t { up, down };

/// One edge of one tree, from the side of this host.
struct Edge {
  int tree = 0;
  EdgeDirection direction = EdgeDirection::down;
  bool is_outgoing = false;
  int rank = 0;
  int child = 0;      ///< its index among the children; of edges to and from children
  int next = 0;       ///< position in the tree's segments of the next message to start
  int under_way = 0;  ///< messages
};

/// How far a segment has come at this host.
struct Progress {
  int ready_upwards = kNotReady;  ///< when it may be sent to the parent, counted in events
  int ready_downwards = kNotReady;
  int num_combined = 0;     ///< children
  bool is_sent_up = false;  ///< its memory may be overwritten
};

class Forest {
 public:
  /// @param own  what goes up
  /// @param whole  where results are combined, and what goes down; null at leaves of a reduce
  Forest(const Schedule& schedule, const ForestPart& part, const Team& team,
         const Reduction& reduction, const void* own, std::byte* whole, Buffers* buffers)
      : schedule_(schedule),
        part_(part),
        team_(team),
        reduction_(reduction),
        own_(own),
        whole_(whole),
        starts_(segment_starts(schedule.segments, reduction.elements.count)),
        progress_(schedule.segments.size()) {
    const bool goes_up = schedule.operation != Operation::bcast;
    const bool goes_down = schedule.operation != Operation::reduce;
    for (std::size_t tree = 0; tree < part.trees.size(); ++tree) {
      if (goes_up) add_edges(static_cast<int>(tree), EdgeDirection::up);
      if (goes_down) add_edges(static_cast<int>(tree), EdgeDirection::down);
      if (goes_up) make_first_ready(part.trees[tree]);
    }
    if (!goes_up) make_all_ready_at_roots();
    if (goes_up && buffers != nullptr) make_slots(*buffers);
  }

  int run() {
    Messages messages(team_.comm, edges_.size() * index_of(schedule_.window));
    return exchange(*this, messages);
  }

  int post_receives(Messages& messages) {
    if (is_limited_upwards()) return post_receives_in_order(messages);
    for (std::size_t index = 0; index < edges_.size(); ++index) {
      while (!edges_[index].is_outgoing && may_receive(edges_[index])) {
        const int code = post_receive(messages, index);
        if (code != MPI_SUCCESS) return code;
      }
    }
    return MPI_SUCCESS;
  }

  int start_sends(Messages& messages) {
    for (;;) {
      const int index = first_ready();
      if (index < 0) return MPI_SUCCESS;
      Edge& edge = edges_[index_of(index)];
      if (const int code = start_send(messages, index); code != MPI_SUCCESS) return code;
      ++edge.next;
      ++edge.under_way;
      if (edge.direction == EdgeDirection::down) ++num_sends_down_;
    }
  }

  int start_send(Messages& messages, int index) {
    const Edge& edge = edges_[index_of(index)];
    const int segment = segment_at(edge, edge.next);
    const bool is_own = edge.direction == EdgeDirection::up && tree_of(edge).children.empty();
    const void* memory = reduction_.elements.at(is_own ? own_ : whole_, starts_[index_of(segment)]);
    const bool is_limited = edge.direction == EdgeDirection::down && schedule_.max_sends > 0;
    const auto send = is_limited ? &Messages::send_synchronously : &Messages::send;
    return (messages.*send)(memory, count_of(segment), reduction_.elements.type, edge.rank,
                            tag_of(edge, segment), {.edge = index, .number = edge.next});
  }

  int finish(MessageName name) {
    Edge& edge = edges_[index_of(name.edge)];
    --edge.under_way;
    const int segment = segment_at(edge, name.number);
    Progress& progress = progress_[index_of(segment)];
    if (edge.is_outgoing) {
      if (edge.direction == EdgeDirection::up) progress.is_sent_up = true;
      if (edge.direction == EdgeDirection::down) --num_sends_down_;
      return MPI_SUCCESS;
    }
    if (edge.direction == EdgeDirection::down) {
      progress.ready_downwards = num_events_++;
      return MPI_SUCCESS;
    }
    --num_receives_up_;
    has_arrived_[index_of(name.edge)][index_of(name.number)] = true;
    return combine(edge, name.number);
  }

 private:
  void add_edges(int tree, EdgeDirection direction) {
    const TreePart& part = part_.trees[index_of(tree)];
    if (part.parent != kNoHost) {
      edges_.push_back({.tree = tree,
                        .direction = direction,
                        .is_outgoing = direction == EdgeDirection::up,
                        .rank = team_.rank_of(part.parent)});
    }
    for (std::size_t child = 0; child < part.children.size(); ++child) {
      edges_.push_back({.tree = tree,
                        .direction = direction,
                        .is_outgoing = direction == EdgeDirection::down,
                        .rank = team_.rank_of(part.children[child]),
                        .child = static_cast<int>(child)});
    }
  }

  /// A host without children in a tree has nothing to wait for there. One that is alone is done.
  void make_first_ready(const TreePart& part) {
    if (!part.children.empty()) return;
    for (const std::int32_t segment : part.segments) {
      progress_[index_of(segment)].ready_upwards = num_events_++;
    }
  }

  void make_all_ready_at_roots() {
    for (std::size_t segment = 0; segment < progress_.size(); ++segment) {
      const auto tree = index_of(schedule_.segments[segment].tree);
      if (part_.trees[tree].parent == kNoHost) progress_[segment].ready_downwards = num_events_++;
    }
  }

  /// For each edge from a child, `window` slots of the longest segment.
  void make_slots(Buffers& buffers) {
    for (std::size_t segment = 0; segment < progress_.size(); ++segment) {
      slot_elements_ = std::max(slot_elements_, starts_[segment + 1] - starts_[segment]);
    }
    std::size_t num_slots = 0;
    first_slot_of_edge_.assign(edges_.size(), 0);
    has_arrived_.resize(edges_.size());
    for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
      if (edges_[edge].is_outgoing || edges_[edge].direction == EdgeDirection::down) continue;
      first_slot_of_edge_[edge] = num_slots;
      num_slots += index_of(schedule_.window);
      has_arrived_[edge].assign(part_.trees[index_of(edges_[edge].tree)].segments.size(), false);
    }
    slots_ = buffers.slots.room_for(reduction_.elements, num_slots * slot_elements_);
  }

  std::byte* slot(std::size_t edge, int position) const {
    const auto slot_of_edge = index_of(position % schedule_.window);
    return reduction_.elements.at(static_cast<void*>(slots_),
                                  (first_slot_of_edge_[edge] + slot_of_edge) * slot_elements_);
  }

  const TreePart& tree_of(const Edge& edge) const { return part_.trees[index_of(edge.tree)]; }

  int segment_at(const Edge& edge, int position) const {
    return tree_of(edge).segments[index_of(position)];
  }

  std::uint64_t count_of(int segment) const {
    return starts_[index_of(segment) + 1] - starts_[index_of(segment)];
  }

  /// The number of a segment is the tag of its messages; upwards and downwards differ.
  int tag_of(const Edge& edge, int segment) const {
    const bool comes_back =
        schedule_.operation == Operation::allreduce && edge.direction == EdgeDirection::down;
    return comes_back ? segment + static_cast<int>(progress_.size()) : segment;
  }

  bool is_limited_upwards() const {
    return schedule_.operation == Operation::reduce && schedule_.max_sends > 0;
  }

  /// At most `max_sends` at once, strictly in the order of segments and children. So what all hosts
  /// are to receive of the first segment that is not done is always posted, or done.
  int post_receives_in_order(Messages& messages) {
    while (num_receives_up_ < schedule_.max_sends) {
      const int index = first_to_receive();
      if (index < 0 || !may_receive(edges_[index_of(index)])) return MPI_SUCCESS;
      const int code = post_receive(messages, index_of(index));
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

  /// Edge with the lowest segment that was not asked for yet, or -1; edges are in the order of
  /// children.
  int first_to_receive() const {
    int best = -1;
    int best_segment = 0;
    for (std::size_t index = 0; index < edges_.size(); ++index) {
      const Edge& edge = edges_[index];
      if (edge.is_outgoing || is_done(edge)) continue;
      const int segment = segment_at(edge, edge.next);
      if (best < 0 || segment < best_segment) {
        best = static_cast<int>(index);
        best_segment = segment;
      }
    }
    return best;
  }

  int post_receive(Messages& messages, std::size_t index) {
    Edge& edge = edges_[index];
    const int segment = segment_at(edge, edge.next);
    void* memory =
        edge.direction == EdgeDirection::up
            ? slot(index, edge.next)
            : reduction_.elements.at(static_cast<void*>(whole_), starts_[index_of(segment)]);
    const int code = messages.receive(memory, count_of(segment), reduction_.elements.type,
                                      edge.rank, tag_of(edge, segment),
                                      {.edge = static_cast<int>(index), .number = edge.next});
    if (code != MPI_SUCCESS) return code;
    ++edge.next;
    ++edge.under_way;
    if (edge.direction == EdgeDirection::up) ++num_receives_up_;
    return MPI_SUCCESS;
  }

  /// Whether all of its messages were started.
  bool is_done(const Edge& edge) const {
    return edge.next >= static_cast<int>(tree_of(edge).segments.size());
  }

  bool may_receive(const Edge& edge) const {
    if (is_done(edge) || edge.under_way >= schedule_.window) return false;
    const Progress& progress = progress_[index_of(segment_at(edge, edge.next))];
    if (edge.direction == EdgeDirection::down) {
      return schedule_.operation == Operation::bcast || progress.is_sent_up;
    }
    // Its slot is free when the segment that had it before is combined.
    if (edge.next < schedule_.window) return true;
    const int before = segment_at(edge, edge.next - schedule_.window);
    return progress_[index_of(before)].num_combined > edge.child;
  }

  /// Edge of the send that may start and whose segment was ready first, or -1.
  int first_ready() const {
    int best = -1;
    int best_ready = 0;
    for (std::size_t index = 0; index < edges_.size(); ++index) {
      const Edge& edge = edges_[index];
      if (!edge.is_outgoing || edge.under_way >= schedule_.window || is_done(edge)) continue;
      if (edge.direction == EdgeDirection::down && schedule_.max_sends > 0 &&
          num_sends_down_ >= schedule_.max_sends) {
        continue;
      }
      const Progress& progress = progress_[index_of(segment_at(edge, edge.next))];
      const int ready =
          edge.direction == EdgeDirection::up ? progress.ready_upwards : progress.ready_downwards;
      if (ready != kNotReady && (best < 0 || ready < best_ready)) {
        best = static_cast<int>(index);
        best_ready = ready;
      }
    }
    return best;
  }

  /// Children are combined in their order, so that every run gives the same bits.
  int combine(const Edge& from_child, int position) {
    const TreePart& tree = tree_of(from_child);
    const int segment = segment_at(from_child, position);
    const std::uint64_t first = starts_[index_of(segment)];
    Progress& progress = progress_[index_of(segment)];
    const auto index_of_edge = static_cast<std::size_t>(&from_child - edges_.data());
    const std::size_t first_child = index_of_edge - index_of(from_child.child);
    const auto num_children = static_cast<int>(tree.children.size());
    for (; progress.num_combined < num_children; ++progress.num_combined) {
      const std::size_t edge = first_child + index_of(progress.num_combined);
      if (!has_arrived_[edge][index_of(position)]) return MPI_SUCCESS;
      if (progress.num_combined == 0) {
        const int code =
            copy(reduction_.elements, own_, whole_, first, starts_[index_of(segment) + 1]);
        if (code != MPI_SUCCESS) return code;
      }
      if (count_of(segment) == 0)
        continue;  // An operation of the program is not called for nothing.
      const int code = mpi().Reduce_local(
          slot(edge, position), reduction_.elements.at(static_cast<void*>(whole_), first),
          static_cast<int>(count_of(segment)), reduction_.elements.type, reduction_.op);
      if (code != MPI_SUCCESS) return code;
    }
    (tree.parent == kNoHost ? progress.ready_downwards : progress.ready_upwards) = num_events_++;
    return MPI_SUCCESS;
  }

  const Schedule& schedule_;
  const ForestPart& part_;
  const Team& team_;
  const Reduction& reduction_;
  const void* own_;
  std::byte* whole_;
  std::vector<std::uint64_t> starts_;
  std::vector<Progress> progress_;  ///< of each segment
  std::vector<Edge> edges_;
  int num_events_ = 0;
  int num_sends_down_ = 0;
  int num_receives_up_ = 0;

  std::byte* slots_ = nullptr;
  std::uint64_t slot_elements_ = 0;
  std::vector<std::size_t> first_slot_of_edge_;
  std::vector<std::vector<bool>> has_arrived_;  ///< by edge and position
};

bool is_leaf_everywhere(const ForestPart& part) {
  return std::all_of(part.trees.begin(), part.trees.end(),
                     [](const TreePart& tree) { return tree.children.empty(); });
}

}  // namespace

ForestPart forest_part(const Schedule& schedule, int host) {
  ForestPart part;
  for (const ParentOfHost& tree : schedule.trees) {
    auto children = children_of_host(tree);
    part.trees.push_back({.parent = tree[index_of(host)],
                          .children = std::move(children[index_of(host)]),
                          .segments = {}});
  }
  for (std::size_t segment = 0; segment < schedule.segments.size(); ++segment) {
    part.trees[index_of(schedule.segments[segment].tree)].segments.push_back(
        static_cast<std::int32_t>(segment));
  }
  return part;
}

int forest_bcast(const Schedule& schedule, const ForestPart& part, const Team& team,
                 std::byte* message, std::uint64_t num_bytes) {
  const Reduction none{.elements = bytes_of(num_bytes), .op = {}};
  return Forest(schedule, part, team, none, message, message, nullptr).run();
}

int forest_reduce(const Schedule& schedule, const ForestPart& part, const Team& team,
                  const Reduction& reduction, const void* own, void* result, Buffers& buffers) {
  auto* whole = static_cast<std::byte*>(result);
  if (team.host != schedule.root) {
    whole = is_leaf_everywhere(part)
                ? nullptr
                : buffers.work.room_for(reduction.elements, reduction.elements.count);
  } else if (team.num_hosts() == 1) {
    return copy(reduction.elements, own, result, 0, reduction.elements.count);
  }
  return Forest(schedule, part, team, reduction, own, whole, &buffers).run();
}

int forest_allreduce(const Schedule& schedule, const ForestPart& part, const Team& team,
                     const Reduction& reduction, const void* own, void* result, Buffers& buffers) {
  if (team.num_hosts() == 1) {
    return copy(reduction.elements, own, result, 0, reduction.elements.count);
  }
  return Forest(schedule, part, team, reduction, own, static_cast<std::byte*>(result), &buffers)
      .run();
}

}  // namespace fairlead::collectives
