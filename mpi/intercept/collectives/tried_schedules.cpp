// SPDX-License-Identifier: Apache-2.0
#include "collectives/tried_schedules.hpp"

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "fairlead/collectives/schedule.hpp"
#include "session/run_record.hpp"

namespace fairlead::intercept {
namespace {

/// Programs make communicators again and again.
constexpr std::size_t kMostTried = 1000;

struct Tried {
  std::mutex mutex;  // guards the list
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
};

/// Never destroyed.
Tried& all_tried() {
  static Tried* const instance = new Tried;
  return *instance;
}

const char* name_of(TrialEnd end) {
  switch (end) {
    case TrialEnd::unpromising:
      return "unpromising";
    case TrialEnd::slower:
      return "slower";
    case TrialEnd::used:
      return "used";
    case TrialEnd::left:
      return "left";
  }
  return "";
}

}  // namespace

void record_tried(const TriedSchedule& tried) {
  nlohmann::ordered_json entry = {
      {"operation", std::string(name_of(tried.request.rule->operation))},
      {"message_bytes", tried.request.bytes},
      {"method", tried.request.rule->method},
      {"end", name_of(tried.end)},
      {"predicted_s", tried.predicted_s},
      {"native_s", tried.native_s},
      {"schedule_s", tried.schedule_s},
  };
  const std::scoped_lock lock(all_tried().mutex);
  if (all_tried().list.size() < kMostTried) all_tried().list.push_back(std::move(entry));
}

void write_tried(int rank) {
  const std::scoped_lock lock(all_tried().mutex);
  if (all_tried().list.empty()) return;
  const nlohmann::ordered_json record = {{"tried", all_tried().list}};
  write_record("schedules", rank, record, "which schedules were tried");
}

}  // namespace fairlead::intercept
