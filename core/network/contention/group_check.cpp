// SPDX-License-Identifier: Apache-2.0
// Rounds, their sign test, and the capacity as the median of their rates.
#include "network/contention/group_check.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead {
namespace {

constexpr int kNumRounds = 8;
// Pairs of slow flows cannot fill the bottleneck; this many are drawn before a group is dropped.
constexpr int kMaxDraws = 64;
constexpr double kNeededConfidence_ratio = 0.95;
// The common rate of flows may vary this much over time.
constexpr double kConsistent_ratio = 0.25;

/// One minus the probability of so many agreeing rounds by chance, were agreeing as likely as not.
/// Source: the sign test; Conover, Practical Nonparametric Statistics, section 3.4.
double sign_confidence(int num_agreeing, int num_rounds) {
  double by_chance = 0;
  for (int k = num_agreeing; k <= num_rounds; ++k) {
    by_chance += std::exp(std::lgamma(num_rounds + 1.0) - std::lgamma(k + 1.0) -
                          std::lgamma(num_rounds - k + 1.0) - num_rounds * std::log(2.0));
  }
  return 1 - std::min(by_chance, 1.0);
}

class Draw {
 public:
  Draw(const Sides& sides, RandomOrder& random)
      : sources_(sides.sources()), destinations_(sides.destinations()), random_(random) {}

  FlowPair operator()() {
    FlowPair flows{};
    do {
      flows = {.first = {pick(sources_), pick(destinations_)},
               .second = {pick(sources_), pick(destinations_)}};
    } while (!flows.is_disjoint());
    return flows;
  }

 private:
  int pick(const std::vector<int>& hosts) { return hosts[random_.below(hosts.size())]; }

  std::vector<int> sources_;
  std::vector<int> destinations_;
  RandomOrder& random_;
};

}  // namespace

std::optional<BottleneckGroup> check_group(const Sides& sides, double capacity_Bps,
                                           Sharing& sharing, FlowSteps& steps,
                                           RandomOrder& random) {
  Draw draw(sides, random);
  std::vector<double> carried_Bps;
  int num_rounds = 0;
  for (int draws = 0; num_rounds < kNumRounds && draws < kMaxDraws; ++draws) {
    const FlowPair flows = draw();
    const double alone_Bps = steps.alone_Bps(flows.first) + steps.alone_Bps(flows.second);
    if (sharing.is_too_slow(alone_Bps, capacity_Bps)) continue;
    const Comparison seen = sharing.compare(flows, Precision::exact);
    ++num_rounds;
    if (sharing.is_bottleneck(seen)) carried_Bps.push_back(seen.together_Bps);
  }
  const MedianEstimate estimate = estimate_median(carried_Bps);
  const auto num_consistent = std::ranges::count_if(carried_Bps, [&](double Bps) {
    return std::abs(Bps / estimate.median - 1) < kConsistent_ratio;
  });
  const double confidence_ratio =
      num_rounds == 0 ? 0 : sign_confidence(static_cast<int>(num_consistent), num_rounds);
  if (confidence_ratio < kNeededConfidence_ratio) return std::nullopt;
  return BottleneckGroup{.sources = sides.sources(),
                         .destinations = sides.destinations(),
                         .capacity_Bps = estimate,
                         .confidence_ratio = confidence_ratio};
}

}  // namespace fairlead
