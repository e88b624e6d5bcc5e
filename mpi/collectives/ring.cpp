// SPDX-License-Identifier: Apache-2.0
// Parts of blocks around a ring: reduce_scatter, allgather, and one after the other.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

enum Edge : int { from_before, to_next };

/// A message of the ring, or where it lies in memory.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class Ring {
 public:
  /// @param block_at  the block of each position
  Ring(const Schedule& schedule, const Team& team, const Reduction& reduction, std::byte* vector,
       std::vector<Block> block_at, bool reduces, bool gathers)
      : schedule_(schedule),
        team_(team),
        reduction_(reduction),
        vector_(vector),
        block_at_(std::move(block_at)),
        num_hosts_(team.num_hosts()),
        num_reduce_rounds_(reduces ? num_hosts_ - 1 : 0),
        num_rounds_(num_reduce_rounds_ + (gathers ? num_hosts_ - 1 : 0)),
        progress_of_part_(static_cast<std::size_t>(schedule.num_parts)) {
    const auto found = std::find(schedule.order.begin(), schedule.order.end(), team.host);
    position_ = static_cast<int>(found - schedule.order.begin());
    const auto num_messages = static_cast<std::size_t>(num_rounds_ * schedule.num_parts);
    has_arrived_.assign(num_messages, false);
    is_sent_.assign(num_messages, false);
  }

  int run(Buffers* buffers) {
    if (num_reduce_rounds_ > 0) make_slots(*buffers);
    Messages messages(team_.comm,
                      2 * progress_of_part_.size() * static_cast<std::size_t>(schedule_.window));
    return exchange(*this, messages);
  }

  int post_receives(Messages& messages) {
    for (int part = 0; part < schedule_.num_parts; ++part) {
      int& round = progress(part).next_receive;
      for (; round < num_rounds_ && may_receive(round, part); ++round) {
        const int number = number_of(round, part);
        const Part incoming = part_of(number, true);
        void* memory = is_reduced(number)
                           ? slot(number)
                           : reduction_.elements.at(static_cast<void*>(vector_), incoming.first);
        const int code = messages.receive(memory, incoming.count, reduction_.elements.type,
                                          rank_at(position_ - 1), kTag + part,
                                          {.edge = from_before, .number = number});
        if (code != MPI_SUCCESS) return code;
      }
    }
    return MPI_SUCCESS;
  }

  int start_sends(Messages& messages) {
    for (int part = 0; part < schedule_.num_parts; ++part) {
      Progress& own = progress(part);
      for (; own.next_send < num_rounds_ && own.num_sends < schedule_.window; ++own.next_send) {
        if (own.next_send > 0 && !has_arrived(own.next_send - 1, part)) break;
        const int number = number_of(own.next_send, part);
        const Part outgoing = part_of(number, false);
        const int code =
            messages.send(reduction_.elements.at(static_cast<void*>(vector_), outgoing.first),
                          outgoing.count, reduction_.elements.type, rank_at(position_ + 1),
                          kTag + part, {.edge = to_next, .number = number});
        if (code != MPI_SUCCESS) return code;
        ++own.num_sends;
      }
    }
    return MPI_SUCCESS;
  }

  int finish(MessageName name) {
    if (name.edge == from_before) return take(name.number);
    is_sent_[static_cast<std::size_t>(name.number)] = true;
    --progress(name.number % schedule_.num_parts).num_sends;
    return MPI_SUCCESS;
  }

 private:
  /// How far a part of all blocks has come. Each goes around the ring for itself, under its own
  /// tag, so a short one overtakes longer ones.
  struct Progress {
    int next_receive = 0;
    int next_send = 0;
    int num_sends = 0;  ///< under way
  };

  Progress& progress(int part) { return progress_of_part_[static_cast<std::size_t>(part)]; }

  [[nodiscard]] int number_of(int round, int part) const {
    return round * schedule_.num_parts + part;
  }

  [[nodiscard]] bool has_arrived(int round, int part) const {
    return has_arrived_[static_cast<std::size_t>(number_of(round, part))];
  }

  void make_slots(Buffers& buffers) {
    for (const Block& block : block_at_) {
      slot_elements_ = std::max(slot_elements_, block.length());
    }
    // The last part is the longest.
    slot_elements_ -= part_start(schedule_.num_parts - 1, schedule_.num_parts, slot_elements_);
    slots_ = buffers.slots.room_for(reduction_.elements,
                                    slot_elements_ * static_cast<std::uint64_t>(num_slots()));
  }

  [[nodiscard]] int num_slots() const { return schedule_.window * schedule_.num_parts; }

  std::byte* slot(int message) const {
    const auto index = static_cast<std::uint64_t>(message % num_slots());
    return reduction_.elements.at(static_cast<void*>(slots_), index * slot_elements_);
  }

  [[nodiscard]] bool is_reduced(int message) const {
    return message / schedule_.num_parts < num_reduce_rounds_;
  }

  /// Position whose block this host sends in a round: p - 1, p - 2, .. while combining, and then
  /// p, p - 1, ..
  [[nodiscard]] int block_sent_in(int round) const {
    return round < num_reduce_rounds_ ? position_ - 1 - round
                                      : position_ - (round - num_reduce_rounds_);
  }

  /// What the host before sends is one position further back.
  [[nodiscard]] Part part_of(int message, bool is_incoming) const {
    const int round = message / schedule_.num_parts;
    const int block = block_sent_in(round) - (is_incoming ? 1 : 0) + 2 * num_hosts_;
    const Block& found = block_at_[static_cast<std::size_t>(block % num_hosts_)];
    const int part = message % schedule_.num_parts;
    const std::uint64_t start = part_start(part, schedule_.num_parts, found.length());
    const std::uint64_t end = part_start(part + 1, schedule_.num_parts, found.length());
    return {.first = found.first + start, .count = end - start};
  }

  [[nodiscard]] int rank_at(int position) const {
    const auto index = static_cast<std::size_t>((position + num_hosts_) % num_hosts_);
    return team_.rank_of(schedule_.order[index]);
  }

  [[nodiscard]] bool may_receive(int round, int part) const {
    // A slot, or the place in the window, is free when the message that had it has arrived.
    if (round >= schedule_.window && !has_arrived(round - schedule_.window, part)) return false;
    // A block that comes back overwrites what has been sent from its memory.
    if (round < num_reduce_rounds_ || num_reduce_rounds_ == 0) return true;
    return is_sent_[static_cast<std::size_t>(number_of(round - num_reduce_rounds_, part))];
  }

  int take(int message) {
    has_arrived_[static_cast<std::size_t>(message)] = true;
    const Part part = part_of(message, true);
    if (!is_reduced(message) || part.count == 0) return MPI_SUCCESS;
    return mpi().Reduce_local(
        slot(message), reduction_.elements.at(static_cast<void*>(vector_), part.first),
        static_cast<int>(part.count), reduction_.elements.type, reduction_.op);
  }

  const Schedule& schedule_;
  const Team& team_;
  const Reduction& reduction_;
  std::byte* vector_;
  std::vector<Block> block_at_;
  int num_hosts_;
  int num_reduce_rounds_;
  int num_rounds_;  ///< of messages in each direction, numbered by round and part
  std::vector<Progress> progress_of_part_;
  int position_ = 0;
  std::vector<bool> has_arrived_;
  std::vector<bool> is_sent_;
  std::byte* slots_ = nullptr;
  std::uint64_t slot_elements_ = 0;
};

/// The block at a position is that of the host there.
std::vector<Block> blocks_at_positions(const Schedule& schedule, Blocks layout) {
  std::vector<Block> blocks;
  for (const std::int32_t host : schedule.order) {
    blocks.push_back(layout[static_cast<std::size_t>(host)]);
  }
  return blocks;
}

}  // namespace

int ring_allgather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout) {
  const Reduction none{.elements = bytes_of(0), .op = {}};
  Ring ring(schedule, team, none, blocks, blocks_at_positions(schedule, layout), false, true);
  return ring.run(nullptr);
}

int ring_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                        void* vector, Blocks layout, Buffers& buffers) {
  Ring ring(schedule, team, reduction, static_cast<std::byte*>(vector),
            blocks_at_positions(schedule, layout), true, false);
  return ring.run(&buffers);
}

int ring_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                   void* vector, Buffers& buffers) {
  Ring ring(schedule, team, reduction, static_cast<std::byte*>(vector),
            equal_blocks(team.num_hosts(), reduction.elements.count), true, true);
  return ring.run(&buffers);
}

}  // namespace fairlead::collectives
