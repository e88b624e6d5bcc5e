// SPDX-License-Identifier: Apache-2.0
// Lines of JSON: an order on standard input, its answer on standard output.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "flows.hpp"

namespace fairlead::tcp_probe {

/// The key of the job, which the thread of connections reads as well.
class JobKey {
 public:
  void set(const std::string& key) {
    const std::lock_guard lock(mutex_);
    key_ = key;
  }
  [[nodiscard]] std::string get() const {
    const std::lock_guard lock(mutex_);
    return key_;
  }

 private:
  mutable std::mutex mutex_;
  std::string key_;  // under mutex_
};

class Orders {
 public:
  explicit Orders(JobKey& key) : key_(key) {}

  /// Obeys one order; what cannot be done is answered by `failed` and the reason.
  [[nodiscard]] std::string answer(const std::string& line);

 private:
  JobKey& key_;
  std::map<int, Flows> flows_of_set_;
};

}  // namespace fairlead::tcp_probe
