# SPDX-License-Identifier: Apache-2.0
"""Where a user's files are, also without a home folder."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from fairlead.act.mpi_builds import user_folder
from fairlead.files.run_directory import cache_folder, state_folder

VARIABLES = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "HOME"):
        monkeypatch.delenv(name, raising=False)


def find_folders() -> list[Path]:
    return [state_folder(), cache_folder(), user_folder()]


def test_variables_name_the_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"/{name}")
    state, cache, data = (f"/{name}/fairlead" for name in VARIABLES)
    assert find_folders() == [Path(state), Path(cache), Path(data) / "mpi"]


@pytest.mark.parametrize("named", ["", "relative"])
def test_a_relative_folder_counts_as_none(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for name in VARIABLES:
        monkeypatch.setenv(name, named)
    home = Path("/home/me")
    assert find_folders() == [
        home / ".local/state/fairlead",
        home / ".cache/fairlead",
        home / ".local/share/fairlead/mpi",
    ]


def test_without_a_home_the_root_folder_stands_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(uid: int) -> None:
        raise KeyError(f"uid not found: {uid}")

    monkeypatch.setattr(pwd, "getpwuid", fail)
    assert find_folders() == [
        Path("/.local/state/fairlead"),
        Path("/.cache/fairlead"),
        Path("/.local/share/fairlead/mpi"),
    ]
