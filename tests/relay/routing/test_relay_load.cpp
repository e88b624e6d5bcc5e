// SPDX-License-Identifier: Apache-2.0
// Which transfer mode messages take while others fill what relays need, and when these have gone.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "catch.hpp"
#include "mode_program.hpp"

using namespace fairlead::tests;

namespace {

// Share of stripes in two minutes, where all jobs do as this one does. The relay alone takes so
// many times the plan's time while each job uses all paths, and while each uses one.
double striped_share(double direct_Bps, double times_among_stripes, double times_among_single) {
  constexpr double kPlanned_Bps = 1e8;
  TrialRule rule(planned(direct_Bps, kPlanned_Bps), kStart);
  Time now = kStart;
  std::deque<TransferMode> last_modes;
  std::map<TransferMode, double> taken_s;
  while (now < kStart + std::chrono::seconds(120)) {
    const TransferMode mode = rule.next(kBytes, now);
    const bool is_striped = std::ranges::count(last_modes, TransferMode::striped) > 5;
    const double times = is_striped ? times_among_stripes : times_among_single;
    const double relays_Bps =
        mode == TransferMode::striped ? 0.9 * kPlanned_Bps : kPlanned_Bps / times;
    const double rate_Bps = has_relay(mode) ? relays_Bps : direct_Bps;
    const double seconds = kLatency_s + static_cast<double>(kBytes) / rate_Bps;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    rule.learn(mode, kBytes, seconds, now);
    taken_s[mode] += seconds;
    last_modes.push_back(mode);
    if (last_modes.size() > 10) last_modes.pop_front();
  }
  return share(taken_s, TransferMode::striped);
}

}  // namespace

TEST_CASE(
    "transfer mode: several paths that only take a greater share of what others fill are left") {
  // Four paths carry more than one does, but none of them more than the direct one.
  const double planned_direct_Bps = GENERATE(1e8, 6e7);
  Program program(planned_direct_Bps, 1e8);
  program.run(2.5e7, 8e7, milliseconds(1000), 1.0, 0.25);
  const auto later = program.run(2.5e7, 8e7, milliseconds(20000), 1.0, 0.25);
  CHECK(share(later, TransferMode::striped) == 0.0);
  CHECK(share(later, TransferMode::mpi) > 0.9);
}

TEST_CASE("transfer mode: while others fill the network relays are tried rarely") {
  TrialRule rule(planned(1e8, 1e8), kStart);
  Time now = kStart;
  int num_relayed = 0;
  for (const Time end = now + std::chrono::seconds(60); now < end; now += milliseconds(50)) {
    rule.note_slowdown(now);
    const TransferMode mode = rule.next(kBytes, now);
    if (has_relay(mode)) ++num_relayed;
    const double rate_Bps = has_relay(mode) ? 1e7 : 2e7;
    rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
  }
  CHECK(num_relayed >= 3);
  CHECK(num_relayed <= 5);
}

TEST_CASE("transfer mode: one relay is taken alone while others fill the network") {
  Program program(1e7, 1e8);
  program.run(1e7, 1e8, milliseconds(5000));
  // Jobs come.
  program.run(1e7, 8e7, milliseconds(10000), 1.0, 0.5);
  CHECK(share(program.run(1e7, 8e7, milliseconds(5000), 1.0, 0.5), TransferMode::relayed) > 0.9);
  // They have ended.
  program.run(1e7, 1e8, milliseconds(10000));
  CHECK(share(program.run(1e7, 1e8, milliseconds(5000)), TransferMode::striped) > 0.8);
}

TEST_CASE("transfer mode: relays are taken again when those have gone who filled the network") {
  const double relayed_ratio = GENERATE(0.25, 4.0);
  INFO(relayed_ratio);
  Program program(2e7, 1e8);
  program.run(2e7, 1e8, milliseconds(3000));
  // One relay alone is as slow as the direct path, so the MPI is taken, or faster than all
  // together.
  const double striped_Bps = relayed_ratio < 1.0 ? 8e7 : 1.5e7;
  const auto loaded = program.run(2e7, striped_Bps, milliseconds(60000), 1.0, relayed_ratio);
  CHECK(share(loaded, TransferMode::striped) < 0.1);
  CHECK(share(loaded, relayed_ratio < 1.0 ? TransferMode::mpi : TransferMode::relayed) > 0.85);
  program.run(2e7, 1e8, milliseconds(65000));
  CHECK(share(program.run(2e7, 1e8, milliseconds(5000)), TransferMode::striped) > 0.8);
}

TEST_CASE(
    "transfer mode: relays that were loaded from the first message on are found when they are "
    "free") {
  Program program(2e7, 1e8);
  program.run(2e7, 8e7, milliseconds(1000), 1.0, 0.25);
  program.run(2e7, 1e8, milliseconds(10000));
  CHECK(share(program.run(2e7, 1e8, milliseconds(5000)), TransferMode::striped) > 0.8);
}

TEST_CASE("transfer mode: relays are tried in spite of load where the direct path becomes slower") {
  Program program(2e7, 1e8);
  program.run(2e7, 2e7, milliseconds(2000), 1.0, 0.25);
  // In less time than what is known of the load lasts.
  program.run(8e6, 1e8, milliseconds(3000));
  CHECK(share(program.run(8e6, 1e8, milliseconds(2000)), TransferMode::striped) > 0.8);
}

TEST_CASE(
    "transfer mode: where all paths are the load themselves, one path is taken nearly always") {
  CHECK(striped_share(1e7, 2.0, 1.3) < 0.2);
}

TEST_CASE(
    "transfer mode: a first message by a relay that opens connections decides for some seconds "
    "only") {
  TrialRule rule(planned(4e7, 1e8), kStart);
  Time now = kStart;
  bool is_open = false;
  std::map<TransferMode, int> num_taken;
  while (now < kStart + std::chrono::seconds(20)) {
    const TransferMode mode = rule.next(kBytes, now);
    double rate_Bps = has_relay(mode) ? 1e8 : 4e7;
    if (has_relay(mode) && !std::exchange(is_open, true)) rate_Bps = 2e7;
    const double seconds = kLatency_s + static_cast<double>(kBytes) / rate_Bps;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    rule.learn(mode, kBytes, seconds, now);
    if (now > kStart + std::chrono::seconds(10)) ++num_taken[mode];
  }
  CHECK(num_taken[TransferMode::striped] > 850);
}

TEST_CASE(
    "transfer mode: all paths are taken again after a load, of which the plan expects nothing") {
  Program program(1e8, 1e8);
  program.run(1e8, 9e7, milliseconds(5000));
  program.run(5e7, 9e7, milliseconds(2000));
  CHECK(share(program.run(5e7, 9e7, milliseconds(20000), 1.0, 0.7), TransferMode::relayed) > 0.8);
  program.run(5e7, 9e7, milliseconds(60000));
  CHECK(share(program.run(5e7, 9e7, milliseconds(5000)), TransferMode::striped) > 0.8);
}

TEST_CASE(
    "transfer mode: relays that become free are found while several connections carry the "
    "messages") {
  Program program(2.5e7, 1e8);
  const auto loaded = program.run(2.5e7, 8e7, milliseconds(5000), 1.5, 0.25);
  CHECK(share(loaded, TransferMode::parallel) > 0.8);
  program.run(2.5e7, 1e8, milliseconds(65000), 1.5);
  CHECK(share(program.run(2.5e7, 1e8, milliseconds(5000), 1.5), TransferMode::striped) > 0.8);
}

TEST_CASE("transfer mode: a relay that stays somewhat slower after a load is found to be free") {
  Program program(1e7, 1e8);
  program.run(1e7, 1e8, milliseconds(5000));
  CHECK(share(program.run(1e7, 8e7, milliseconds(10000), 1.0, 0.6), TransferMode::relayed) > 0.4);
  program.run(1e7, 1e8, milliseconds(65000), 1.0, 1 / 1.3);
  CHECK(share(program.run(1e7, 1e8, milliseconds(5000), 1.0, 1 / 1.3), TransferMode::striped) >
        0.8);
}

TEST_CASE("transfer mode: short messages, of which a relay adds much to each, do not show load") {
  constexpr double kRelay_s = 5e-4;
  TrialRule rule(planned(2e7, 1e8), kStart);
  Time now = kStart;
  std::map<TransferMode, double> taken_s;
  for (int message = 0; message < 20000; ++message) {
    const std::uint64_t bytes = message % 3 == 2 ? kBytes : kBytes / 16;
    const TransferMode mode = rule.next(bytes, now);
    const double rate_Bps = has_relay(mode) ? 1e8 : 2e7;
    const double seconds =
        kLatency_s + static_cast<double>(bytes) / rate_Bps + (has_relay(mode) ? kRelay_s : 0.0);
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    rule.learn(mode, bytes, seconds, now);
    if (message >= 10000) taken_s[mode] += seconds;
  }
  CHECK(share(taken_s, TransferMode::striped) > 0.8);
}

TEST_CASE(
    "transfer mode: where messages take minutes a load is asked for a twentieth of the time") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 30U;
  TrialRule rule(planned(2e7, 1e8), kStart);
  Time now = kStart;
  double tried_s = 0.0;
  while (now < kStart + std::chrono::hours(6)) {
    const TransferMode mode = rule.next(kHuge, now);
    const double rate_Bps = has_relay(mode) ? 1e7 : 2e7;
    const double seconds = kLatency_s + static_cast<double>(kHuge) / rate_Bps;
    now += duration_cast<Clock::duration>(duration<double>(seconds));
    rule.learn(mode, kHuge, seconds, now);
    if (mode != TransferMode::mpi && now > kStart + std::chrono::hours(1)) tried_s += seconds;
  }
  CHECK(tried_s < 0.05 * 5 * 3600);
  CHECK(tried_s > 0.0);
}

TEST_CASE("transfer mode: a load that comes back at once lasts longer and longer") {
  CHECK(striped_share(2e7, 1.6, 1.1) < 0.35);
}

TEST_CASE("transfer mode: a relay that answers no more is left, also while it was taken alone") {
  TrialRule rule(planned(2e7, 1e8), kStart);
  Time now = kStart;
  int num_relayed = 0;
  for (int message = 0; message < 200; ++message) {
    const TransferMode mode = rule.next(kBytes, now);
    const double rate_Bps = mode == TransferMode::relayed   ? 5e7
                            : mode == TransferMode::striped ? 6e7
                                                            : 2e7;
    now += milliseconds(30);
    if (message >= 100 && mode == TransferMode::relayed) {
      rule.miss(mode, kBytes, now);
    } else {
      rule.learn(mode, kBytes, kLatency_s + static_cast<double>(kBytes) / rate_Bps, now);
    }
    if (message == 99) CHECK(mode == TransferMode::relayed);
    if (message >= 150 && mode == TransferMode::relayed) ++num_relayed;
  }
  CHECK(num_relayed < 5);
}
