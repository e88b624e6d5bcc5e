// SPDX-License-Identifier: Apache-2.0
// The part of fairlead._core that places many jobs.
#pragma once

#include <nanobind/nanobind.h>

void bind_jobs(nanobind::module_& module);
