# SPDX-License-Identifier: Apache-2.0
"""A run of CMPI's items that was stopped goes on with what it has measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[3] / "bench" / "collectives" / "cmpi_items" / "kept.py"


def load_module() -> Any:
    spec = importlib.util.spec_from_file_location("cmpi_kept", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_measurement_is_made_once_for_each_name(tmp_path: Path) -> None:
    kept, made = load_module().kept, []

    def measure() -> list[float]:
        made.append(len(made))
        return [0.5, float(len(made))]

    first = kept(tmp_path / "new", "scatter-64", measure)
    again = kept(tmp_path / "new", "scatter-64", measure)
    other = kept(tmp_path / "new", "scatter-128", measure)

    assert first == again == [0.5, 1.0]
    assert other == [0.5, 2.0]


def test_without_a_folder_each_run_measures(tmp_path: Path) -> None:
    kept = load_module().kept

    assert [kept(None, "scatter-64", lambda: 1), kept(None, "scatter-64", lambda: 2)] == [1, 2]
    assert list(tmp_path.iterdir()) == []
