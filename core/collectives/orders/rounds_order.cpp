// SPDX-License-Identifier: Apache-2.0
// Hosts change places while the slow messages of the rounds become fewer.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

#include "collectives/orders/orders.hpp"

namespace fairlead::collectives {
namespace {

/// A round lasts as long as its slowest message: a high power of each stands for that.
constexpr double kPower = 6.0;
constexpr int kMaxRoundsPasses = 4;

struct Message {
  std::size_t src, dst;  // positions
  std::size_t cost;      // index of the round's table of costs
};

class RoundsOrder {
 public:
  RoundsOrder(const Links& links, Rounds rounds, double num_bytes, std::vector<std::int32_t> start)
      : num_hosts_(links.num_hosts()), order_(std::move(start)), messages_of_position_(num_hosts_) {
    const bool is_doubling = rounds == Rounds::doubling;
    const bool is_bruck = rounds == Rounds::bruck || rounds == Rounds::bruck_back;
    const std::size_t num_paired = is_doubling ? std::bit_floor(num_hosts_) : num_hosts_;
    double round_bytes = num_bytes;
    for (std::size_t distance = 1; distance < num_paired; distance *= 2) {
      if (costs_.empty() || is_bruck) add_costs(links, round_bytes);
      for (std::size_t position = 0; position < num_paired; ++position) {
        const std::size_t step = rounds == Rounds::bruck ? num_hosts_ - distance : distance;
        const std::size_t peer = is_doubling ? position ^ distance : (position + step) % num_hosts_;
        const Message message{position, peer, costs_.size() - 1};
        messages_of_position_[position].push_back(message);
        messages_of_position_[peer].push_back(message);
      }
      round_bytes *= 2.0;
    }
  }

  std::vector<std::int32_t> improved() {
    for (int pass = 0; pass < kMaxRoundsPasses; ++pass) {
      bool is_better = false;
      for (std::size_t first = 0; first < num_hosts_; ++first) {
        for (std::size_t second = first + 1; second < num_hosts_; ++second) {
          const double before = cost_at(first) + cost_at(second);
          std::swap(order_[first], order_[second]);
          if (cost_at(first) + cost_at(second) < before * (1.0 - 1e-12)) {
            is_better = true;
          } else {
            std::swap(order_[first], order_[second]);
          }
        }
      }
      if (!is_better) break;
    }
    return order_;
  }

 private:
  void add_costs(const Links& links, double num_bytes) {
    std::vector<double> costs(num_hosts_ * num_hosts_, 0.0);
    for (std::size_t src = 0; src < num_hosts_; ++src) {
      for (std::size_t dst = 0; dst < num_hosts_; ++dst) {
        if (src == dst) continue;
        const double took_s = links.transfer_s(src, dst, num_bytes);
        if (unit_s_ == 0.0) unit_s_ = took_s;
        costs[src * num_hosts_ + dst] = std::pow(took_s / unit_s_, kPower);
      }
    }
    costs_.push_back(std::move(costs));
  }

  [[nodiscard]] double cost_at(std::size_t position) const {
    double sum = 0.0;
    for (const Message& message : messages_of_position_[position]) {
      const auto src = static_cast<std::size_t>(order_[message.src]);
      const auto dst = static_cast<std::size_t>(order_[message.dst]);
      sum += costs_[message.cost][src * num_hosts_ + dst];
    }
    return sum;
  }

  std::size_t num_hosts_;
  double unit_s_ = 0.0;  // keeps the powers near 1
  std::vector<std::int32_t> order_;
  std::vector<std::vector<double>> costs_;  // one table, or one for each round
  std::vector<std::vector<Message>> messages_of_position_;
};

}  // namespace

std::vector<std::int32_t> rounds_order(const Links& links, Rounds rounds, double num_bytes,
                                       std::vector<std::int32_t> start) {
  return RoundsOrder(links, rounds, num_bytes, std::move(start)).improved();
}

}  // namespace fairlead::collectives
