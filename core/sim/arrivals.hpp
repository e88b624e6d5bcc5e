// SPDX-License-Identifier: Apache-2.0
// Times at which the messages of a stream are sent: computed one by one, never stored.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "fairlead/sim/simulation.hpp"

namespace fairlead::sim {

/// Random numbers of one stream.
inline Random random_of_stream(std::uint64_t seed, std::uint64_t stream) {
  Random random = Random::from_state(Random::from_state(seed).next() + stream);
  random.next();
  return random;
}

/// The times at which one stream sends its messages without delays.
class ArrivalTimes {
 public:
  ArrivalTimes(const MessageStream& stream, std::size_t index, const Options& options)
      : random_(random_of_stream(options.seed, index)),
        is_poisson_(options.arrivals == Arrivals::poisson),
        period_ns_(stream.period_ns),
        next_ns_(stream.first_ns),
        left_(stream.num_messages) {
    if (options.arrivals == Arrivals::random_phase) next_ns_ += random_.fraction() * period_ns_;
    if (is_poisson_) next_ns_ += exponential();
    first_ns_ = next_ns_;
  }

  [[nodiscard]] bool is_over() const { return left_ == 0; }
  [[nodiscard]] std::int64_t next_ns() const { return std::llround(next_ns_); }

  void advance() {
    --left_;
    ++sent_;
    // A multiple of the period, not a sum of periods, so that rounding never adds up.
    next_ns_ = is_poisson_ ? next_ns_ + exponential()
                           : first_ns_ + static_cast<double>(sent_) * period_ns_;
  }

 private:
  double exponential() { return -std::log(random_.fraction()) * period_ns_; }

  Random random_;
  bool is_poisson_;
  double period_ns_;
  double next_ns_;
  double first_ns_ = 0.0;
  std::int64_t left_;
  std::int64_t sent_ = 0;
};

/// The next message of each of some streams, the earliest first; of equal times the lower stream.
class PendingStreams {
 public:
  struct Entry {
    std::int64_t arrival_ns;
    std::size_t stream;

    [[nodiscard]] bool is_before(const Entry& other) const {
      return arrival_ns < other.arrival_ns ||
             (arrival_ns == other.arrival_ns && stream < other.stream);
    }
  };

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] const Entry& first() const { return heap_.front(); }

  void push(Entry entry) {
    heap_.push_back(entry);
    std::size_t place = heap_.size() - 1;
    while (place > 0 && entry.is_before(heap_[(place - 1) / 2])) {
      heap_[place] = heap_[(place - 1) / 2];
      place = (place - 1) / 2;
    }
    heap_[place] = entry;
  }

  void pop() {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) replace_first(last);
  }

  /// Faster than `pop` and `push`; most of a simulation's time is spent here.
  void replace_first(Entry entry) {
    std::size_t place = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].is_before(heap_[child])) ++child;
      if (!heap_[child].is_before(entry)) break;
      heap_[place] = heap_[child];
      place = child;
    }
    heap_[place] = entry;
  }

 private:
  std::vector<Entry> heap_;
};

}  // namespace fairlead::sim
