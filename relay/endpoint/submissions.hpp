// SPDX-License-Identifier: Apache-2.0
// Messages on their way from the program's threads to the messenger's, without a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/send_buffer.hpp"
#include "routing/path_rule.hpp"

namespace fairlead::relay {

/// A message to a rank that has its number, and goes in this mode by routers.
struct PendingSend {
  std::uint32_t dst_rank = 0;
  std::uint64_t number = 0;
  TransferMode mode = TransferMode::striped;
};

struct Submission {
  PendingSend send{};
  std::uint64_t bytes = 0;
  /// Null: the message does not come.
  Payload payload{};
};

/// A lock-free stack (Treiber, 1986): any thread adds a node, and the thread that holds the
/// messenger's lock takes all nodes at once. A node is never taken alone, so no thread reads a node
/// that another has freed.
class Submissions {
 public:
  Submissions() = default;
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;
  ~Submissions() { (void)take_all(); }

  void add(Submission submission) {
    auto made = std::make_unique<Node>();
    made->submission = std::move(submission);
    // take_all owns it from here on.
    Node* const node = made.release();
    node->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  /// The oldest one first.
  [[nodiscard]] std::vector<Submission> take_all() {
    std::vector<Submission> taken;
    if (newest_.load(std::memory_order_relaxed) == nullptr) return taken;
    std::unique_ptr<Node> node(newest_.exchange(nullptr, std::memory_order_acquire));
    while (node) {
      taken.push_back(std::move(node->submission));
      node.reset(node->next);
    }
    std::ranges::reverse(taken);
    return taken;
  }

 private:
  struct Node {
    Submission submission{};
    Node* next = nullptr;
  };

  std::atomic<Node*> newest_{nullptr};
};

}  // namespace fairlead::relay
