# SPDX-License-Identifier: Apache-2.0
"""The store is bounded."""

from __future__ import annotations

import os
from pathlib import Path

from fairlead.files.pruning import prune_oldest


def test_the_oldest_go_beyond_the_bound_and_other_files_stay(tmp_path: Path) -> None:
    for number in range(12):
        path = tmp_path / f"{number}.json"
        if number % 2:
            path.mkdir()
            (path / "file").write_text("")
        else:
            path.write_text("")
        os.utime(path, (number, number))
    (tmp_path / "other").write_text("")

    prune_oldest(tmp_path, "*.json", 12)
    assert len(list(tmp_path.glob("*.json"))) == 12
    prune_oldest(tmp_path, "*.json", 10)

    assert {path.name for path in tmp_path.iterdir()} == {
        "other", *(f"{number}.json" for number in range(2, 12)),
    }  # fmt: skip
