# SPDX-License-Identifier: Apache-2.0
"""The committed stub of the compiled core says what the module offers."""

from __future__ import annotations

from pathlib import Path

import nanobind.stubgen

import fairlead
from fairlead import _core


def test_stub_is_what_the_module_gives() -> None:
    generator = nanobind.stubgen.StubGen(_core)
    generator.put(_core)

    committed = (Path(fairlead.__file__).parent / "_core.pyi").read_text(encoding="utf-8")

    assert committed == generator.get(), "run: cmake --build BUILD --target core_stub"
