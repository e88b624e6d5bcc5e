# SPDX-License-Identifier: Apache-2.0
"""What processes of a run with relays have left, put together."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from fairlead.watch.relay_traffic import LearnedPath, load_relay_traffic


def path(hops: Sequence[int], size: int, latency_s: float = 1e-4, rate_Bps: float = 1e8) -> dict:
    return {"hops": [*hops], "bytes": size, "latency_s": latency_s, "rate_Bps": rate_Bps}


def leave(folder: Path, rank: int, src: int, by_mpi: dict, paths: dict) -> None:
    """As the preload library does it."""
    document = {
        "src": src,
        "by_mpi": [{"dst": dst, "bytes": size} for dst, size in by_mpi.items()],
        "paths": [path(hops, size) for hops, size in paths.items()],
    }
    (folder / f"relay-{rank}.json").write_text(json.dumps(document))


def test_bytes_of_processes_on_a_host_add_up(tmp_path: Path) -> None:
    leave(tmp_path, 0, 0, {1: 100}, {(1,): 20, (2, 1): 5})
    leave(tmp_path, 4, 0, {1: 10}, {(2, 1): 7})
    leave(tmp_path, 5, 2, {}, {(1,): 3})

    found = load_relay_traffic(tmp_path, 3)

    assert found is not None
    assert found.by_mpi == {(0, 1): 110}
    assert found.by_routers == {(0, 1): 20, (0, 2, 1): 12, (2, 1): 3}
    assert (found.mpi_bytes, found.routers_bytes, found.relayed_bytes) == (110, 35, 12)
    assert found.busiest_relayed_path == (0, 2, 1)


def test_one_path_may_be_named_for_each_of_its_connections(tmp_path: Path) -> None:
    paths = [path([1], 3), path([1], 4)]
    document = {"src": 0, "by_mpi": [], "paths": paths}
    (tmp_path / "relay-0.json").write_text(json.dumps(document))

    found = load_relay_traffic(tmp_path, 3)

    assert found is not None
    assert (found.by_mpi, found.by_routers) == ({}, {(0, 1): 7})


def test_what_was_learned_of_a_path_is_the_mean_of_its_bytes(tmp_path: Path) -> None:
    # What came past all routers, and what was not acknowledged, has no time of a path.
    untold = [{"hops": [1], "bytes": 9}, {"hops": [2, 1], "bytes": 5}]
    paths = [path([1], 3, 2e-4, 4e8), path([1], 1, 6e-4, 8e8), *untold]
    document = {"src": 0, "by_mpi": [], "paths": paths}
    (tmp_path / "relay-0.json").write_text(json.dumps(document))

    found = load_relay_traffic(tmp_path, 3)

    assert found is not None
    assert found.by_routers == {(0, 1): 13, (0, 2, 1): 5}
    assert set(found.learned) == {(0, 1)}
    assert found.learned[0, 1] == pytest.approx(LearnedPath(latency_s=3e-4, rate_Bps=5e8))


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert load_relay_traffic(tmp_path, 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        json.dumps({"src": 0, "by_mpi": [], "paths": [path([], 1)]}),
        json.dumps({"src": 0, "by_mpi": [], "paths": [path([1], -1)]}),
        json.dumps({"src": 0, "by_mpi": [], "paths": [path([1], 1, rate_Bps=0.0)]}),
        json.dumps({"src": 0, "by_mpi": [], "paths": [path([1], 1, latency_s=math.inf)]}),
        '{"src": 0, "by_mpi": [], "paths": [], "other": 1}',
        '{"src": 3, "by_mpi": [], "paths": []}',
        '{"src": 0, "by_mpi": [{"dst": 3, "bytes": 1}], "paths": []}',
        json.dumps({"src": 0, "by_mpi": [], "paths": [path([3, 1], 1)]}),
    ],
)
def test_a_file_that_is_damaged_or_names_other_hosts_counts_as_missing(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "relay-0.json").write_text(text)

    assert load_relay_traffic(tmp_path, 3) is None
