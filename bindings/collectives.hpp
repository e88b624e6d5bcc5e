// SPDX-License-Identifier: Apache-2.0
// The part of fairlead._core that plans collectives.
#pragma once

#include <nanobind/nanobind.h>

void bind_collectives(nanobind::module_& module);
