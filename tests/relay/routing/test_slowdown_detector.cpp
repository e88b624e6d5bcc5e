// SPDX-License-Identifier: Apache-2.0
// When the times between messages say that a program has become slower.
#include <initializer_list>
#include <random>

#include "catch.hpp"
#include "routing/slowdown_detector.hpp"

using namespace fairlead::relay;
using std::chrono::milliseconds;

namespace {

class Program {
 public:
  /// @return how often it was said to be slower
  int run(std::initializer_list<int> gaps_ms, int num_rounds = 1) {
    int count = 0;
    for (int round = 0; round < num_rounds; ++round) {
      for (const int gap_ms : gaps_ms) {
        now_ += milliseconds(gap_ms);
        if (detector_.add_message(now_)) ++count;
      }
    }
    return count;
  }

 private:
  SlowdownDetector detector_;
  Time now_ = Time(std::chrono::seconds(1000));
};

}  // namespace

TEST_CASE("slowdown: a steady program is never slower") {
  CHECK(Program().run({60}, 1000) == 0);
  CHECK(Program().run({55, 60, 70, 62}, 1000) == 0);
}

TEST_CASE("slowdown: several messages in each step are steady, too") {
  CHECK(Program().run({0, 0, 60}, 1000) == 0);
  CHECK(Program().run({1, 60, 1, 1, 1, 61}, 1000) == 0);
}

TEST_CASE("slowdown: two steps of four times the time are reported at once, and once") {
  const int message = GENERATE(1, 0);
  Program program;
  program.run({message, 60}, 20);
  CHECK(program.run({message, 240}) == 0);
  CHECK(program.run({message, 240}) == 1);
  CHECK(program.run({message, 240}, 100) == 0);
}

TEST_CASE("slowdown: one slow step alone shows nothing") {
  Program program;
  program.run({60}, 20);
  CHECK(program.run({300, 60, 60, 60, 60, 60, 60, 60}, 10) == 0);
}

TEST_CASE("slowdown: one half more is reported after four steps") {
  Program program;
  program.run({60}, 20);
  CHECK(program.run({90, 90, 90}) == 0);
  CHECK(program.run({90}) == 1);
  CHECK(program.run({90}, 100) == 0);
}

TEST_CASE("slowdown: a program that becomes faster is not slower, until it is") {
  Program program;
  program.run({240}, 20);
  CHECK(program.run({60}, 20) == 0);
  CHECK(program.run({240, 240}) == 1);
}

TEST_CASE("slowdown: gaps by chance are rarely reported as slower") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> gap_ms(4.0, 0.2);
  Program program;
  int count = 0;
  for (int message = 0; message < 10000; ++message) {
    count += program.run({static_cast<int>(gap_ms(random))});
  }
  CHECK(count < 100);
}

TEST_CASE("slowdown: one gap that is far longer is seen at once") {
  SlowdownDetector detector;
  Time now = Time(std::chrono::seconds(1000));
  const auto is_far = [&](int gap_ms) {
    now += milliseconds(gap_ms);
    (void)detector.add_message(now);
    return detector.is_far_slower();
  };
  for (int message = 0; message < 20; ++message) CHECK_FALSE(is_far(60));
  CHECK(is_far(400));
  CHECK_FALSE(is_far(60));
  CHECK_FALSE(is_far(290));
}
