// SPDX-License-Identifier: Apache-2.0
// The document in which rank 0 returns the result to Python.
#pragma once

#include <string>

#include "fairlead/network/contention.hpp"
#include "messages/rehearsal.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// Prints the outcome as one JSON document on standard output, which every launcher forwards; a
/// file might be on another machine.
/// @throws std::runtime_error with the reason.
void print_result(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                  double probing_s);

/// Prints the results of flows run together as a separate document, after that of the pairs, so
/// that the pairs are not lost if this part fails.
/// @throws std::runtime_error with the reason.
void print_contention(const ContentionFindings& findings, double probing_s);

/// Prints the results of rehearsals as a separate document, the last one.
/// @throws std::runtime_error with the reason.
void print_rehearsal(const RehearsalFindings& findings);

}  // namespace fairlead::probe
