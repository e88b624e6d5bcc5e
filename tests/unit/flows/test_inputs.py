# SPDX-License-Identifier: Apache-2.0
"""What is left to run on when the probe could not reach everything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.files.run_directory import RECORD, RunDirectory
from fairlead.flows.inputs import hosts_of, measured_part

CLUSTER = fl.Cluster(("a", "b", "c"), (1, 2, 3))


def network(*unmeasured: tuple[int, int], unreachable: tuple[str, ...] = ()) -> fl.Network:
    latency_s = np.full((3, 3), 1e-5)
    for src, dst in unmeasured:
        latency_s[src, dst] = np.nan
    reasons = dict.fromkeys(unreachable, "timed out")
    return fl.Network(["a", "b", "c"], latency_s, np.full((3, 3), 1e8), unreachable=reasons)


def test_unreachable_host_is_left_out_with_its_slots() -> None:
    without_b = network((1, 0), (1, 2), (0, 1), (2, 1), unreachable=("b",))
    part = measured_part(CLUSTER, without_b)
    assert (part.hosts, part.slots) == (("a", "c"), (1, 3))


def test_last_reachable_host_is_enough() -> None:
    pairs = [(src, dst) for src in range(3) for dst in range(3) if src != dst]
    alone = measured_part(CLUSTER, network(*pairs, unreachable=("a", "c")))
    assert (alone.hosts, alone.slots) == (("b",), (2,))


def test_fully_measured_cluster_stays_whole() -> None:
    assert measured_part(CLUSTER, network()) == CLUSTER


def test_unmeasured_pair_is_named() -> None:
    with pytest.raises(fl.TopologyError, match="a -> c was not measured:"):
        measured_part(CLUSTER, network((0, 2)))


def test_no_reachable_host_is_an_error() -> None:
    with pytest.raises(fl.TopologyError, match="none of these hosts"):
        measured_part(CLUSTER, network(unreachable=("a", "b", "c")))


def test_no_hostfile_and_no_allocation_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(fl.InputError, match="--hostfile FILE"):
        hosts_of(None)


def test_run_directory_records_steps_in_order(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.note("probe", {"seconds": 1})
    directory.note("trace", {"seconds": 2})
    record = json.loads((tmp_path / "run" / RECORD).read_text())
    assert [step["step"] for step in record["steps"]] == ["probe", "trace"]
    assert record["kind"] == "run"


def test_run_directory_is_never_mixed_with_another(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(fl.InputError, match="is not empty"):
        RunDirectory(tmp_path)


def test_run_directories_of_one_second_get_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    paths = {RunDirectory.new(None, "solver").path for _ in range(3)}
    assert len(paths) == 3
