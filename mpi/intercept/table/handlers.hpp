// SPDX-License-Identifier: Apache-2.0
// The second slot of each row: which function handles the call.
#pragma once

#include "pmpi/mpi_symbols.hpp"
#include "table/call_names.hpp"

namespace fairlead::intercept {

/// The features that handle calls.
enum class Feature {
#define FEATURE(feature) feature,
#define HANDLER(feature, call)
#include "table/handlers.def"
};

/// Made once for each call that is claimed, so a second feature that claims it does not compile.
template <Call>
struct Claim;

// A handler has the parameters of its call, and C++ linkage in its feature's namespace.
#define FAIRLEAD_CLAIM(feature, call) \
  template <>                         \
  struct Claim<Call::call> {};        \
  namespace feature {                 \
  extern decltype(PMPI_##call) call;  \
  }
#define FEATURE(feature)
#define HANDLER(feature, call) FAIRLEAD_CLAIM(feature, call)
#include "table/handlers.def"

namespace detail {
extern constinit OriginalCalls handlers;
}

/// The handler of each call: the MPI's own function, or that of a feature that is on. Written in
/// MPI_Init and MPI_Finalize only, so calls read it without a lock.
[[nodiscard]] inline const OriginalCalls& handlers() noexcept {
  return detail::handlers;
}

/// From now on the MPI handles every call.
void remove_handlers() noexcept;

/// From now on a feature handles the calls that it claims.
void install_handlers(Feature feature) noexcept;

}  // namespace fairlead::intercept
