// SPDX-License-Identifier: Apache-2.0
// Blocks that cross between islands once: allgather, reduce_scatter, and one after the other.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "fairlead/collectives/islands.hpp"
#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"
#include "ordered_sum.hpp"

namespace fairlead::collectives {
namespace {

/// What a message is to this host.
enum Role : int { sent_inside, sent_across, received_inside, received_across };

/// A message, and the block that it holds, whole or this host's part of it.
struct BlockMessage {
  std::int32_t block;
  std::int32_t peer;
};

/// Messages that start in their order, of which so many are under way at most.
class InTurn {
 public:
  /// @param limit  0: none
  /// @param max_messages  that will be there
  InTurn(std::int32_t limit, std::size_t max_messages)
      : limit_(limit > 0 ? std::min(static_cast<std::size_t>(limit), max_messages) : max_messages),
        is_limited_(limit_ < max_messages) {}

  [[nodiscard]] bool is_limited() const { return is_limited_; }
  void add(BlockMessage message) { messages_.push_back(message); }
  void end_one() { --num_under_way_; }

  /// @param start  (message, its number in the order), which returns an MPI error code
  template <class Start>
  int start_all(Start start) {
    for (; next_ < messages_.size() && num_under_way_ < limit_; ++next_, ++num_under_way_) {
      const int code = start(messages_[next_], static_cast<int>(next_));
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

 private:
  std::size_t limit_;
  bool is_limited_;
  std::vector<BlockMessage> messages_;
  std::size_t next_ = 0;
  std::size_t num_under_way_ = 0;
};

/// The blocks in the memory of one host, and who is who among the others. The number of a block's
/// host is the tag of its messages.
class HostView {
 public:
  HostView(const Schedule& schedule, const Team& its_team, const Elements& its_elements,
           void* vector, Blocks layout)
      : team(its_team),
        elements(its_elements),
        islands(schedule.levels.front()),
        mates(islands.mates_of(team.host)),
        entering(islands.entering_by(team.host)),
        vector_(vector),
        layout_(layout) {
    for (const std::size_t island : islands.islands_beyond(team.host)) {
      entries.push_back(islands.entry_of(team.host, island));
    }
  }

  [[nodiscard]] std::uint64_t length_of(std::int32_t block) const {
    return layout_[static_cast<std::size_t>(block)].length();
  }
  [[nodiscard]] void* memory_of(std::int32_t block) const {
    return elements.at(vector_, layout_[static_cast<std::size_t>(block)].first);
  }
  /// A bound on the messages of this host in both directions.
  [[nodiscard]] std::size_t max_messages() const {
    return 2 * layout_.size() + mates.size() * (entering.size() + 1) + entries.size();
  }

  /// @param is_limited  it counts for a limit until it is being received
  int send(Messages& messages, BlockMessage message, Role role, bool is_limited) const {
    const auto start = is_limited ? &Messages::send_synchronously : &Messages::send;
    return (messages.*start)(memory_of(message.block), length_of(message.block), elements.type,
                             team.rank_of(message.peer), kTag + message.block, {.edge = role});
  }
  int send_in_turn(Messages& messages, InTurn& in_turn, Role role) const {
    return in_turn.start_all([&](BlockMessage message, int) {
      return send(messages, message, role, in_turn.is_limited());
    });
  }
  int receive(Messages& messages, void* memory, BlockMessage message, MessageName name) const {
    return messages.receive(memory, length_of(message.block), elements.type,
                            team.rank_of(message.peer), kTag + message.block, name);
  }

  const Team& team;
  const Elements& elements;
  Islands islands;
  std::vector<std::int32_t> mates;
  std::vector<std::int32_t> entries;   ///< in the other islands, for this process's block
  std::vector<std::int32_t> entering;  ///< blocks of other islands that go through this host

 private:
  void* vector_;
  Blocks layout_;
};

class Allgather {
 public:
  Allgather(const Schedule& schedule, const HostView& view)
      : view_(view),
        inside_(schedule.max_sends, view.mates.size() * (view.entering.size() + 1)),
        across_(schedule.window, view.entries.size()) {
    for (const std::int32_t entry : view.entries) across_.add({view.team.host, entry});
    pass_on(view.team.host);
  }

  int run() {
    Messages messages(view_.team.comm, view_.max_messages());
    for (std::int32_t block = 0; block < view_.team.num_hosts(); ++block) {
      if (block == view_.team.host) continue;
      const int code = view_.receive(
          messages, view_.memory_of(block), {block, source_of(block)},
          {.edge = enters_here(block) ? received_across : received_inside, .number = block});
      if (code != MPI_SUCCESS) return code;
    }
    return exchange(*this, messages);
  }

  int post_receives(Messages&) { return MPI_SUCCESS; }

  int start_sends(Messages& messages) {
    const int code = view_.send_in_turn(messages, across_, sent_across);
    return code != MPI_SUCCESS ? code : view_.send_in_turn(messages, inside_, sent_inside);
  }

  int finish(MessageName name) {
    if (name.edge == sent_inside) inside_.end_one();
    if (name.edge == sent_across) across_.end_one();
    if (name.edge == received_across) pass_on(name.number);
    return MPI_SUCCESS;
  }

 private:
  void pass_on(std::int32_t block) {
    for (const std::int32_t mate : view_.mates) inside_.add({block, mate});
  }

  /// Whether this host lets the block into its island.
  [[nodiscard]] bool enters_here(std::int32_t block) const {
    const std::size_t island = view_.islands.island_of(view_.team.host);
    return view_.islands.island_of(block) != island &&
           view_.islands.entry_of(block, island) == view_.team.host;
  }
  /// Who sends a block here: its host, or the one that lets it into this island.
  [[nodiscard]] std::int32_t source_of(std::int32_t block) const {
    const std::size_t island = view_.islands.island_of(view_.team.host);
    const bool is_inside = view_.islands.island_of(block) == island;
    return is_inside || enters_here(block) ? block : view_.islands.entry_of(block, island);
  }

  const HostView& view_;
  InTurn inside_, across_;
};

class ReduceScatter {
 public:
  ReduceScatter(const Schedule& schedule, const HostView& view, const Reduction& reduction,
                Buffers& buffers)
      : view_(view),
        inside_(schedule.max_sends, view.mates.size() * (view.entering.size() + 1)),
        across_(schedule.window, view.entering.size()) {
    const std::int32_t own = view.team.host;
    std::uint64_t num_elements = view.length_of(own) * (view.mates.size() + view.entries.size());
    for (const std::int32_t block : view.entering) {
      num_elements += view.length_of(block) * view.mates.size();
    }
    std::byte* slots = buffers.slots.room_for(reduction.elements, num_elements);
    const auto add_sum = [&](std::int32_t block, std::size_t num_others) {
      sums_.emplace_back(reduction, view.memory_of(block), view.length_of(block), num_others,
                         slots);
      slots = reduction.elements.at(static_cast<void*>(slots), view.length_of(block) * num_others);
      for (const std::int32_t mate : view.mates) inside_.add({block, mate});
    };
    // What is to cross comes first.
    for (const std::int32_t block : view.entering) add_sum(block, view.mates.size());
    add_sum(own, view.mates.size() + view.entries.size());
  }

  int run() {
    Messages messages(view_.team.comm, view_.max_messages());
    if (const int code = receive_across(messages); code != MPI_SUCCESS) return code;
    if (const int code = send_inside(messages); code != MPI_SUCCESS) return code;
    for (std::size_t sum = 0; sum < sums_.size(); ++sum) send_on_if_complete(sum);
    return exchange(*this, messages);
  }

  int post_receives(Messages& messages) {
    return inside_.start_all([&](BlockMessage message, int number) {
      const auto& [sum, other] = place_of(number);
      return view_.receive(messages, sums_[sum].slot(other), message,
                           {.edge = received_inside, .number = number});
    });
  }

  int start_sends(Messages& messages) { return view_.send_in_turn(messages, across_, sent_across); }

  int finish(MessageName name) {
    if (name.edge == sent_across) across_.end_one();
    if (name.edge == received_across) {
      return sums_.back().take(view_.mates.size() + static_cast<std::size_t>(name.number));
    }
    if (name.edge != received_inside) return MPI_SUCCESS;
    inside_.end_one();
    const auto& [sum, other] = place_of(name.number);
    const int code = sums_[sum].take(other);
    send_on_if_complete(sum);
    return code;
  }

 private:
  struct Place {
    std::size_t sum;
    std::size_t other;
  };
  /// The place of a message from inside: each sum has one from each of the others.
  [[nodiscard]] Place place_of(int number) const {
    const auto index = static_cast<std::size_t>(number);
    return {index / view_.mates.size(), index % view_.mates.size()};
  }

  /// The own block's sums of the other islands.
  int receive_across(Messages& messages) {
    const std::size_t num_mates = view_.mates.size();
    for (std::size_t index = 0; index < view_.entries.size(); ++index) {
      const int code = view_.receive(messages, sums_.back().slot(num_mates + index),
                                     {view_.team.host, view_.entries[index]},
                                     {.edge = received_across, .number = static_cast<int>(index)});
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

  /// This host's parts of all blocks that others of the island combine.
  int send_inside(Messages& messages) {
    for (const std::int32_t mate : view_.mates) {
      std::vector<std::int32_t> blocks = view_.islands.entering_by(mate);
      blocks.push_back(mate);
      for (const std::int32_t block : blocks) {
        const int code = view_.send(messages, {block, mate}, sent_inside, false);
        if (code != MPI_SUCCESS) return code;
      }
    }
    return MPI_SUCCESS;
  }

  /// The last sum is that of this process's block.
  void send_on_if_complete(std::size_t sum) {
    if (sum + 1 == sums_.size() || !sums_[sum].is_complete()) return;
    across_.add({view_.entering[sum], view_.entering[sum]});
  }

  const HostView& view_;
  std::vector<OrderedSum> sums_;
  InTurn inside_, across_;
};

}  // namespace

int two_level_allgather(const Schedule& schedule, const Team& team, std::byte* blocks,
                        Blocks layout) {
  const Elements bytes = bytes_of(0);
  const HostView view(schedule, team, bytes, blocks, layout);
  return Allgather(schedule, view).run();
}

int two_level_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                             void* vector, Blocks layout, Buffers& buffers) {
  const HostView view(schedule, team, reduction.elements, vector, layout);
  return ReduceScatter(schedule, view, reduction, buffers).run();
}

int two_level_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                        void* vector, Buffers& buffers) {
  const std::vector<Block> layout = equal_blocks(team.num_hosts(), reduction.elements.count);
  const HostView view(schedule, team, reduction.elements, vector, layout);
  // A message of the second half cannot be taken for one of the first: those between two hosts
  // with one tag arrive in their order.
  const int code = ReduceScatter(schedule, view, reduction, buffers).run();
  if (code != MPI_SUCCESS) return code;
  return Allgather(schedule, view).run();
}

}  // namespace fairlead::collectives
