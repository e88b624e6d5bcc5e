// SPDX-License-Identifier: Apache-2.0
// Which transfer mode messages take while the rates of the network are others than planned, or
// change.
#include <map>
#include <optional>

#include "catch.hpp"
#include "mode_program.hpp"

using namespace fairlead::tests;

TEST_CASE(
    "transfer mode: where all rates are as planned, the faster mode is taken from the start") {
  CHECK(share(Program(1e8, 1e8).run(1e8, 1e8, milliseconds(5000)), TransferMode::mpi) > 0.9);
  CHECK(share(Program(3e7, 1e8).run(3e7, 1e8, milliseconds(5000)), TransferMode::striped) > 0.9);
}

TEST_CASE("transfer mode: relays that are slower than planned are left after a few messages") {
  Program program(4e7, 1.2e8);
  const auto first = program.run(1.2e8, 7e7, milliseconds(1000));
  CHECK(share(first, TransferMode::striped) < 0.1);
  const auto later = program.run(1.2e8, 7e7, milliseconds(20000));
  CHECK(share(later, TransferMode::mpi) > 0.93);
  CHECK(share(later, TransferMode::striped) < 0.02);
}

TEST_CASE("transfer mode: relays of which the plan expects nothing are found") {
  Program program(1e8, 1e8);
  program.run(2e7, 9e7, milliseconds(1000));
  CHECK(share(program.run(2e7, 9e7, milliseconds(5000)), TransferMode::striped) > 0.9);
}

TEST_CASE(
    "transfer mode: where one connection is limited, several of them are taken and no relay") {
  Program program(2.5e7, 1e8);
  program.run(2.5e7, 1e8, milliseconds(1000), 4.0);
  const auto later = program.run(2.5e7, 1e8, milliseconds(20000), 4.0);
  CHECK(share(later, TransferMode::parallel) > 0.8);
  CHECK(share(later, TransferMode::striped) < 0.02);
}

TEST_CASE("transfer mode: relays that are faster than several connections are taken") {
  Program program(2.5e7, 1e8);
  program.run(2.5e7, 1e8, milliseconds(1000), 1.5);
  CHECK(share(program.run(2.5e7, 1e8, milliseconds(5000), 1.5), TransferMode::striped) > 0.8);
}

TEST_CASE("transfer mode: several connections that carry no more than one are left to the MPI") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(1000));
  CHECK(share(program.run(1e8, 7e7, milliseconds(20000)), TransferMode::parallel) < 0.02);
}

TEST_CASE(
    "transfer mode: several connections that only take a greater share of an interface are left") {
  Program program(1e8, 1e8);
  program.run(4e7, 4e7, milliseconds(1000), 2.0);
  CHECK(share(program.run(4e7, 4e7, milliseconds(20000), 2.0), TransferMode::parallel) < 0.02);
}

TEST_CASE("transfer mode: a direct path that falls to a tenth is left within a second") {
  Program program(1e8, 1e8);
  program.run(1e8, 9e7, milliseconds(5000));
  program.run(1e7, 9e7, milliseconds(1000));
  CHECK(share(program.run(1e7, 9e7, milliseconds(5000)), TransferMode::striped) > 0.9);
}

TEST_CASE("transfer mode: a direct path that has recovered is taken again") {
  Program program(1e7, 7e7);
  program.run(1e7, 7e7, milliseconds(5000));
  program.run(1.2e8, 7e7, milliseconds(15000));
  CHECK(share(program.run(1.2e8, 7e7, milliseconds(5000)), TransferMode::mpi) > 0.9);
}

TEST_CASE(
    "transfer mode: while the MPI carries the messages of a steady program nothing is tried") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(1000));
  CHECK(share(program.run(1e8, 7e7, milliseconds(60000)), TransferMode::mpi) == 1.0);
}

TEST_CASE("transfer mode: on an even network four messages are tried at most, the first ones") {
  const ModeRate planned(1e8, kLatency_s);
  // What the first message in a mode loses to others by opening its connections.
  const double slow_start = GENERATE(1.0, 0.8, 0.5, 0.2);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<TransferMode, int> num_taken;
  for (int message = 0; message < 100; ++message) {
    const TransferMode mode = rule.next(kBytes, kStart);
    const double rate_Bps = num_taken[mode]++ == 0 ? slow_start * 1e8 : 1e8;
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, kStart);
  }
  INFO(slow_start);
  CHECK(num_taken[TransferMode::mpi] >= 96);
  CHECK(num_taken[TransferMode::striped] == 0);
}

TEST_CASE(
    "transfer mode: messages that overlap a trial, and go in its mode, do not decide by their "
    "number") {
  // Less is planned than there is; the first message in each mode opens its connections, one or
  // many.
  const ModeRate planned(8e7, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  const auto learn = [&](TransferMode mode, double rate_Bps) {
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, kStart);
  };
  std::map<TransferMode, int> num_taken;
  for (int message = 0; message < 100; ++message) {
    const TransferMode mode = rule.next(kBytes, kStart);
    const bool is_first = num_taken[mode]++ == 0;
    learn(mode, !is_first ? 1.2e8 : mode == TransferMode::direct ? 8e7 : 7e7);
    const int num_overlapping = mode == TransferMode::parallel && is_first ? 3 : 0;
    for (int other = 0; other < num_overlapping; ++other) learn(mode, 1.1e8);
  }
  CHECK(num_taken[TransferMode::mpi] > 90);
}

TEST_CASE(
    "transfer mode: ranks that wait for each other see rates below the plan's, and stay with the "
    "MPI") {
  // Their other messages share the interface, whichever mode these take.
  Program program(1e8, 1e8);
  CHECK(share(program.run(4e7, 3e7, milliseconds(1000)), TransferMode::striped) == 0.0);
  CHECK(share(program.run(4e7, 3e7, milliseconds(20000)), TransferMode::mpi) == 1.0);
}

TEST_CASE(
    "transfer mode: relays are taken where they make the program faster, and left where they do "
    "not") {
  // On a path without load relays are no faster; but the MPI's own small messages wait on it.
  const double mpi_ratio = GENERATE(5.0, 1.0);
  const int onset = GENERATE(0, 100);
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, std::nullopt, planned}, kStart);
  SlowdownDetector detector;
  int num_relayed = 0;
  std::optional<TransferMode> last;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    const bool is_slow_now = message >= onset;
    if (detector.add_message(now)) rule.note_slowdown(now);
    if (last) rule.add_interval(*last, *detector.last_gap_s(), now);
    last = rule.next(kBytes, now);
    const double seconds = kLatency_s + static_cast<double>(kBytes) / (is_slow_now ? 2e7 : 1e8);
    if (message >= 200 && has_relay(*last)) ++num_relayed;
    const double gap_s = *last == TransferMode::mpi && is_slow_now ? mpi_ratio * seconds : seconds;
    now += duration_cast<Clock::duration>(duration<double>(gap_s));
    rule.learn(*last, kBytes, seconds, now);
  }
  INFO(mpi_ratio << " " << onset);
  CHECK((mpi_ratio > 1.0 ? num_relayed : 200 - num_relayed) > 180);
}

TEST_CASE("transfer mode: a first comparison that was wrong is made again, more and more rarely") {
  // The direct path is a tenth of what is planned, and seems to be as planned in the beginning.
  const double striped_Bps = GENERATE(5e7, 5e6);
  const int num_disturbed = GENERATE(0, 6);
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<TransferMode, int> num_taken;
  std::optional<TransferMode> last;
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
  const int num_relayed = num_taken[TransferMode::striped] + num_taken[TransferMode::relayed];
  if (striped_Bps > 1e7) {
    CHECK(num_relayed > 450);
  } else {
    CHECK(num_taken[TransferMode::mpi] > 450);
    CHECK(num_relayed < 20);
  }
}

TEST_CASE("transfer mode: a rehearsal does not leave the plan for one or two late messages") {
  // Its intervals cause no comparison.
  const int num_disturbed = GENERATE(0, 1, 2);
  TrialRule rule(planned(1e7, 9e7), kStart, true);
  Time now = kStart;
  int num_relayed = 0;
  for (int message = 0; message < 100; ++message) {
    const TransferMode mode = rule.next(kBytes, now);
    double seconds = kLatency_s + static_cast<double>(kBytes) / (has_relay(mode) ? 9e7 : 1e7);
    if (has_relay(mode) && num_relayed++ < num_disturbed) seconds *= 20.0;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    rule.learn(mode, kBytes, seconds, now);
  }
  INFO(num_disturbed);
  CHECK(num_relayed > 80);
}

TEST_CASE("transfer mode: in a program that mostly computes trials take no hundredth of the time") {
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  const double message_s = planned.expected_s(kBytes);
  const double step_s = GENERATE(5.0, 50.0, 500.0) * planned.expected_s(kBytes);
  double tried_s = 0.0;
  Time now = kStart;
  for (int message = 0; message < 1000; ++message) {
    if (message > 0) rule.add_interval(TransferMode::mpi, step_s, now);
    const TransferMode mode = rule.next(kBytes, now);
    if (mode != TransferMode::mpi) tried_s += message_s;
    rule.learn(mode, kBytes, message_s, now);
    now += duration_cast<Clock::duration>(duration<double>(step_s));
  }
  INFO(step_s);
  CHECK(tried_s < 0.01 * 1000 * step_s);
}

TEST_CASE("transfer mode: where no trial is conclusive, trials end") {
  TrialRule rule(planned(3e7, 1e8), kStart);
  int num_trials = 0;
  for (int message = 0; message < 1000; ++message) {
    const TransferMode mode = rule.next(kBytes, kStart);
    if (rule.is_trying(mode)) ++num_trials;
    rule.miss(mode, kBytes, kStart);
  }
  CHECK(num_trials < 20);
}

TEST_CASE("transfer mode: where no trial after the first is conclusive, they end") {
  TrialRule rule(planned(3e7, 1e8), kStart);
  int num_relayed = 0;
  for (int message = 0; message < 1000; ++message) {
    const TransferMode mode = rule.next(kBytes, kStart);
    if (mode == TransferMode::relayed && num_relayed++ > 0) {
      rule.miss(mode, kBytes, kStart);
    } else {
      rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / 3e7, kStart);
    }
  }
  CHECK(num_relayed < 20);
}

TEST_CASE(
    "transfer mode: comparisons that found nothing become rarer, also in a program with few "
    "messages") {
  // The direct path takes ten times what the plan says, and relays twenty times.
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  std::optional<TransferMode> last;
  for (int message = 0; message < 1000; ++message, now += milliseconds(500)) {
    if (last) rule.add_interval(*last, 0.5, now);
    last = rule.next(kBytes, now);
    if (*last != TransferMode::mpi) ++num_tried;
    const double rate_Bps = has_relay(*last) ? 5e6 : 1e7;
    rule.learn(*last, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
  }
  CHECK(num_tried < 110);
}

TEST_CASE("transfer mode: comparisons that found nothing become rarer") {
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  int num_tried = 0;
  Time now = kStart;
  for (int message = 0; message < 6000; ++message) {
    now += milliseconds(10);
    rule.note_slowdown(now);
    const TransferMode mode = rule.next(kBytes, now);
    if (mode != TransferMode::mpi) ++num_tried;
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
  }
  CHECK(num_tried < 40);
}

TEST_CASE("transfer mode: after a calm time two comparisons may follow each other soon") {
  // The first one comes a moment before the direct path falls, and fails.
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto pass = [&](milliseconds time, bool is_slower, double direct_Bps) {
    for (const Time end = now + time; now < end; now += milliseconds(10)) {
      if (is_slower) rule.note_slowdown(now);
      const TransferMode mode = rule.next(kBytes, now);
      const double rate_Bps = has_relay(mode) ? 9e7 : direct_Bps;
      rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
    }
  };
  pass(milliseconds(3000), true, 1e8);
  pass(milliseconds(20000), false, 1e8);
  pass(milliseconds(50), true, 1e8);
  pass(milliseconds(700), true, 1e7);
  CHECK(rule.next(kBytes, now) == TransferMode::striped);
}

TEST_CASE(
    "transfer mode: after a calm time a slower program is compared at once, whatever came before") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  double direct_Bps = 1e8;
  int num_striped = 0;
  const auto send = [&](int num_messages, bool is_slower) {
    for (int message = 0; message < num_messages; ++message) {
      if (is_slower) rule.note_slowdown(now);
      const TransferMode mode = rule.next(kBytes, now);
      const double rate_Bps = has_relay(mode) ? 9e7 : direct_Bps;
      now += milliseconds(20);
      rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
      if (mode == TransferMode::striped) ++num_striped;
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

TEST_CASE("transfer mode: where the direct path is as before a comparison costs one message") {
  const ModeRate planned(1e8, kLatency_s);
  TrialRule rule({planned, planned, planned, planned}, kStart);
  std::map<TransferMode, int> num_taken;
  Time now = kStart;
  for (int message = 0; message < 400; ++message) {
    now += milliseconds(10);
    if (message == 200) {
      num_taken.clear();
      rule.note_slowdown(now);
    }
    const TransferMode mode = rule.next(kBytes, now);
    ++num_taken[mode];
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / 0.8e8, now);
  }
  CHECK(num_taken[TransferMode::striped] == 0);
  CHECK(num_taken[TransferMode::direct] == 1);
}

TEST_CASE("transfer mode: a direct path that falls to a half is left, too") {
  Program program(1e8, 1e8);
  program.run(1e8, 9e7, milliseconds(5000));
  program.run(5e7, 9e7, milliseconds(2000));
  CHECK(share(program.run(5e7, 9e7, milliseconds(5000)), TransferMode::striped) > 0.9);
}

TEST_CASE("transfer mode: one disturbed message decides nothing") {
  Program program(1e8, 1e8);
  program.run(1e8, 7e7, milliseconds(2000));
  program.run(1e6, 7e7, milliseconds(1));
  CHECK(share(program.run(1e8, 7e7, milliseconds(2000)), TransferMode::striped) < 0.05);
}

TEST_CASE(
    "transfer mode: a message that is far too late leaves the direct path before it has arrived") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  const double message_s = kLatency_s + static_cast<double>(kBytes) / 1e8;
  Time now = kStart;
  for (int message = 0; message < 100; ++message, now += milliseconds(20)) {
    rule.learn(rule.next(kBytes, now), kBytes, message_s, now);
  }
  rule.note_long_gap(now);
  REQUIRE(rule.next(kBytes, now) == TransferMode::direct);
  // A tenth of it has arrived.
  CHECK_FALSE(rule.leave_if_late(TransferMode::direct, kBytes, kBytes / 10, 2 * message_s, now));
  const auto rest =
      rule.leave_if_late(TransferMode::direct, kBytes, kBytes / 10, 10 * message_s, now);
  REQUIRE(rest);
  CHECK(has_relay(*rest));
  CHECK(has_relay(rule.next(kBytes, now)));
}

TEST_CASE("transfer mode: failed comparisons do not delay an alarm") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto send = [&](bool is_slower) {
    now += milliseconds(10);
    if (is_slower) rule.note_slowdown(now);
    const TransferMode mode = rule.next(kBytes, now);
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
    return mode;
  };
  for (int message = 0; message < 3000; ++message) send(true);
  REQUIRE(send(true) == TransferMode::mpi);
  rule.note_long_gap(now);
  CHECK(send(false) == TransferMode::direct);
}

TEST_CASE("transfer mode: a slowdown that comes too soon after a failed comparison is kept") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  const auto send = [&](bool is_slower) {
    now += milliseconds(10);
    if (is_slower) rule.note_slowdown(now);
    const TransferMode mode = rule.next(kBytes, now);
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / 1e8, now);
    return mode;
  };
  for (int message = 0; message < 100; ++message) send(true);
  int num_tried = 0;
  for (int message = 0; message < 1700; ++message) num_tried += send(false) == TransferMode::direct;
  CHECK(num_tried == 1);
}
