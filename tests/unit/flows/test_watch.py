# SPDX-License-Identifier: Apache-2.0
"""A run is watched by what it left: until it ends, and a plan that does not hold is marked."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import fairlead as fl
from fairlead.errors import InputError, ProbeError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.watch import Observation, WatchedRun, load_run, watch
from fairlead.measure.oracle import HotLink
from fairlead.report import watch_view
from fairlead.watch.plan_watch import PlanWatcher
from fairlead.watch.stale import STALE

HOSTS = ("a", "b")


def network(bandwidth_Bps: float) -> fl.Network:
    return fl.Network(HOSTS, np.full((2, 2), 1e-5), np.full((2, 2), bandwidth_Bps))


def run_folder(path: Path, asked: str | None = None) -> RunDirectory:
    """What a run leaves before its program starts."""
    folder = RunDirectory(path / "run")
    profile = path / "kept.net.npz"
    network(1e8).save(profile)
    folder.record(
        "request", {"network": {"source": asked}, "launcher": {"mpirun": None, "arguments": []}}
    )
    folder.record("network", {"hosts": HOSTS, "slots": [1, 1], "profile": profile})
    folder.record("decision", {"method": "optimize"})
    network(1e8).save(folder.file(run_directory.NETWORK))
    network(1e8).save(folder.file(run_directory.MEASURED_AGAIN))
    fl.Traffic(np.eye(2), np.eye(2)).save(folder.file(run_directory.TRAFFIC))
    fl.Placement(HOSTS, np.array([0, 1])).save(folder.file(run_directory.PLACEMENT))
    return folder


def watched(run: WatchedRun, *rates_Bps: float, rounds: int | None = None) -> list[Observation]:
    """The observations where the network has these rates one after another, the last one on."""
    rest = list(rates_Bps)
    shown: list[Observation] = []

    def observe(_run: WatchedRun, _watcher: PlanWatcher) -> fl.Network:
        rate_Bps = rest.pop(0) if len(rest) > 1 else rest[0]
        if rate_Bps < 0:
            raise ProbeError("a host does not answer")
        return network(rate_Bps)

    watch(run, shown.append, every_s=1, num_rounds=rounds, observe=observe, sleep=lambda _s: None)
    return shown


def test_run_that_has_ended_is_observed_once(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    folder.record("end", {"exit_code": 0, "seconds": 1})

    assert len(watched(load_run(folder.path), 1e8)) == 1


@pytest.mark.parametrize(("changed", "num_observed"), [({}, 1), ({"machine": "elsewhere"}, 3)])
def test_run_that_was_killed_here_is_observed_once(
    changed: dict[str, str], num_observed: int, tmp_path: Path
) -> None:
    folder = run_folder(tmp_path).path
    with subprocess.Popen(["true"]) as ended:
        pass
    record = json.loads((folder / run_directory.RECORD).read_text())
    record["process"] |= {"pid": ended.pid} | changed
    (folder / run_directory.RECORD).write_text(json.dumps(record))

    assert len(watched(load_run(folder), 1e8, rounds=3)) == num_observed


def test_drift_marks_the_plan_and_forgets_the_kept_network(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)

    shown = watched(load_run(folder.path), 1e8, 0.4e8, rounds=4)

    assert [now.is_stale for now in shown] == [False, False, False, True]
    record = json.loads(folder.file(STALE).read_text())
    assert record["pairs"][0]["now_Bps"] == 0.4e8
    assert not (tmp_path / "kept.net.npz").exists()
    assert watch_view.line(shown[-1]).startswith("the plan is stale: a to b has 40 MB/s, was 100 ")


def test_source_that_fails_is_reported_and_asked_again(tmp_path: Path) -> None:
    run = load_run(run_folder(tmp_path).path)

    shown = watched(run, -1, 1e8, rounds=2)

    assert [watch_view.line(now) for now in shown] == [
        "not observed: a host does not answer",
        "observation 1: the plan holds; most changed: a to b has 100 MB/s, was 100 MB/s",
    ]


def test_source_that_always_fails_is_an_error(tmp_path: Path) -> None:
    run = load_run(run_folder(tmp_path).path)

    with pytest.raises(ProbeError, match="nothing was observed: a host does not answer"):
        watched(run, -1, rounds=2)


def test_run_by_an_oracle_is_watched_by_it(tmp_path: Path) -> None:
    source = "oracle:http://127.0.0.1:9?metric=stalls"

    run = load_run(run_folder(tmp_path, source).path)

    assert (run.source, run.planned) == (source, run.network)


def test_network_of_a_file_has_no_now(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "site.net.npz").path

    with pytest.raises(InputError, match=r"the file site.net.npz, which does not change; give"):
        load_run(folder)
    assert load_run(folder, "probe:").source == "probe:"


def test_run_without_a_decision_has_no_plan(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path / "run")
    folder.record("request", {})

    with pytest.raises(InputError, match="has no plan to watch: nothing is decided there yet"):
        load_run(folder.path)


def test_view_shows_pairs_hosts_and_links(tmp_path: Path) -> None:
    run = load_run(run_folder(tmp_path).path)
    now = watched(run, 0.4e8, rounds=3)[-1]
    links = [HotLink("0,0,0 X+", "1,0,0 X-", 0.83, None)]
    console = Console(width=80, record=True, file=io.StringIO())

    console.print(watch_view.view(dataclasses.replace(now, links=links)))

    shown = [line.split() for line in console.export_text().splitlines()]
    assert ["a", "to", "b", "100", "MB/s", "40", "MB/s", "-60", "%"] in shown
    assert ["a", "40", "%"] in shown
    assert ["0,0,0", "X+", "to", "1,0,0", "X-", "83", "%", "-"] in shown
    assert json.loads(json.dumps(watch_view.facts(now)))["is_stale"]


def test_another_folder_is_refused_with_what_lists_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path}: not the folder of a run; fairlead runs"):
        load_run(tmp_path)
