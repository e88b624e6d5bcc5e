// SPDX-License-Identifier: Apache-2.0
// The partners of each task.
#include "mapping/anneal/task_graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fairlead::optimizing {
namespace {

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
  // Both directions of a row side by side, unsorted.
  first_.assign(traffic.num_ranks() + 1, 0);
  traffic.for_each([this](std::size_t src, std::size_t dst, double) {
    first_[src + 1] += src == dst ? 0 : 1;
    first_[dst + 1] += src == dst ? 0 : 1;
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  exchanges_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  traffic.for_each([&](std::size_t src, std::size_t dst, double value) {
    const auto amount = static_cast<float>(value * scale);
    if (src == dst) {
      to_itself_[src] += amount;
      return;
    }
    exchanges_[next[src]++] = {static_cast<std::int32_t>(dst), amount, 0.0F};
    exchanges_[next[dst]++] = {static_cast<std::int32_t>(src), 0.0F, amount};
  });
  merge_peers();
}

void TaskGraph::merge_peers() {
  // A table of all tasks finds equal peers; sorting alone would take longer for full rows.
  std::vector<std::size_t> place_of_peer(to_itself_.size());
  std::size_t end = 0;
  for (std::size_t task = 0; task + 1 < first_.size(); ++task) {
    const std::size_t begin = end, first = std::exchange(first_[task], begin);
    for (std::size_t place = first; place < first_[task + 1]; ++place) {
      const Exchange exchange = exchanges_[place];
      std::size_t& known = place_of_peer[static_cast<std::size_t>(exchange.peer)];
      if (known >= begin && known < end && exchanges_[known].peer == exchange.peer) {
        exchanges_[known].out += exchange.out;
        exchanges_[known].in += exchange.in;
      } else {
        known = end;
        exchanges_[end++] = exchange;
      }
    }
    std::ranges::sort(std::span(exchanges_).subspan(begin, end - begin), {}, &Exchange::peer);
  }
  first_.back() = end;
  exchanges_.resize(end);
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

TaskGraph TaskGraph::part(std::span<const std::int32_t> tasks,
                          std::span<std::int32_t> number_of_task) const {
  TaskGraph some;
  std::int32_t number = 0;
  for (const std::int32_t task : tasks) {
    number_of_task[static_cast<std::size_t>(task)] = number++;
    some.to_itself_.push_back(to_itself(task));
  }
  some.first_.push_back(0);
  for (const std::int32_t task : tasks) {
    for (const Exchange& exchange : of(task)) {
      const std::int32_t peer = number_of_task[static_cast<std::size_t>(exchange.peer)];
      if (peer >= 0) some.exchanges_.push_back({peer, exchange.out, exchange.in});
    }
    some.first_.push_back(some.exchanges_.size());
  }
  for (const std::int32_t task : tasks) number_of_task[static_cast<std::size_t>(task)] = -1;
  some.merge_peers();
  return some;
}

TaskGraph TaskGraph::contracted(std::span<const std::int32_t> group_of_task,
                                std::int32_t num_groups) const {
  TaskGraph coarse;
  coarse.to_itself_.assign(static_cast<std::size_t>(num_groups), 0.0F);
  coarse.first_.assign(static_cast<std::size_t>(num_groups) + 1, 0);
  const auto visit = [this, group_of_task](auto&& between, auto&& inside) {
    for (std::int32_t task = 0; task < num_tasks(); ++task) {
      const auto group = static_cast<std::size_t>(group_of_task[static_cast<std::size_t>(task)]);
      for (const Exchange& exchange : of(task)) {
        const std::int32_t other = group_of_task[static_cast<std::size_t>(exchange.peer)];
        if (static_cast<std::size_t>(other) == group) {
          inside(group, exchange.out);
        } else {
          between(group, Exchange{other, exchange.out, exchange.in});
        }
      }
    }
  };
  visit([&](std::size_t group, const Exchange&) { ++coarse.first_[group + 1]; },
        [](std::size_t, float) {});
  std::partial_sum(coarse.first_.begin(), coarse.first_.end(), coarse.first_.begin());
  coarse.exchanges_.resize(coarse.first_.back());
  std::vector<std::size_t> next(coarse.first_.begin(), coarse.first_.end() - 1);
  visit([&](std::size_t group,
            const Exchange& exchange) { coarse.exchanges_[next[group]++] = exchange; },
        [&](std::size_t group, float amount) { coarse.to_itself_[group] += amount; });
  for (std::int32_t task = 0; task < num_tasks(); ++task) {
    coarse.to_itself_[static_cast<std::size_t>(group_of_task[static_cast<std::size_t>(task)])] +=
        to_itself(task);
  }
  coarse.merge_peers();
  return coarse;
}

}  // namespace fairlead::optimizing
