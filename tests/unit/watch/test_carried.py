# SPDX-License-Identifier: Apache-2.0
"""What processes of a run with relays have left, put together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.watch.carried import Carried, carried


def leave(folder: Path, rank: int, src: int, by_mpi: dict, paths: dict) -> None:
    """As the preload library does it."""
    document = {
        "src": src,
        "by_mpi": [{"dst": dst, "bytes": size} for dst, size in by_mpi.items()],
        "paths": [{"hops": hops, "bytes": size} for hops, size in paths.items()],
    }
    (folder / f"relay-{rank}.json").write_text(json.dumps(document))


def test_bytes_of_processes_on_a_host_add_up(tmp_path: Path) -> None:
    leave(tmp_path, 0, 0, {1: 100}, {(1,): 20, (2, 1): 5})
    leave(tmp_path, 4, 0, {1: 10}, {(2, 1): 7})
    leave(tmp_path, 5, 2, {}, {(1,): 3})

    found = carried(tmp_path, 3)

    assert found == Carried({(0, 1): 110}, {(0, 1): 20, (0, 2, 1): 12, (2, 1): 3})
    assert (found.mpi_bytes, found.routers_bytes, found.relayed_bytes) == (110, 35, 12)
    assert found.busiest_relayed_path == (0, 2, 1)


def test_one_path_may_be_named_for_each_of_its_connections(tmp_path: Path) -> None:
    paths = [{"hops": [1], "bytes": 3}, {"hops": [1], "bytes": 4}]
    document = {"src": 0, "by_mpi": [], "paths": paths}
    (tmp_path / "relay-0.json").write_text(json.dumps(document))

    assert carried(tmp_path, 3) == Carried({}, {(0, 1): 7})


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert carried(tmp_path, 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"src": 0, "by_mpi": [], "paths": [{"hops": [], "bytes": 1}]}',
        '{"src": 0, "by_mpi": [], "paths": [{"hops": [1], "bytes": -1}]}',
        '{"src": 0, "by_mpi": [], "paths": [], "other": 1}',
        '{"src": 3, "by_mpi": [], "paths": []}',
        '{"src": 0, "by_mpi": [{"dst": 3, "bytes": 1}], "paths": []}',
        '{"src": 0, "by_mpi": [], "paths": [{"hops": [3, 1], "bytes": 1}]}',
    ],
)
def test_a_file_that_is_damaged_or_names_other_hosts_counts_as_missing(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "relay-0.json").write_text(text)

    assert carried(tmp_path, 3) is None
