// SPDX-License-Identifier: Apache-2.0
// The simulator's part of fairlead._core.
#pragma once

#include <nanobind/nanobind.h>

void bind_simulation(nanobind::module_& module);
