// SPDX-License-Identifier: Apache-2.0
// Blocks of all ranks in a buffer, by host: the ranks of a host need not follow one another.
#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "forms.hpp"
#include "members.hpp"

namespace fairlead::collectives {

/// Where the block of each rank and that of each host lies. In the order of the ranks where it can
/// be, else by host: then blocks have to be moved before or after.
class HostBlocks {
 public:
  /// @param length_of_rank  in bytes or elements
  HostBlocks(const Members& members, std::span<const std::uint64_t> length_of_rank)
      : is_moved_(!members.is_consecutive()), place_of_rank_(length_of_rank.size()) {
    std::vector<int> ranks(length_of_rank.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    in_rank_order_ = places(ranks, length_of_rank);
    if (is_moved_) {
      ranks.clear();
      for (int host = 0; host < members.num_hosts(); ++host) {
        ranks.insert(ranks.end(), members.ranks_of(host).begin(), members.ranks_of(host).end());
      }
    }
    place_of_rank_ = places(ranks, length_of_rank);
    for (int host = 0; host < members.num_hosts(); ++host) {
      const auto& of_host = members.ranks_of(host);
      layout_.push_back(
          {.first = of_rank(of_host.front()).first, .end = of_rank(of_host.back()).end});
    }
  }

  [[nodiscard]] bool is_moved() const { return is_moved_; }
  [[nodiscard]] Blocks layout() const { return layout_; }
  [[nodiscard]] const Block& of_rank(int rank) const {
    return place_of_rank_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const Block& of_host(int host) const {
    return layout_[static_cast<std::size_t>(host)];
  }

  /// From the order of the ranks to the order here; `copy_block(from, to, length)` of positions.
  template <class CopyBlock>
  int move_in(CopyBlock copy_block) const {
    for (std::size_t rank = 0; rank < place_of_rank_.size(); ++rank) {
      const int code = copy_block(in_rank_order_[rank].first, place_of_rank_[rank].first,
                                  place_of_rank_[rank].length());
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }
  void move_in(const std::byte* from, std::byte* to) const {
    for (std::size_t rank = 0; rank < place_of_rank_.size(); ++rank) {
      std::memcpy(to + place_of_rank_[rank].first, from + in_rank_order_[rank].first,
                  place_of_rank_[rank].length());
    }
  }
  void move_out(const std::byte* from, std::byte* to) const {
    for (std::size_t rank = 0; rank < place_of_rank_.size(); ++rank) {
      std::memcpy(to + in_rank_order_[rank].first, from + place_of_rank_[rank].first,
                  place_of_rank_[rank].length());
    }
  }

 private:
  static std::vector<Block> places(std::span<const int> ranks,
                                   std::span<const std::uint64_t> length_of_rank) {
    std::vector<Block> result(ranks.size());
    std::uint64_t first = 0;
    for (const int rank : ranks) {
      const auto index = static_cast<std::size_t>(rank);
      result[index] = {.first = first, .end = first + length_of_rank[index]};
      first = result[index].end;
    }
    return result;
  }

  bool is_moved_;
  std::vector<Block> in_rank_order_;
  std::vector<Block> place_of_rank_;
  std::vector<Block> layout_;
};

}  // namespace fairlead::collectives
