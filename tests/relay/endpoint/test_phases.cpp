// SPDX-License-Identifier: Apache-2.0
// A program whose pattern of messages returns takes the path that served it.
#include <array>
#include <vector>

#include "catch.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kBytes = 1 << 20;

// Rank 1 on host 1 and rank 2 on host 2, with a relay each; rank 0 sends.
EndpointConfig two_targets(RuleName rule) {
  EndpointConfig place;
  place.host_of_rank = {0, 1, 2};
  place.capacity_Bps_of_host.assign(4, 1e12);
  place.paths_of_host.resize(4);
  for (const std::uint16_t host : {std::uint16_t{1}, std::uint16_t{2}}) {
    place.paths_of_host[host] = {{.hops = {host}, .latency_s = 1e-4, .bandwidth_Bps = 1e8},
                                 {.hops = {3, host}, .latency_s = 2e-4, .bandwidth_Bps = 0.9e8}};
  }
  place.rule = rule;
  place.segment_s_of_link = links(4, segment_s(1e-4, 1e8));
  return place;
}

// One message after the other, on paths with these real rates.
class Program {
 public:
  explicit Program(RuleName rule) : buffer_(two_targets(rule), kStart) {}

  void run(std::uint32_t rank, double direct_Bps, double relayed_Bps, milliseconds time) {
    const Time end = now_ + time;
    while (now_ < end) (void)send(rank, direct_Bps, relayed_Bps);
  }

  /// @return bytes by the relay
  double send(std::uint32_t rank, double direct_Bps, double relayed_Bps) {
    const TransferMode mode = buffer_.mode_to(rank, kBytes, now_);
    last_mode_ = mode;
    std::array<double, 2> bytes_of_path{};
    if (mode == TransferMode::mpi) {
      pass(kBytes / direct_Bps);
      return 0.0;
    }
    buffer_.match(rank, buffer_.add(rank, payload(kBytes), mode, now_));
    while (auto departure = buffer_.next(now_, OwnRouter::ready)) {
      const bool is_relayed = departure->header.num_hops == 2;
      bytes_of_path[is_relayed ? 1 : 0] += departure->header.segment_bytes;
      const double took_s =
          departure->header.segment_bytes / (is_relayed ? relayed_Bps : direct_Bps);
      pass(took_s);
      const std::vector<double> hops_s =
          is_relayed ? std::vector{took_s / 2, took_s / 2} : std::vector{took_s};
      buffer_.acknowledge(ack(*departure, hops_s), now_);
    }
    return bytes_of_path[1];
  }

  void wait(milliseconds time) { now_ += time; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] TransferMode last_mode() const { return last_mode_; }

 private:
  void pass(double seconds) {
    now_ += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
  }

  SendBuffer buffer_;
  Time now_ = kStart;
  TransferMode last_mode_ = TransferMode::mpi;
};

}  // namespace

TEST_CASE("phase: a pattern that returns takes its stored path at once") {
  const RuleName rule = GENERATE(RuleName::trials, RuleName::mcm);
  INFO(static_cast<int>(rule));
  Program program(rule);
  // To host 1 the direct path has fallen to a tenth: this takes some messages to be found.
  CHECK(program.send(1, 1e7, 0.9e8) == 0.0);
  program.run(1, 1e7, 0.9e8, milliseconds(3000));
  program.run(2, 1e8, 0.9e8, milliseconds(5000));
  const Time start = program.now();
  CHECK(program.send(1, 1e7, 0.9e8) > 0.9 * kBytes);
  // On the direct path, which would be tried now, it takes 105 ms.
  CHECK(program.now() - start < milliseconds(20));
}

TEST_CASE("phase: a pause of the program is no slowdown, by which paths would be tried") {
  Program program(RuleName::trials);
  program.run(1, 1e8, 0.9e8, milliseconds(3000));
  REQUIRE(program.last_mode() == TransferMode::mpi);
  program.run(2, 1e8, 0.9e8, milliseconds(5000));
  for (int message = 0; message < 10; ++message) {
    (void)program.send(1, 1e8, 0.9e8);
    INFO(message);
    CHECK(program.last_mode() == TransferMode::mpi);
  }
}

TEST_CASE("phase: a path that has recovered is found though each message follows a long pause") {
  Program program(RuleName::trials);
  program.run(1, 1e7, 0.9e8, milliseconds(3000));
  double relayed_bytes = 0.0;
  for (int message = 0; message < 20; ++message) {
    program.wait(milliseconds(3000));
    relayed_bytes = program.send(1, 1e8, 0.9e8);
  }
  CHECK(relayed_bytes == 0.0);
}
