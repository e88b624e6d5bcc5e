// SPDX-License-Identifier: Apache-2.0
// The rule of MCM, `mcm`: each message takes one path. The time that a repeated message takes puts
// a pair of hosts into one of three zones; a transition upward searches a new path, and in the
// highest zone messages take one of the open paths by chance (docs/design/relay-mcm.md).
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "routing/link_table.hpp"
#include "routing/path_rule.hpp"
#include "routing/rule_settings.hpp"

namespace fairlead::relay {

enum class Zone : std::uint8_t { low, medium, high };

class McmRule final : public PathRule {
 public:
  /// @param planned  paths of the pair, the direct one first; those that an earlier run stored have
  /// the use that they had there
  /// @param links   times of segments, which acks update
  /// @param host    the sender's
  /// @param seed    of the choice among open paths
  McmRule(std::vector<HostPath> planned, const Zones& zones, std::shared_ptr<const LinkTable> links,
          std::uint16_t host, std::uint32_t seed);

  [[nodiscard]] TransferMode next(std::uint64_t bytes, Time now) override;
  [[nodiscard]] bool is_striping_worth(std::uint64_t bytes) const override;
  [[nodiscard]] std::optional<std::size_t> choose(std::span<PathState> paths, TransferMode mode,
                                                  std::uint64_t bytes, Time now,
                                                  std::optional<std::size_t>& taken) override;
  [[nodiscard]] bool is_one_path_a_message() const override { return true; }
  void learn(TransferMode mode, std::uint64_t bytes, double seconds, Time now) override;
  [[nodiscard]] std::vector<PathUse> uses() const override { return use_of_path_; }

  [[nodiscard]] Zone zone() const { return zone_; }
  /// The path of messages while latency is acceptable.
  [[nodiscard]] std::size_t standard_path() const { return standard_; }

 private:
  [[nodiscard]] double unloaded_s(std::uint64_t bytes) const;
  [[nodiscard]] Zone zone_of(double ratio) const;
  [[nodiscard]] double latency_s(std::size_t path) const;
  void search();
  void open_found();
  void settle();
  void set_standard(std::size_t path);
  [[nodiscard]] std::optional<std::size_t> draw(std::span<const PathState> paths, Time now);
  [[nodiscard]] std::optional<std::size_t> any_that_answers(std::span<const PathState> paths,
                                                            Time now);
  [[nodiscard]] bool is_taken(std::size_t path) const {
    return use_of_path_[path] >= PathUse::open;
  }

  std::vector<HostPath> planned_;
  Zones zones_;
  std::shared_ptr<const LinkTable> links_;
  std::uint16_t host_;
  std::minstd_rand random_;
  std::vector<PathUse> use_of_path_;
  std::size_t standard_ = 0;
  Zone zone_ = Zone::low;
  /// Sizes of messages that came before, by powers of two.
  std::set<std::uint8_t> known_sizes_{};
};

}  // namespace fairlead::relay
