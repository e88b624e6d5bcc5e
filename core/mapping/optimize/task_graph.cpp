// SPDX-License-Identifier: Apache-2.0
// Who talks to whom, from the view of one task.
#include "mapping/optimize/task_graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fairlead::optimizing {
namespace {

/// One row with each peer once, in ascending order.
void merge_peers(std::vector<Exchange>& row) {
  std::ranges::sort(row, {}, &Exchange::peer);
  std::size_t kept = 0;
  for (const Exchange& exchange : row) {
    if (kept > 0 && row[kept - 1].peer == exchange.peer) {
      row[kept - 1].out += exchange.out;
      row[kept - 1].in += exchange.in;
    } else {
      row[kept++] = exchange;
    }
  }
  row.resize(kept);
}

double mean_exchange(const RankMatrix& traffic) {
  double sum = 0.0;
  std::int64_t number = 0;
  traffic.for_each([&](std::size_t src, std::size_t dst, double value) {
    sum += src == dst ? 0.0 : value;
    number += src == dst ? 0 : 1;
  });
  return number > 0 ? sum / static_cast<double>(number) : 0.0;
}

}  // namespace

TaskGraph TaskGraph::scaled(const RankMatrix& traffic) {
  const double mean = mean_exchange(traffic);
  return {traffic, mean > 0.0 ? 1.0 / mean : 1.0};
}

TaskGraph::TaskGraph(const RankMatrix& traffic, double scale)
    : to_itself_(traffic.num_ranks(), 0.0F) {
  std::vector<std::vector<Exchange>> rows(traffic.num_ranks());
  traffic.for_each([this, &rows, scale](std::size_t src, std::size_t dst, double value) {
    const auto amount = static_cast<float>(value * scale);
    if (src == dst) {
      to_itself_[src] += amount;
      return;
    }
    rows[src].push_back({static_cast<std::int32_t>(dst), amount, 0.0F});
    rows[dst].push_back({static_cast<std::int32_t>(src), 0.0F, amount});
  });
  for (auto& row : rows) merge_peers(row);
  fill(rows);
}

TaskGraph::TaskGraph(std::vector<std::vector<Exchange>> exchanges, std::vector<float> to_itself)
    : to_itself_(std::move(to_itself)) {
  for (auto& row : exchanges) merge_peers(row);
  fill(exchanges);
}

void TaskGraph::fill(const std::vector<std::vector<Exchange>>& exchanges) {
  first_.assign(1, 0);
  first_.reserve(exchanges.size() + 1);
  for (const auto& row : exchanges) {
    exchanges_.insert(exchanges_.end(), row.begin(), row.end());
    first_.push_back(exchanges_.size());
  }
  is_symmetric_ = std::ranges::all_of(
      exchanges_, [](const Exchange& exchange) { return exchange.out == exchange.in; });
}

double TaskGraph::mean_both() const {
  if (exchanges_.empty()) return 0.0;
  const double sum = std::accumulate(
      exchanges_.begin(), exchanges_.end(), 0.0,
      [](double total, const Exchange& exchange) { return total + exchange.both(); });
  return sum / static_cast<double>(exchanges_.size());
}

TaskGraph TaskGraph::contracted(std::span<const std::int32_t> group_of_task,
                                std::int32_t num_groups) const {
  std::vector<std::vector<Exchange>> rows(static_cast<std::size_t>(num_groups));
  std::vector<float> inside(static_cast<std::size_t>(num_groups), 0.0F);
  for (std::int32_t task = 0; task < num_tasks(); ++task) {
    const std::int32_t group = group_of_task[static_cast<std::size_t>(task)];
    inside[static_cast<std::size_t>(group)] += to_itself(task);
    for (const Exchange& exchange : of(task)) {
      const std::int32_t other = group_of_task[static_cast<std::size_t>(exchange.peer)];
      if (other == group) {
        inside[static_cast<std::size_t>(group)] += exchange.out;
      } else {
        rows[static_cast<std::size_t>(group)].push_back({other, exchange.out, exchange.in});
      }
    }
  }
  return {std::move(rows), std::move(inside)};
}

}  // namespace fairlead::optimizing
