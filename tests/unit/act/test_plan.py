# SPDX-License-Identifier: Apache-2.0
"""The plan for placing topologies: what is written, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import socket
from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import session_of

import fairlead as fl
from fairlead.act.launch.host_names import further_names
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.plan.collectives import (
    CollectivesPlan,
    read_collectives_plan,
    write_collectives_plan,
)
from fairlead.act.plan.network import read_network_plan, write_network_plan
from fairlead.act.plan.reorder import write_reorder_plan
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.run.collectives import follow_plan
from fairlead.flows.run.reordering import reorder_variables
from fairlead.model.collective_rule import CollectiveRule, DriftRule, TunedCollectives
from fairlead.narrator import Narrator


def network(*hosts: str) -> fl.Network:
    size = len(hosts)
    latency_s = np.where(np.eye(size), 0.0, 5e-5)
    return fl.Network(hosts, latency_s, np.where(np.eye(size), np.inf, 1 / 3))


def test_plan_is_the_documented_json(tmp_path: Path) -> None:
    write_reorder_plan(tmp_path / "plan", network("a.invalid", "b.invalid"), 1000)

    assert (tmp_path / "plan" / "network.json").read_text() == (
        '{"format": "fairlead-network", "version": 3, "hosts": [["a.invalid"], ["b.invalid"]], '
        '"latency_s": [[0.0, 5e-05], [5e-05, 0.0]], '
        '"bandwidth_Bps": [[null, 0.3333333333333333], [0.3333333333333333, null]], '
        '"nic_out_Bps": [], "nic_in_Bps": [], "groups": []}\n'
    )
    assert (tmp_path / "plan" / "reorder.json").read_text() == (
        '{"format": "fairlead-reorder", "version": 2, "message_bytes": 1000.0}\n'
    )


def test_plan_holds_what_hosts_share(tmp_path: Path) -> None:
    shared = dataclasses.replace(
        network("a.invalid", "b.invalid"),
        nic_out_Bps=np.array([2.0, np.nan]),
        groups=[fl.BottleneckGroup(np.array([[1, 0]]), 0.25)],
    )

    write_reorder_plan(tmp_path, shared)

    written = json.loads((tmp_path / "network.json").read_text())
    assert written["nic_out_Bps"] == [2.0, None]
    assert written["nic_in_Bps"] == []
    assert written["groups"] == [{"pairs": [[1, 0]], "capacity_Bps": 0.25}]


def test_this_machine_is_known_by_its_own_name(tmp_path: Path) -> None:
    write_reorder_plan(tmp_path, network("localhost", "b.invalid"))

    hosts = json.loads((tmp_path / "network.json").read_text())["hosts"]
    assert hosts[0][:2] == ["localhost", socket.gethostname()]
    assert hosts[1] == ["b.invalid"]


def test_addresses_count_as_names_unless_every_machine_has_them() -> None:
    assert further_names("192.0.2.7") == []
    assert "127.0.0.1" not in further_names("localhost")


@pytest.mark.parametrize("size", [0, -1, float("nan"), float("inf")])
def test_impossible_message_is_refused(size: float, tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="plan: message_bytes: expected a finite number > 0"):
        write_reorder_plan(tmp_path, network("a.invalid"), size)


def test_unmeasured_pair_is_refused(tmp_path: Path) -> None:
    gap = network("a.invalid", "b.invalid")
    gap.latency_s[1, 0] = np.nan

    with pytest.raises(
        fl.TopologyError, match=r"network: b\.invalid -> a\.invalid was not measured"
    ):
        write_reorder_plan(tmp_path, gap)
    assert not any(tmp_path.iterdir())


def test_name_with_a_space_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="plan: host name 'two words' is not usable"):
        write_reorder_plan(tmp_path, network("two words"))


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(fl.InputError, match="file/plan: cannot be made"):
        write_reorder_plan(tmp_path / "file" / "plan", network("a.invalid"))


def session(folder: Path, narrator: Narrator | None = None) -> Session:
    traffic = fl.Traffic(bytes=np.array([[0, 600], [0, 0]]), messages=np.array([[0, 2], [0, 0]]))
    return session_of(
        folder / "run",
        TracedProgram(traffic),
        network=network("a.invalid"),
        slots=2,
        narrator=narrator,
    )


def test_run_hands_the_plan_and_the_library_to_every_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = MpiBuild(Path("/built"), "openmpi-4", "openmpi", (4, 1, 4), Path("/mpicxx"))
    monkeypatch.setenv("LD_PRELOAD", "/other.so")

    env = reorder_variables(session(tmp_path), lambda _launcher: build)

    assert env == {
        "LD_PRELOAD": "/built/lib/libfairlead_intercept.so:/other.so",
        "FAIRLEAD_PLAN": str(tmp_path / "run" / "plan"),
        "FAIRLEAD_RECORD": str(tmp_path / "run"),
    }
    reorder = json.loads((tmp_path / "run" / "plan" / "reorder.json").read_text())
    assert reorder["message_bytes"] == 300


def test_run_without_a_library_says_so_and_goes_on(tmp_path: Path) -> None:
    def find(_launcher: object) -> MpiBuild:
        raise fl.LaunchError("Fairlead is not built for this MPI")

    narrator = RecordingNarrator()

    assert reorder_variables(session(tmp_path, narrator), find) == {}
    assert narrator.lines == [
        "topologies keep the order of their ranks: Fairlead is not built for this MPI"
    ]


RULES = TunedCollectives(
    4,
    (
        CollectiveRule("bcast", "forest", 1024, 4096, frozenset({"b.invalid", "a.invalid"}), 3),
        CollectiveRule("allgather", "ring", 1, None),
    ),
    is_reproducible=True,
    drift=DriftRule(0.3, "predicted", 0.01),
)


def test_a_rule_that_was_not_timed_keeps_what_it_has_to_promise(tmp_path: Path) -> None:
    untimed = CollectiveRule("bcast", "forest", 1, None, least_saved_ratio=0.5)
    rules = TunedCollectives(4, (untimed,), drift=DriftRule())

    write_collectives_plan(tmp_path, network("a.invalid", "b.invalid"), rules)

    written = json.loads((tmp_path / "collectives.json").read_text())
    assert written["rules"][0]["least_saved_ratio"] == 0.5
    assert read_collectives_plan(tmp_path).rules == rules


def test_collectives_are_the_documented_json(tmp_path: Path) -> None:
    write_collectives_plan(tmp_path, network("a.invalid", "b.invalid"), RULES)

    assert json.loads((tmp_path / "collectives.json").read_text()) == {
        "format": "fairlead-collectives",
        "version": 2,
        "num_ranks": 4,
        "is_reproducible": True,
        "max_drift_ratio": 0.3,
        "drift_from": "predicted",
        "max_watching_ratio": 0.01,
        "rules": [
            {
                "operation": "bcast",
                "min_bytes": 1024,
                "max_bytes": 4096,
                "hosts": [0, 1],
                "num_ranks": 3,
                "method": "forest",
            },
            {
                "operation": "allgather",
                "min_bytes": 1,
                "max_bytes": None,
                "hosts": None,
                "num_ranks": None,
                "method": "ring",
            },
        ],
    }
    assert (tmp_path / "collectives-network.json").is_file()


def test_collectives_are_read_back_by_the_names_of_hosts(tmp_path: Path) -> None:
    write_collectives_plan(tmp_path, network("b.invalid", "c.invalid", "a.invalid"), RULES)

    assert read_collectives_plan(tmp_path).rules == RULES


def uneven() -> fl.Network:
    """With all that schedules are planned by."""
    return dataclasses.replace(
        network("b.invalid", "a.invalid"),
        latency_s=np.array([[1e-7, 5e-5], [1 / 3e4, 0.0]]),
        bandwidth_Bps=np.array([[1e10, 1e9 / 7], [1e8, np.inf]]),
        nic_out_Bps=np.array([2.0, np.nan]),
        groups=[fl.BottleneckGroup(np.array([[1, 0]]), 0.25)],
    )


def test_network_of_collectives_is_read_back_whole(tmp_path: Path) -> None:
    given = uneven()
    write_collectives_plan(tmp_path, given, RULES)

    read = read_collectives_plan(tmp_path).network

    assert read.hosts == given.hosts
    for name in ("latency_s", "bandwidth_Bps", "nic_out_Bps"):
        np.testing.assert_array_equal(getattr(read, name), getattr(given, name))
    assert read.nic_in_Bps is None
    (group,) = read.groups
    assert (group.pairs.tolist(), group.capacity_Bps) == ([[1, 0]], 0.25)


def test_plan_with_one_network_for_all_features_is_read(tmp_path: Path) -> None:
    write_collectives_plan(tmp_path, network("a.invalid", "b.invalid"), RULES)
    (tmp_path / "collectives-network.json").rename(tmp_path / "network.json")

    assert read_collectives_plan(tmp_path).rules == RULES


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"latency_s": [[0.0, 1.0], [1.0]]}, "inhomogeneous"),
        ({"latency_s": [[0.0]]}, "latency_s: expected shape"),
        ({"hosts": [["a"], ["a"]]}, "a host is named twice"),
        ({"hosts": [["a"], []]}, r"hosts\[1\]"),
        ({"groups": [{"pairs": [[0, 2]], "capacity_Bps": 1.0}]}, "a pair names host 2"),
    ],
)
def test_damaged_network_of_a_plan_is_named(
    change: dict[str, object], problem: str, tmp_path: Path
) -> None:
    write_network_plan(tmp_path, network("a.invalid", "b.invalid"))
    file = tmp_path / "network.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    with pytest.raises(fl.InputError, match=problem) as raised:
        read_network_plan(file)
    assert str(raised.value).startswith(str(file))


def test_rule_for_a_host_that_was_not_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fl.TopologyError, match=r"b\.invalid"):
        write_collectives_plan(tmp_path, network("a.invalid"), RULES)
    assert not any(tmp_path.iterdir())


def test_rule_with_a_host_that_is_not_in_the_plan_is_refused(tmp_path: Path) -> None:
    write_collectives_plan(tmp_path, network("a.invalid", "b.invalid"), RULES)
    write_network_plan(tmp_path, network("a.invalid"), "collectives-network.json")

    with pytest.raises(fl.InputError, match="has 1"):
        read_collectives_plan(tmp_path)


def test_program_follows_the_network_on_which_its_collectives_were_tuned(tmp_path: Path) -> None:
    build = MpiBuild(tmp_path, "openmpi-4", "openmpi", (4, 1, 4), Path("mpicxx"))
    run = dataclasses.replace(session(tmp_path / "run"), network=network("a.invalid", "b.invalid"))
    write_collectives_plan(tmp_path / "tuned", uneven(), RULES)
    plan = read_collectives_plan(tmp_path / "tuned")

    reorder_variables(run, lambda _launcher: build)
    env = follow_plan(run, plan, lambda _launcher: build)

    written = Path(env["FAIRLEAD_PLAN"])
    for file in ("collectives.json", "collectives-network.json"):
        assert (written / file).read_text() == (tmp_path / "tuned" / file).read_text()
    # Topologies are placed by what was measured now.
    assert read_network_plan(written / "network.json").hosts == ("a.invalid", "b.invalid")


def test_plan_without_rules_is_not_written(tmp_path: Path) -> None:
    run = session(tmp_path)
    nothing = CollectivesPlan(run.network, TunedCollectives(4, ()))

    assert follow_plan(run, nothing) == {}
    assert not run.directory.file("plan").exists()
