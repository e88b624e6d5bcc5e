// SPDX-License-Identifier: Apache-2.0
// The document in which rank 0 hands the result to Python.
#pragma once

#include <string>

#include "fairlead/network/contention.hpp"
#include "messages/rehearsal.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// Prints the outcome as one JSON document on standard output, which every launcher brings to
/// where it was started; a file might appear on another machine.
/// @throws std::runtime_error with the reason.
void print_result(const Options& options, const Behaviour& behaviour, const Outcome& outcome,
                  double probing_s);

/// Prints what flows together showed as a document of its own, after that of the pairs: they are
/// not lost when this part fails.
/// @throws std::runtime_error with the reason.
void print_contention(const ContentionFindings& findings, double probing_s);

/// Prints what was rehearsed as a document of its own, the last.
/// @throws std::runtime_error with the reason.
void print_rehearsal(const RehearsalFindings& findings);

}  // namespace fairlead::probe
