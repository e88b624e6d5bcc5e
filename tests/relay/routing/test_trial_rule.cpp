// SPDX-License-Identifier: Apache-2.0
// Which way messages take while the rates of the network are others than planned, or change.
#include <map>
#include <optional>

#include "catch.hpp"
#include "way_program.hpp"

using namespace fairlead::tests;

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
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  for (int message = 0; message < 100; ++message) {
    const Way way = rule.next(kBytes, kStart);
    const double rate_Bps = num_taken[way]++ == 0 ? slow_start * 1e8 : 1e8;
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, kStart);
  }
  INFO(slow_start);
  CHECK(num_taken[Way::mpi] >= 96);
  CHECK(num_taken[Way::striped] == 0);
}

TEST_CASE("way: messages that overlap a trial, and go its way, do not decide by their number") {
  // Less is planned than there is; the first message of each way opens its connections, one or
  // many.
  const WayRate planned(8e7, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  const auto learn = [&](Way way, double rate_Bps) {
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, kStart);
  };
  std::map<Way, int> num_taken;
  for (int message = 0; message < 100; ++message) {
    const Way way = rule.next(kBytes, kStart);
    const bool is_first = num_taken[way]++ == 0;
    learn(way, !is_first ? 1.2e8 : way == Way::direct ? 8e7 : 7e7);
    const int num_overlapping = way == Way::parallel && is_first ? 3 : 0;
    for (int other = 0; other < num_overlapping; ++other) learn(way, 1.1e8);
  }
  CHECK(num_taken[Way::mpi] > 90);
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
  TrialRule rule({planned, planned, std::nullopt, planned}, kStart);
  SlowdownDetector detector;
  int num_relayed = 0;
  std::optional<Way> last;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    const bool is_slow_now = message >= onset;
    if (detector.add_message(now)) rule.note_slowdown(now);
    if (last) rule.add_interval(*last, *detector.last_gap_s(), now);
    last = rule.next(kBytes, now);
    const double seconds = kLatency_s + static_cast<double>(kBytes) / (is_slow_now ? 2e7 : 1e8);
    if (message >= 200 && has_relay(*last)) ++num_relayed;
    const double gap_s = *last == Way::mpi && is_slow_now ? mpi_ratio * seconds : seconds;
    now += duration_cast<Clock::duration>(duration<double>(gap_s));
    rule.learn(*last, kBytes, seconds, now);
  }
  INFO(mpi_ratio << " " << onset);
  CHECK((mpi_ratio > 1.0 ? num_relayed : 200 - num_relayed) > 180);
}

TEST_CASE("way: a first comparison that was wrong is made again, more and more rarely") {
  // The direct path is a tenth of what is planned, and seems to be as planned in the beginning.
  const double striped_Bps = GENERATE(5e7, 5e6);
  const int num_disturbed = GENERATE(0, 6);
  const WayRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  std::optional<Way> last;
  Time now = kStart;
  double gap_s = 0.0;
  for (int message = 0; message < 500; ++message) {
    if (last) rule.add_interval(*last, gap_s, now);
    last = rule.next(kBytes, now);
    ++num_taken[*last];
    gap_s = kLatency_s + static_cast<double>(kBytes) / (has_relay(*last) ? striped_Bps : 1e7);
    now += duration_cast<Clock::duration>(duration<double>(gap_s));
    const double seems_s = message < num_disturbed ? 0.1 * gap_s : gap_s;
    rule.learn(*last, kBytes, seems_s, now);
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
  TrialRule rule({planned, planned, planned, planned}, kStart);
  const double message_s = planned.expected_s(kBytes);
  const double step_s = GENERATE(5.0, 50.0, 500.0) * planned.expected_s(kBytes);
  double tried_s = 0.0;
  Time now = kStart;
  for (int message = 0; message < 1000; ++message) {
    if (message > 0) rule.add_interval(Way::mpi, step_s, now);
    const Way way = rule.next(kBytes, now);
    if (way != Way::mpi) tried_s += message_s;
    rule.learn(way, kBytes, message_s, now);
    now += duration_cast<Clock::duration>(duration<double>(step_s));
  }
  INFO(step_s);
  CHECK(tried_s < 0.01 * 1000 * step_s);
}

TEST_CASE("way: where no trial is conclusive, trials end") {
  TrialRule rule(planned(3e7, 1e8), kStart);
  int num_trials = 0;
  for (int message = 0; message < 1000; ++message) {
    const Way way = rule.next(kBytes, kStart);
    if (rule.is_trying(way)) ++num_trials;
    rule.miss(way, kBytes, kStart);
  }
  CHECK(num_trials < 20);
}

TEST_CASE("way: where no trial after the first is conclusive, they end") {
  TrialRule rule(planned(3e7, 1e8), kStart);
  int num_relayed = 0;
  for (int message = 0; message < 1000; ++message) {
    const Way way = rule.next(kBytes, kStart);
    if (way == Way::relayed && num_relayed++ > 0) {
      rule.miss(way, kBytes, kStart);
    } else {
      rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 3e7, kStart);
    }
  }
  CHECK(num_relayed < 20);
}

TEST_CASE("way: comparisons that found nothing become rarer, also in a program with few messages") {
  // The direct path takes ten times what the plan says, and relays twenty times.
  const WayRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  std::optional<Way> last;
  for (int message = 0; message < 1000; ++message, now += milliseconds(500)) {
    if (last) rule.add_interval(*last, 0.5, now);
    last = rule.next(kBytes, now);
    if (*last != Way::mpi) ++num_tried;
    const double rate_Bps = has_relay(*last) ? 5e6 : 1e7;
    rule.learn(*last, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
  }
  CHECK(num_tried < 110);
}

TEST_CASE("way: comparisons that found nothing become rarer") {
  const WayRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  for (int message = 0; message < 6000; ++message) {
    now += milliseconds(10);
    rule.note_slowdown(now);
    const Way way = rule.next(kBytes, now);
    if (way != Way::mpi) ++num_tried;
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
  }
  CHECK(num_tried < 40);
}

TEST_CASE("way: after a calm time two comparisons may follow each other soon") {
  // The first one comes a moment before the direct path falls, and fails.
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto pass = [&](milliseconds time, bool is_slower, double direct_Bps) {
    for (const Time end = now + time; now < end; now += milliseconds(10)) {
      if (is_slower) rule.note_slowdown(now);
      const Way way = rule.next(kBytes, now);
      const double rate_Bps = has_relay(way) ? 9e7 : direct_Bps;
      rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
    }
  };
  pass(milliseconds(3000), true, 1e8);
  pass(milliseconds(20000), false, 1e8);
  pass(milliseconds(50), true, 1e8);
  pass(milliseconds(700), true, 1e7);
  CHECK(rule.next(kBytes, now) == Way::striped);
}

TEST_CASE("way: after a calm time a slower program is compared at once, whatever came before") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  double direct_Bps = 1e8;
  int num_striped = 0;
  const auto send = [&](int num_messages, bool is_slower) {
    for (int message = 0; message < num_messages; ++message) {
      if (is_slower) rule.note_slowdown(now);
      const Way way = rule.next(kBytes, now);
      const double rate_Bps = has_relay(way) ? 9e7 : direct_Bps;
      now += milliseconds(20);
      rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
      if (way == Way::striped) ++num_striped;
    }
  };
  send(2000, true);
  send(300, false);
  direct_Bps = 5e7;
  num_striped = 0;
  send(1, true);
  send(100, false);
  CHECK(num_striped > 80);
}

TEST_CASE("way: where the direct path is as before a comparison costs one message") {
  const WayRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<Way, int> num_taken;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    now += milliseconds(10);
    if (message == 200) {
      num_taken.clear();
      rule.note_slowdown(now);
    }
    const Way way = rule.next(kBytes, now);
    ++num_taken[way];
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 0.8e8, now);
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

TEST_CASE("way: a message that is far too late leaves the direct path before it has arrived") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  const double message_s = kLatency_s + static_cast<double>(kBytes) / 1e8;
  Time now = kStart;
  for (int message = 0; message < 100; ++message, now += milliseconds(20)) {
    rule.learn(rule.next(kBytes, now), kBytes, message_s, now);
  }
  rule.note_long_gap(now);
  REQUIRE(rule.next(kBytes, now) == Way::direct);
  // A tenth of it has arrived.
  CHECK_FALSE(rule.leave_if_late(Way::direct, kBytes, kBytes / 10, 2 * message_s, now));
  const auto rest = rule.leave_if_late(Way::direct, kBytes, kBytes / 10, 10 * message_s, now);
  REQUIRE(rest);
  CHECK(has_relay(*rest));
  CHECK(has_relay(rule.next(kBytes, now)));
}

TEST_CASE("way: failed comparisons do not delay an alarm") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto send = [&](bool is_slower) {
    now += milliseconds(10);
    if (is_slower) rule.note_slowdown(now);
    const Way way = rule.next(kBytes, now);
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
    return way;
  };
  for (int message = 0; message < 3000; ++message) send(true);
  REQUIRE(send(true) == Way::mpi);
  rule.note_long_gap(now);
  CHECK(send(false) == Way::direct);
}

TEST_CASE("way: a slowdown that comes too soon after a failed comparison is kept") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto send = [&](bool is_slower) {
    now += milliseconds(10);
    if (is_slower) rule.note_slowdown(now);
    const Way way = rule.next(kBytes, now);
    rule.learn(way, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
    return way;
  };
  for (int message = 0; message < 100; ++message) send(true);
  int num_tried = 0;
  for (int message = 0; message < 1700; ++message) num_tried += send(false) == Way::direct;
  CHECK(num_tried == 1);
}
