// SPDX-License-Identifier: Apache-2.0
// Traffic of other jobs and relayed traffic that share an interface, simulated: TCP gives both the
// same where there is not enough for both (max-min fairness, Bertsekas and Gallager 1992, 6.5.2).
#include <algorithm>

#include "catch.hpp"
#include "router/pacing/relay_limit.hpp"

using namespace fairlead::router;

namespace {

constexpr double kCapacity_Bps = 1e8;
constexpr double kInterval_s = 0.05;

struct Rates {
  double others_Bps = 0.0;
  double relayed_Bps = 0.0;
};

std::uint64_t bytes(double rate_Bps) {
  return static_cast<std::uint64_t>(kInterval_s * rate_Bps);
}

class Interface {
 public:
  /// Means over some intervals in which both want to send so much.
  Rates run(int num_intervals, double others_Bps, double relayed_Bps) {
    Rates sum;
    for (int interval = 0; interval < num_intervals; ++interval) {
      const Rates now = shared(others_Bps, std::min(relayed_Bps, limit_.rate_Bps()));
      sum.others_Bps += now.others_Bps / num_intervals;
      sum.relayed_Bps += now.relayed_Bps / num_intervals;
      // Other jobs only send; what is relayed passes both ways.
      const std::uint64_t relayed_bytes = bytes(now.relayed_Bps);
      limit_.update(
          {.seconds = kInterval_s,
           .all = {.received = relayed_bytes, .sent = bytes(now.others_Bps + now.relayed_Bps)},
           .served = {.received = relayed_bytes, .sent = relayed_bytes},
           .relayed_bytes = relayed_bytes});
    }
    return sum;
  }
  [[nodiscard]] bool is_limited() const { return limit_.is_limited(); }

 private:
  static Rates shared(double others_Bps, double relayed_Bps) {
    const double half_Bps = 0.5 * kCapacity_Bps;
    return {std::min(others_Bps, std::max(half_Bps, kCapacity_Bps - relayed_Bps)),
            std::min(relayed_Bps, std::max(half_Bps, kCapacity_Bps - others_Bps))};
  }

  RelayLimit limit_;
};

/// Intervals in which the interface sends all that it can, some of it for the jobs that are served.
class FullInterface {
 public:
  void run(int num_intervals, double served_Bps) {
    for (int interval = 0; interval < num_intervals; ++interval) {
      limit_.update({.seconds = kInterval_s,
                     .all = {.received = 0, .sent = bytes(kCapacity_Bps)},
                     .served = {.received = 0, .sent = bytes(served_Bps)},
                     .relayed_bytes = bytes(0.5 * kCapacity_Bps)});
    }
  }
  [[nodiscard]] bool is_limited() const { return limit_.is_limited(); }

 private:
  RelayLimit limit_;
};

}  // namespace

TEST_CASE("relay limit: another job that fills the interface loses less than 5 %") {
  Interface interface;
  const Rates before = interface.run(1, kCapacity_Bps, kCapacity_Bps);
  REQUIRE(before.others_Bps == 0.5 * kCapacity_Bps);

  interface.run(9, kCapacity_Bps, kCapacity_Bps);
  const Rates after = interface.run(100, kCapacity_Bps, kCapacity_Bps);

  CHECK(after.others_Bps > 0.95 * kCapacity_Bps);
  CHECK(after.relayed_Bps > 0.0);
}

TEST_CASE("relay limit: what other jobs leave is relayed") {
  Interface interface;
  interface.run(20, 0.4 * kCapacity_Bps, kCapacity_Bps);

  const Rates after = interface.run(200, 0.4 * kCapacity_Bps, kCapacity_Bps);

  CHECK(after.others_Bps > 0.95 * 0.4 * kCapacity_Bps);
  // Up to 0.9 of the interface, and down to half of that: the mean of a sawtooth.
  CHECK(after.relayed_Bps > 0.3 * kCapacity_Bps);
}

TEST_CASE("relay limit: a host without other jobs relays what its interface can carry") {
  Interface interface;

  const Rates rates = interface.run(100, 0.05 * kCapacity_Bps, kCapacity_Bps);

  CHECK(rates.relayed_Bps >= 0.95 * kCapacity_Bps);
  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: messages of the served jobs themselves are not limited for") {
  FullInterface interface;

  interface.run(100, kCapacity_Bps);

  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: the same messages of another job are") {
  FullInterface interface;

  interface.run(100, 0.5 * kCapacity_Bps);

  CHECK(interface.is_limited());
}

TEST_CASE("relay limit: headers that are counted for packets sent as one hide no other job") {
  FullInterface interface;
  // 66 of 1514 bytes (an MTU of 1500).
  interface.run(1000, kCapacity_Bps * 1514 / 1448);

  interface.run(10, 0.5 * kCapacity_Bps);

  CHECK(interface.is_limited());
}

TEST_CASE("relay limit: it ends when other jobs have been quiet for two intervals, not for one") {
  const int num_quiet = GENERATE(1, 2);
  Interface interface;
  interface.run(20, kCapacity_Bps, kCapacity_Bps);
  REQUIRE(interface.is_limited());

  interface.run(num_quiet, 0.0, kCapacity_Bps);

  CHECK(interface.is_limited() == (num_quiet < 2));
}

TEST_CASE("relay limit: an interface that can carry both is not limited") {
  Interface interface;
  interface.run(10, 0.0, kCapacity_Bps);

  interface.run(100, 0.4 * kCapacity_Bps, 0.4 * kCapacity_Bps);

  CHECK_FALSE(interface.is_limited());
}

TEST_CASE("relay limit: what sockets count late is not taken for that of other jobs") {
  RelayLimit limit;
  constexpr std::uint64_t kBytes = 5'000'000;
  for (int interval = 0; interval < 40; ++interval) {
    // A fifth of each second interval is counted in the next one.
    const std::uint64_t counted = interval % 2 == 0 ? kBytes * 4 / 5 : kBytes * 6 / 5;
    limit.update({.seconds = kInterval_s,
                  .all = {.received = kBytes, .sent = kBytes},
                  .served = {.received = counted, .sent = kBytes},
                  .relayed_bytes = kBytes});
    CHECK_FALSE(limit.is_limited());
  }
}

TEST_CASE("relay limit: queues of the system that empty are not taken for traffic of other jobs") {
  FullInterface interface;
  interface.run(10, kCapacity_Bps);
  // Sockets have given more to the system than the interface has sent, and now give less.
  interface.run(4, 1.5 * kCapacity_Bps);

  for (int interval = 0; interval < 4; ++interval) {
    interface.run(1, 0.5 * kCapacity_Bps);
    CHECK_FALSE(interface.is_limited());
  }
}

TEST_CASE("relay limit: traffic that is still growing shows that the interface is not full") {
  Interface interface;

  for (double each_Bps = 1e7; each_Bps < 4e7; each_Bps *= 1.2) {
    interface.run(1, each_Bps, each_Bps);
    CHECK_FALSE(interface.is_limited());
  }
}
