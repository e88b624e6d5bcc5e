// SPDX-License-Identifier: Apache-2.0
// Products of a job while others stream: messages as flows that share links max-min fairly.
//
// A product computes, then sends all its messages, and ends when the last one has arrived. A stream
// sends a message, pauses, and sends again. Reads one problem from standard input, prints one
// result:
//
//   in:  RESOURCES  capacity_Bps...
//        BUNDLES    (flows bytes COUNT resource...)...      a product's messages of one pair of
//        nodes STREAMS    (flows bytes gap_s COUNT resource...)... PRODUCTS compute_s seconds seed
//        without products: streams for that long
//   out: seconds of all products, then for each resource bytes carried and seconds full
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
/// Part of a message that is left when it counts as sent. Far above what time in doubles
/// resolves.
constexpr double kSent_ratio = 1e-7;

/// Flows of the same two nodes; all of them send at once and end at once.
struct Bundle {
  double num_flows = 1.0;
  double bytes = 0.0;
  std::vector<std::size_t> resources;
  double gap_s = 0.0;       ///< mean pause between two messages; streams alone
  double left_bytes = 0.0;  ///< of each flow; 0: sends nothing now
  double next_s = 0.0;      ///< when a paused stream goes on
  double rate_Bps = 0.0;    ///< of each flow
};

struct Machine {
  std::vector<double> capacity_Bps, carried_bytes, full_s;
};

/// Progressive filling: the resource with the least share for a flow closes all that cross it.
class FairRates {
 public:
  explicit FairRates(const Machine& machine)
      : machine_(machine),
        left_(machine.capacity_Bps.size()),
        crossing_(left_.size()),
        members_(left_.size()) {}

  void share(const std::vector<Bundle*>& sending) {
    begin(sending);
    std::size_t num_open = sending.size();
    while (num_open > 0) {
      double least = kNever_s;
      for (const std::size_t at : touched_) {
        if (is_open(at)) least = std::min(least, left_[at] / crossing_[at]);
      }
      const double most = least * (1.0 + kRounding);
      for (const std::size_t at : touched_) {
        if (is_open(at) && left_[at] <= most * crossing_[at]) num_open -= close(at, least);
      }
    }
  }
  /// What a resource has left after the last sharing.
  [[nodiscard]] double left_Bps(std::size_t at) const { return left_[at]; }
  [[nodiscard]] const std::vector<std::size_t>& touched() const { return touched_; }

 private:
  void begin(const std::vector<Bundle*>& sending) {
    for (const std::size_t at : touched_) {
      crossing_[at] = 0.0;
      members_[at].clear();
    }
    touched_.clear();
    for (Bundle* bundle : sending) {
      bundle->rate_Bps = 0.0;
      for (const std::size_t at : bundle->resources) {
        if (members_[at].empty()) touched_.push_back(at);
        members_[at].push_back(bundle);
        crossing_[at] += bundle->num_flows;
      }
    }
    for (const std::size_t at : touched_) left_[at] = machine_.capacity_Bps[at];
  }
  /// Flows are counted in doubles, and never half.
  [[nodiscard]] bool is_open(std::size_t at) const { return crossing_[at] > 0.5; }

  /// Gives all open bundles that cross a resource their rate; their number.
  std::size_t close(std::size_t full, double rate_Bps) {
    std::size_t num_closed = 0;
    for (Bundle* bundle : members_[full]) {
      if (bundle->rate_Bps > 0.0) continue;
      bundle->rate_Bps = rate_Bps;
      ++num_closed;
      for (const std::size_t at : bundle->resources) {
        left_[at] = std::max(0.0, left_[at] - rate_Bps * bundle->num_flows);
        crossing_[at] -= bundle->num_flows;
      }
    }
    return num_closed;
  }

  const Machine& machine_;
  std::vector<double> left_, crossing_;
  std::vector<std::vector<Bundle*>> members_;
  std::vector<std::size_t> touched_;
};

class Simulation {
 public:
  Simulation(Machine machine, std::vector<Bundle> job, std::vector<Bundle> streams,
             std::uint64_t seed)
      : machine_(std::move(machine)),
        job_(std::move(job)),
        streams_(std::move(streams)),
        random_(seed),
        rates_(machine_) {
    // Streams begin somewhere in their cycle, not all at once.
    std::uniform_real_distribution<double> part(0.0, 1.0);
    for (Bundle& stream : streams_) stream.next_s = part(random_) * stream.gap_s;
  }

  void multiply(double compute_s) {
    run_until(now_s_ + compute_s);
    for (Bundle& bundle : job_) bundle.left_bytes = bundle.bytes;
    while (std::ranges::any_of(job_, [](const Bundle& each) { return each.left_bytes > 0.0; })) {
      step(kNever_s);
    }
  }
  void run_until(double end_s) {
    while (now_s_ < end_s) step(end_s);
  }
  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  /// To the next moment at which a flow ends or begins, at most to `end_s`.
  void step(double end_s) {
    std::vector<Bundle*>& sending = sending_;
    sending.clear();
    double next_s = end_s;
    for (Bundle& bundle : job_) {
      if (bundle.left_bytes > 0.0) sending.push_back(&bundle);
    }
    for (Bundle& stream : streams_) {
      if (stream.left_bytes <= 0.0 && stream.next_s <= now_s_) stream.left_bytes = stream.bytes;
      if (stream.left_bytes > 0.0) {
        sending.push_back(&stream);
      } else {
        next_s = std::min(next_s, stream.next_s);
      }
    }
    rates_.share(sending);
    for (const Bundle* bundle : sending) {
      next_s = std::min(next_s, now_s_ + bundle->left_bytes / bundle->rate_Bps);
    }
    advance(sending, next_s);
  }

  void advance(const std::vector<Bundle*>& sending, double next_s) {
    const double step_s = next_s - now_s_;
    for (const std::size_t at : rates_.touched()) {
      const double capacity_Bps = machine_.capacity_Bps[at];
      machine_.carried_bytes[at] += (capacity_Bps - rates_.left_Bps(at)) * step_s;
      if (rates_.left_Bps(at) <= 1e-6 * capacity_Bps) machine_.full_s[at] += step_s;
    }
    now_s_ = next_s;
    std::uniform_real_distribution<double> part(0.5, 1.5);
    for (Bundle* bundle : sending) {
      bundle->left_bytes -= bundle->rate_Bps * step_s;
      if (bundle->left_bytes > kSent_ratio * bundle->bytes) continue;
      bundle->left_bytes = 0.0;
      bundle->next_s = now_s_ + bundle->gap_s * part(random_);
    }
  }

  Machine machine_;
  std::vector<Bundle> job_, streams_;
  std::mt19937_64 random_;
  FairRates rates_;
  double now_s_ = 0.0;
  std::vector<Bundle*> sending_;
};

template <typename Value>
Value next() {
  Value value{};
  if (!(std::cin >> value)) {
    std::fputs("flows: the problem ends too early, or holds no number\n", stderr);
    std::exit(2);
  }
  return value;
}

std::vector<Bundle> read_bundles(bool is_job) {
  std::vector<Bundle> bundles(next<std::size_t>());
  for (Bundle& bundle : bundles) {
    bundle.num_flows = next<double>();
    bundle.bytes = next<double>();
    if (!is_job) bundle.gap_s = next<double>();
    bundle.resources.resize(next<std::size_t>());
    for (std::size_t& at : bundle.resources) at = next<std::size_t>();
  }
  return bundles;
}

}  // namespace

int main() {
  Machine machine;
  machine.capacity_Bps.resize(next<std::size_t>());
  for (double& capacity_Bps : machine.capacity_Bps) capacity_Bps = next<double>();
  machine.carried_bytes.resize(machine.capacity_Bps.size());
  machine.full_s.resize(machine.capacity_Bps.size());
  std::vector<Bundle> job = read_bundles(true);
  std::vector<Bundle> streams = read_bundles(false);
  const auto num_products = next<std::int64_t>();
  const auto compute_s = next<double>();
  const auto seconds = next<double>();
  Simulation simulation(std::move(machine), std::move(job), std::move(streams),
                        next<std::uint64_t>());
  if (num_products == 0) simulation.run_until(seconds);
  for (std::int64_t product = 0; product < num_products; ++product) simulation.multiply(compute_s);
  std::printf("%.17g\n", simulation.now_s());
  for (std::size_t at = 0; at < simulation.machine().capacity_Bps.size(); ++at) {
    std::printf("%.17g %.17g\n", simulation.machine().carried_bytes[at],
                simulation.machine().full_s[at]);
  }
}
