// SPDX-License-Identifier: Apache-2.0
// Own and relayed traffic that share an interface, simulated: TCP gives both the same where there
// is not enough for both (max-min fairness, Bertsekas and Gallager 1992, 6.5.2).
#include <algorithm>

#include "catch.hpp"
#include "relay_limit.hpp"

using namespace fairlead::router;

namespace {

constexpr double kCapacity_Bps = 1e8;
constexpr double kInterval_s = 0.05;

struct Rates {
  double own_Bps = 0.0;
  double relayed_Bps = 0.0;
};

class Interface {
 public:
  /// Means over some intervals in which both want to send so much.
  Rates run(int num_intervals, double own_Bps, double relayed_Bps) {
    Rates sum;
    for (int interval = 0; interval < num_intervals; ++interval) {
      const Rates now = shared(own_Bps, std::min(relayed_Bps, limit_.rate_Bps()));
      sum.own_Bps += now.own_Bps / num_intervals;
      sum.relayed_Bps += now.relayed_Bps / num_intervals;
      // The host's own traffic only sends; what is relayed passes both ways.
      limit_.note(
          {.seconds = kInterval_s,
           .all = {.received = bytes(now.relayed_Bps),
                   .sent = bytes(now.own_Bps + now.relayed_Bps)},
           .relayed = {.received = bytes(now.relayed_Bps), .sent = bytes(now.relayed_Bps)}});
    }
    return sum;
  }
  [[nodiscard]] bool is_limited() const { return limit_.is_limited(); }

 private:
  static Rates shared(double own_Bps, double relayed_Bps) {
    const double half_Bps = 0.5 * kCapacity_Bps;
    return {std::min(own_Bps, std::max(half_Bps, kCapacity_Bps - relayed_Bps)),
            std::min(relayed_Bps, std::max(half_Bps, kCapacity_Bps - own_Bps))};
  }
  static std::uint64_t bytes(double rate_Bps) {
    return static_cast<std::uint64_t>(kInterval_s * rate_Bps);
  }

  RelayLimit limit_;
};

}  // namespace

TEST_CASE("relay limit: own traffic that fills the interface loses less than 5 %") {
  Interface interface;
  const Rates before = interface.run(1, kCapacity_Bps, kCapacity_Bps);
  REQUIRE(before.own_Bps == 0.5 * kCapacity_Bps);

  interface.run(9, kCapacity_Bps, kCapacity_Bps);
  const Rates after = interface.run(100, kCapacity_Bps, kCapacity_Bps);

  CHECK(after.own_Bps > 0.95 * kCapacity_Bps);
  CHECK(after.relayed_Bps > 0.0);
}

TEST_CASE("relay limit: what own traffic leaves is relayed") {
  Interface interface;
  interface.run(20, 0.4 * kCapacity_Bps, kCapacity_Bps);

  const Rates after = interface.run(200, 0.4 * kCapacity_Bps, kCapacity_Bps);

  CHECK(after.own_Bps > 0.95 * 0.4 * kCapacity_Bps);
  // Up to 0.9 of the interface, and down to half of that: the mean of a sawtooth.
  CHECK(after.relayed_Bps > 0.3 * kCapacity_Bps);
}

TEST_CASE("relay limit: a host without own traffic relays what its interface can carry") {
  Interface interface;

  const Rates rates = interface.run(100, 0.05 * kCapacity_Bps, kCapacity_Bps);

  CHECK(rates.relayed_Bps >= 0.95 * kCapacity_Bps);
  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: it ends as own traffic does") {
  Interface interface;
  interface.run(20, kCapacity_Bps, kCapacity_Bps);
  REQUIRE(interface.is_limited());

  interface.run(2, 0.0, kCapacity_Bps);

  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: an interface with room for both is not limited") {
  Interface interface;
  interface.run(10, 0.0, kCapacity_Bps);

  interface.run(100, 0.4 * kCapacity_Bps, 0.4 * kCapacity_Bps);

  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: relayed frames that are read late are not taken for the host's own") {
  RelayLimit limit;
  constexpr std::uint64_t kBytes = 5'000'000;
  for (int interval = 0; interval < 40; ++interval) {
    // Of each second interval a fifth is read in the next one.
    const std::uint64_t read = interval % 2 == 0 ? kBytes * 4 / 5 : kBytes * 6 / 5;
    limit.note({.seconds = kInterval_s,
                .all = {.received = kBytes, .sent = kBytes},
                .relayed = {.received = read, .sent = kBytes}});
    CHECK_FALSE(limit.is_limited());
  }
}

TEST_CASE("relay limit: traffic that is still growing shows that there is room") {
  Interface interface;

  for (double own_Bps = 1e7; own_Bps < 4e7; own_Bps *= 1.2) {
    interface.run(1, own_Bps, own_Bps);
    CHECK_FALSE(interface.is_limited());
  }
}
