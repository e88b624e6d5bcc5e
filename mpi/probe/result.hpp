// SPDX-License-Identifier: Apache-2.0
// The document in which rank 0 returns the result to Python.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "carried_by_tcp.hpp"
#include "fairlead/network/contention.hpp"
#include "hosts/host_runner.hpp"
#include "messages/rehearsal.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// Prints the outcome as one JSON document on standard output, which every launcher forwards; a
/// file might be on another machine.
/// @param hosts  rates of each rank's host; empty where they were not asked for
/// @throws std::runtime_error with the reason.
void print_result(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                  std::span<const std::optional<MeasuredHost>> hosts, double probing_s,
                  const SentBytes& sent);

/// Prints the results of flows run together as a separate document, after that of the pairs, so
/// that the pairs are not lost if this part fails.
/// @throws std::runtime_error with the reason.
void print_contention(const ContentionFindings& findings, double probing_s);

/// Prints the results of rehearsals as a separate document, after that of the pairs.
/// @throws std::runtime_error with the reason.
void print_rehearsal(const RehearsalFindings& findings, const SentBytes& sent);

/// Prints what all hosts reported of their inside as a separate document, the last one.
/// @param reports  a JSON object of each rank; empty where there is none
/// @throws std::runtime_error with the reason.
void print_inside(const std::vector<std::string>& reports);

}  // namespace fairlead::probe
