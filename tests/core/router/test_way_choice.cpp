// SPDX-License-Identifier: Apache-2.0
// Which way messages take while the rates of the network are others than planned, or change.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "catch.hpp"
#include "relay/messenger/cadence.hpp"
#include "relay/messenger/way_choice.hpp"

using namespace fairlead::intercept::relay;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kBytes = 1 << 20;
constexpr double kLatency_s = 1e-4;
const Time kStart = Time(std::chrono::seconds(1000));

// One relay alone carries what all paths do.
WayRates planned(double direct_Bps, double striped_Bps) {
  const WayRate direct(direct_Bps, kLatency_s);
  const WayRate striped(striped_Bps, kLatency_s);
  return {direct, striped, direct, striped};
}

// One message after the other; the MPI is as fast as the direct path.
class Program {
 public:
  Program(double planned_direct_Bps, double planned_striped_Bps)
      : choice_(planned(planned_direct_Bps, planned_striped_Bps), kStart) {}

  /// @return seconds that each way took
  std::map<Way, double> run(double direct_Bps, double striped_Bps, milliseconds time,
                            double parallel_ratio = 1.0, double relayed_ratio = 1.0) {
    const std::map<Way, double> rates_Bps{{Way::mpi, direct_Bps},
                                          {Way::direct, direct_Bps},
                                          {Way::parallel, parallel_ratio * direct_Bps},
                                          {Way::relayed, relayed_ratio * striped_Bps},
                                          {Way::striped, striped_Bps}};
    std::map<Way, double> taken_s;
    const Time end = now_ + time;
    while (now_ < end) {
      if (cadence_.note(now_)) choice_.doubt(now_);
      const Way way = choice_.next(kBytes, now_);
      const double seconds = kLatency_s + static_cast<double>(kBytes) / rates_Bps.at(way);
      now_ += duration_cast<Clock::duration>(duration<double>(seconds));
      choice_.learn(way, kBytes, seconds, now_);
      taken_s[way] += seconds;
    }
    return taken_s;
  }

 private:
  WayChoice choice_;
  Cadence cadence_;
  Time now_ = kStart;
};

double share(const std::map<Way, double>& taken_s, Way way) {
  double sum = 0.0;
  for (const auto& [each, seconds] : taken_s) sum += seconds;
  return taken_s.contains(way) ? taken_s.at(way) / sum : 0.0;
}

bool has_relay(Way way) {
  return way == Way::striped || way == Way::relayed;
}

}  // namespace

TEST_CASE("way: where all rates are as planned, the faster way is taken from the start") {
  CHECK(share(Program(1e8, 1e8).run(1e8, 1e8, milliseconds(5000)), Way::mpi) > 0.9);
  CHECK(share(Program(3e7, 1e8).run(3e7, 1e8, milliseconds(5000)), Way::striped) > 0.9);
}

TEST_CASE("way: relays that are slower than planned are left after a few messages") {
  Program program(4e7, 1.2e8);
  const auto first = program.run(1.2e8, 7e7, milliseconds(1000));
  CHECK(share(first, Way::striped) < 0.1);
  const auto later = program.run(1.2e8, 7e7, milliseconds(20000));
  CHECK(share(later, Way::mpi) > 0.93);
  CHECK(share(later, Way::striped) < 0.02);
}

TEST_CASE("way: relays of which the plan expects nothing are found") {
  Program program(1e8, 1e8);
  program.run(2e7, 9e7, milliseconds(1000));
  CHECK(share(program.run(2e7, 9e7, milliseconds(5000)), Way::striped) > 0.9);
}

TEST_CASE("way: where one connection is limited, several of them are taken and no relay") {
  Program program(2.5e7, 1e8);
  program.run(2.5e7, 1e8, milliseconds(1000), 4.0);
  const auto later = program.run(2.5e7, 1e8, milliseconds(20000), 4.0);
  CHECK(share(later, Way::parallel) > 0.8);
  CHECK(share(later, Way::striped) < 0.02);
}

TEST_CASE("way: relays that are faster than several connections are taken") {
  Program program(2.5e7, 1e8);
  program.run(2.5e7, 1e8, milliseconds(1000), 1.5);
  CHECK(share(program.run(2.5e7, 1e8, milliseconds(5000), 1.5), Way::striped) > 0.8);
}

TEST_CASE("way: several connections that carry no more than one are left to the MPI") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(1000));
  CHECK(share(program.run(1e8, 7e7, milliseconds(20000)), Way::parallel) < 0.02);
}

TEST_CASE("way: several connections that only take a greater share of an interface are left") {
  Program program(1e8, 1e8);
  program.run(4e7, 4e7, milliseconds(1000), 2.0);
  CHECK(share(program.run(4e7, 4e7, milliseconds(20000), 2.0), Way::parallel) < 0.02);
}

TEST_CASE("way: several paths that only take a greater share of what others fill are left") {
  // Four paths carry more than one does, but none of them more than the direct one.
  const double planned_direct_Bps = GENERATE(1e8, 6e7);
  Program program(planned_direct_Bps, 1e8);
  program.run(2.5e7, 8e7, milliseconds(1000), 1.0, 0.25);
  const auto later = program.run(2.5e7, 8e7, milliseconds(20000), 1.0, 0.25);
  CHECK(share(later, Way::striped) == 0.0);
  CHECK(share(later, Way::mpi) > 0.9);
}

TEST_CASE("way: while others fill the network relays are tried rarely") {
  WayChoice choice(planned(1e8, 1e8), kStart);
  Time now = kStart;
  int num_relayed = 0;
  for (const Time end = now + std::chrono::seconds(60); now < end; now += milliseconds(50)) {
    choice.doubt(now);
    const Way way = choice.next(kBytes, now);
    if (has_relay(way)) ++num_relayed;
    const double rate_Bps = has_relay(way) ? 1e7 : 2e7;
    choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
  }
  CHECK(num_relayed >= 3);
  CHECK(num_relayed <= 5);
}

TEST_CASE("way: one relay is taken alone while others fill the network") {
  Program program(1e7, 1e8);
  program.run(1e7, 1e8, milliseconds(5000));
  // Jobs come.
  program.run(1e7, 8e7, milliseconds(10000), 1.0, 0.5);
  CHECK(share(program.run(1e7, 8e7, milliseconds(5000), 1.0, 0.5), Way::relayed) > 0.9);
  // They have ended.
  program.run(1e7, 1e8, milliseconds(10000));
  CHECK(share(program.run(1e7, 1e8, milliseconds(5000)), Way::striped) > 0.8);
}

TEST_CASE("way: relays are taken again when those have gone who filled the network") {
  const double relayed_ratio = GENERATE(0.25, 4.0);
  INFO(relayed_ratio);
  Program program(2e7, 1e8);
  program.run(2e7, 1e8, milliseconds(3000));
  // One relay alone is as slow as the direct path, so the MPI is taken, or faster than all
  // together.
  const double striped_Bps = relayed_ratio < 1.0 ? 8e7 : 1.5e7;
  const auto loaded = program.run(2e7, striped_Bps, milliseconds(60000), 1.0, relayed_ratio);
  CHECK(share(loaded, Way::striped) < 0.1);
  CHECK(share(loaded, relayed_ratio < 1.0 ? Way::mpi : Way::relayed) > 0.85);
  program.run(2e7, 1e8, milliseconds(65000));
  CHECK(share(program.run(2e7, 1e8, milliseconds(5000)), Way::striped) > 0.8);
}

TEST_CASE("way: relays that were loaded from the first message on are found when they are free") {
  Program program(2e7, 1e8);
  program.run(2e7, 8e7, milliseconds(1000), 1.0, 0.25);
  program.run(2e7, 1e8, milliseconds(10000));
  CHECK(share(program.run(2e7, 1e8, milliseconds(5000)), Way::striped) > 0.8);
}

TEST_CASE("way: relays are tried in spite of load where the direct path becomes slower") {
  Program program(2e7, 1e8);
  program.run(2e7, 2e7, milliseconds(2000), 1.0, 0.25);
  // In less time than what is known of the load lasts.
  program.run(8e6, 1e8, milliseconds(3000));
  CHECK(share(program.run(8e6, 1e8, milliseconds(2000)), Way::striped) > 0.8);
}

TEST_CASE("way: where all paths are the load themselves, one path is taken nearly always") {
  // The relay takes twice the plan's time beside all paths, and 1.3 times beside one path each.
  WayChoice choice(planned(1e7, 1e8), kStart);
  Time now = kStart;
  std::deque<Way> last_ways;
  std::map<Way, double> taken_s;
  for (int message = 0; message < 2000; ++message) {
    const Way way = choice.next(kBytes, now);
    // All jobs do as this one does.
    const bool is_striped = std::ranges::count(last_ways, Way::striped) > 5;
    const double relayed_Bps = is_striped ? 5e7 : 1e8 / 1.3;
    const double rate_Bps = way == Way::striped ? 9e7 : way == Way::relayed ? relayed_Bps : 1e7;
    const double seconds = kLatency_s + static_cast<double>(kBytes) / rate_Bps;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    choice.learn(way, kBytes, seconds, now);
    taken_s[way] += seconds;
    last_ways.push_back(way);
    if (last_ways.size() > 10) last_ways.pop_front();
  }
  CHECK(share(taken_s, Way::striped) < 0.2);
}

TEST_CASE("way: a first message by a relay that opens connections decides for some seconds only") {
  WayChoice choice(planned(4e7, 1e8), kStart);
  Time now = kStart;
  bool is_open = false;
  std::map<Way, int> num_taken;
  while (now < kStart + std::chrono::seconds(20)) {
    const Way way = choice.next(kBytes, now);
    double rate_Bps = has_relay(way) ? 1e8 : 4e7;
    if (has_relay(way) && !std::exchange(is_open, true)) rate_Bps = 2e7;
    const double seconds = kLatency_s + static_cast<double>(kBytes) / rate_Bps;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    choice.learn(way, kBytes, seconds, now);
    if (now > kStart + std::chrono::seconds(10)) ++num_taken[way];
  }
  CHECK(num_taken[Way::striped] > 850);
}

TEST_CASE("way: a direct path that falls to a tenth is left within a second") {
  Program program(1e8, 1e8);
  program.run(1e8, 9e7, milliseconds(5000));
  program.run(1e7, 9e7, milliseconds(1000));
  CHECK(share(program.run(1e7, 9e7, milliseconds(5000)), Way::striped) > 0.9);
}

TEST_CASE("way: a direct path that has recovered is taken again") {
  Program program(1e7, 7e7);
  program.run(1e7, 7e7, milliseconds(5000));
  program.run(1.2e8, 7e7, milliseconds(15000));
  CHECK(share(program.run(1.2e8, 7e7, milliseconds(5000)), Way::mpi) > 0.9);
}

TEST_CASE("way: while the MPI carries the messages of a steady program nothing is tried") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(1000));
  CHECK(share(program.run(1e8, 7e7, milliseconds(60000)), Way::mpi) == 1.0);
}

TEST_CASE("way: on an even network four messages are tried at most, the first ones") {
  const WayRate planned(1e8, kLatency_s);
  // What the first message of a way loses to others by opening its connections.
  const double slow_start = GENERATE(1.0, 0.8, 0.5, 0.2);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  for (int message = 0; message < 100; ++message) {
    const Way way = choice.next(kBytes, kStart);
    const double rate_Bps = num_taken[way]++ == 0 ? slow_start * 1e8 : 1e8;
    choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, kStart);
  }
  INFO(slow_start);
  CHECK(num_taken[Way::mpi] >= 96);
  CHECK(num_taken[Way::striped] == 0);
}

TEST_CASE("way: ranks that wait for each other see rates below the plan's, and stay with the MPI") {
  // Their other messages share the interface, whichever way these take.
  Program program(1e8, 1e8);
  CHECK(share(program.run(4e7, 3e7, milliseconds(1000)), Way::striped) == 0.0);
  CHECK(share(program.run(4e7, 3e7, milliseconds(20000)), Way::mpi) == 1.0);
}

TEST_CASE("way: relays are taken where they make the program faster, and left where they do not") {
  // On a path without load relays are no faster; but the MPI's own small messages wait on it.
  const double mpi_ratio = GENERATE(5.0, 1.0);
  const int onset = GENERATE(0, 100);
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, std::nullopt, planned}, kStart);
  Cadence cadence;
  int num_relayed = 0;
  std::optional<Way> last;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    const bool is_slow_now = message >= onset;
    if (cadence.note(now)) choice.doubt(now);
    if (last) choice.pace(*last, *cadence.last_gap_s(), now);
    last = choice.next(kBytes, now);
    const double seconds = kLatency_s + static_cast<double>(kBytes) / (is_slow_now ? 2e7 : 1e8);
    if (message >= 200 && has_relay(*last)) ++num_relayed;
    const double gap_s = *last == Way::mpi && is_slow_now ? mpi_ratio * seconds : seconds;
    now += duration_cast<Clock::duration>(duration<double>(gap_s));
    choice.learn(*last, kBytes, seconds, now);
  }
  INFO(mpi_ratio << " " << onset);
  CHECK((mpi_ratio > 1.0 ? num_relayed : 200 - num_relayed) > 180);
}

TEST_CASE("way: a first comparison that was wrong is made again, more and more rarely") {
  // The direct path is a tenth of what is planned, and seems to be as planned in the beginning.
  const double striped_Bps = GENERATE(5e7, 5e6);
  const int num_disturbed = GENERATE(0, 6);
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  std::optional<Way> last;
  Time now = kStart;
  double gap_s = 0.0;
  for (int message = 0; message < 500; ++message) {
    if (last) choice.pace(*last, gap_s, now);
    last = choice.next(kBytes, now);
    ++num_taken[*last];
    gap_s = kLatency_s + static_cast<double>(kBytes) / (has_relay(*last) ? striped_Bps : 1e7);
    now += duration_cast<Clock::duration>(duration<double>(gap_s));
    const double seems_s = message < num_disturbed ? 0.1 * gap_s : gap_s;
    choice.learn(*last, kBytes, seems_s, now);
  }
  INFO(striped_Bps << " " << num_disturbed);
  const int num_relayed = num_taken[Way::striped] + num_taken[Way::relayed];
  if (striped_Bps > 1e7) {
    CHECK(num_relayed > 450);
  } else {
    CHECK(num_taken[Way::mpi] > 450);
    CHECK(num_relayed < 20);
  }
}

TEST_CASE("way: in a program that mostly computes trials take no hundredth of the time") {
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  const double message_s = planned.expected_s(kBytes);
  const double step_s = GENERATE(5.0, 50.0, 500.0) * planned.expected_s(kBytes);
  double tried_s = 0.0;
  Time now = kStart;
  for (int message = 0; message < 1000; ++message) {
    if (message > 0) choice.pace(Way::mpi, step_s, now);
    const Way way = choice.next(kBytes, now);
    if (way != Way::mpi) tried_s += message_s;
    choice.learn(way, kBytes, message_s, now);
    now += duration_cast<Clock::duration>(duration<double>(step_s));
  }
  INFO(step_s);
  CHECK(tried_s < 0.01 * 1000 * step_s);
}

TEST_CASE("way: where no trial tells anything, trials end") {
  WayChoice choice(planned(3e7, 1e8), kStart);
  int num_trials = 0;
  for (int message = 0; message < 1000; ++message) {
    const Way way = choice.next(kBytes, kStart);
    if (choice.is_trying(way)) ++num_trials;
    choice.miss(way, kBytes, kStart);
  }
  CHECK(num_trials < 20);
}

TEST_CASE("way: where trials tell nothing any more after a first one, they end") {
  WayChoice choice(planned(3e7, 1e8), kStart);
  int num_relayed = 0;
  for (int message = 0; message < 1000; ++message) {
    const Way way = choice.next(kBytes, kStart);
    if (way == Way::relayed && num_relayed++ > 0) {
      choice.miss(way, kBytes, kStart);
    } else {
      choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 3e7, kStart);
    }
  }
  CHECK(num_relayed < 20);
}

TEST_CASE("way: doubts in vain become rarer, also in a program with few messages") {
  // The direct path takes ten times what the plan says, and relays twenty times.
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  std::optional<Way> last;
  for (int message = 0; message < 1000; ++message, now += milliseconds(500)) {
    if (last) choice.pace(*last, 0.5, now);
    last = choice.next(kBytes, now);
    if (*last != Way::mpi) ++num_tried;
    const double rate_Bps = has_relay(*last) ? 5e6 : 1e7;
    choice.learn(*last, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
  }
  CHECK(num_tried < 110);
}

TEST_CASE("way: doubts in vain become rarer") {
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  for (int message = 0; message < 6000; ++message) {
    now += milliseconds(10);
    choice.doubt(now);
    const Way way = choice.next(kBytes, now);
    if (way != Way::mpi) ++num_tried;
    choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
  }
  CHECK(num_tried < 40);
}

TEST_CASE("way: after a calm time two doubts may follow each other soon") {
  // The first one comes a moment before the direct path falls, and is in vain.
  WayChoice choice(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto pass = [&](milliseconds time, bool is_doubtful, double direct_Bps) {
    for (const Time end = now + time; now < end; now += milliseconds(10)) {
      if (is_doubtful) choice.doubt(now);
      const Way way = choice.next(kBytes, now);
      const double rate_Bps = has_relay(way) ? 9e7 : direct_Bps;
      choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
    }
  };
  pass(milliseconds(3000), true, 1e8);
  pass(milliseconds(20000), false, 1e8);
  pass(milliseconds(50), true, 1e8);
  pass(milliseconds(700), true, 1e7);
  CHECK(choice.next(kBytes, now) == Way::striped);
}

TEST_CASE("way: where the direct path is as before a doubt costs one message") {
  const WayRate planned(1e8, kLatency_s);
  WayChoice choice({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    now += milliseconds(10);
    if (message == 200) {
      num_taken.clear();
      choice.doubt(now);
    }
    const Way way = choice.next(kBytes, now);
    ++num_taken[way];
    choice.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 0.8e8, now);
  }
  CHECK(num_taken[Way::striped] == 0);
  CHECK(num_taken[Way::direct] == 1);
}

TEST_CASE("way: a direct path that falls to a half is left, too") {
  Program program(1e8, 1e8);
  program.run(1e8, 9e7, milliseconds(5000));
  program.run(5e7, 9e7, milliseconds(2000));
  CHECK(share(program.run(5e7, 9e7, milliseconds(5000)), Way::striped) > 0.9);
}

TEST_CASE("way: one disturbed message decides nothing") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(2000));
  program.run(1e6, 7e7, milliseconds(1));
  CHECK(share(program.run(1e8, 7e7, milliseconds(2000)), Way::striped) < 0.05);
}
