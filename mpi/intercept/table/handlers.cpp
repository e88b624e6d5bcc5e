// SPDX-License-Identifier: Apache-2.0
// Fills the slots of the handlers.
#include "table/handlers.hpp"

namespace fairlead::intercept {
namespace detail {
constinit OriginalCalls handlers;
}

void remove_handlers() noexcept {
  detail::handlers = mpi();
}

void install_handlers(Feature installed) noexcept {
#define FEATURE(feature)
#define HANDLER(feature, call) \
  if (installed == Feature::feature) detail::handlers.call = &feature::call;
#include "table/handlers.def"
}

}  // namespace fairlead::intercept
