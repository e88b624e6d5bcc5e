# SPDX-License-Identifier: Apache-2.0
"""MCM's path table is kept for later runs on the same network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from fairlead.decide.host_paths import path_table
from fairlead.model.network import Network
from fairlead.watch.kept_paths import KeptPaths, recall_paths, remember_paths, with_kept_paths


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def network(rate_Bps: float = 1e8) -> Network:
    latency_s = np.where(np.eye(4), 0.0, 1e-4)
    return Network(tuple("abcd"), latency_s, np.where(np.eye(4), np.inf, rate_Bps))


def leave(
    folder: Path,
    rank: int,
    src: int,
    uses: Mapping[tuple[int, ...], str],
    links: Sequence[tuple[int, int, float]] = (),
) -> None:
    """As the preload library does it."""
    document = {
        "src": src,
        "by_mpi": [],
        "paths": [],
        "table": [{"hops": [*hops], "use": use} for hops, use in uses.items()],
        "links": [{"src": src, "dst": dst, "segment_s": time} for src, dst, time in links],
    }
    folder.mkdir(exist_ok=True)
    (folder / f"relay-{rank}.json").write_text(json.dumps(document))


def test_the_next_run_begins_with_the_stored_paths(tmp_path: Path) -> None:
    leave(tmp_path / "run", 0, 0, {(1,): "open", (2, 1): "standard"}, [(0, 2, 3e-4)])

    remember_paths(network(), tmp_path / "run")
    kept = recall_paths(network())

    assert kept is not None
    table = with_kept_paths(path_table(network()), kept)
    uses = {(path.src, *path.hops): path.use for path in table.paths if path.use}
    assert uses == {(0, 1): "open", (0, 2, 1): "standard"}
    assert table.segment_s[0][2] == 3e-4
    assert table.segment_s[0][3] == pytest.approx(1e-4 + 65536 / 1e8)


def test_a_network_that_was_measured_again_begins_anew(tmp_path: Path) -> None:
    leave(tmp_path / "run", 0, 0, {(1,): "standard"})

    remember_paths(network(), tmp_path / "run")

    assert recall_paths(network(2e8)) is None


def test_what_a_run_did_not_use_stays_as_earlier_runs_have_left_it(tmp_path: Path) -> None:
    leave(tmp_path / "first", 0, 0, {(1,): "standard"}, [(0, 1, 1e-3), (0, 2, 2e-3)])
    leave(tmp_path / "first", 1, 2, {(3,): "standard", (0, 3): "found"})
    leave(tmp_path / "second", 0, 0, {(3, 1): "standard"}, [(0, 1, 5e-3)])

    for name in ("first", "second"):
        remember_paths(network(), tmp_path / name)

    assert recall_paths(network()) == KeptPaths(
        {(0, 3, 1): "standard", (2, 3): "standard", (2, 0, 3): "found"},
        {(0, 1): 5e-3, (0, 2): 2e-3},
    )


def test_of_several_standard_paths_that_of_most_processes_stays(tmp_path: Path) -> None:
    leave(tmp_path / "run", 0, 0, {(1,): "standard"}, [(0, 1, 1e-3)])
    leave(tmp_path / "run", 1, 0, {(1,): "open", (2, 1): "standard"}, [(0, 1, 3e-3)])
    leave(tmp_path / "run", 2, 0, {(1,): "found", (2, 1): "standard"})

    remember_paths(network(), tmp_path / "run")

    kept = recall_paths(network())
    assert kept is not None
    assert kept.use_of_path == {(0, 1): "open", (0, 2, 1): "standard"}
    assert kept.segment_s_of_link == {(0, 1): pytest.approx(2e-3)}


def test_a_run_without_the_rule_mcm_keeps_nothing(tmp_path: Path) -> None:
    leave(tmp_path / "run", 0, 0, {})

    remember_paths(network(), tmp_path / "run")

    assert recall_paths(network()) is None


def test_paths_and_hosts_that_the_table_has_not_are_left_out() -> None:
    kept = KeptPaths({(0, 2, 3, 1): "standard"}, {(0, 9): 1.0})

    table = with_kept_paths(path_table(network()), kept)

    assert table == path_table(network())
