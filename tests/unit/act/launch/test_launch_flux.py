# SPDX-License-Identifier: Apache-2.0
"""Command lines of `flux run`, and the hosts of an instance by its resource set."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch.allocation import find_allocation
from fairlead.act.launch.flux import Flux
from fairlead.act.launch.flux_instance import parse_resource_set
from fairlead.act.launch.launch_spec import LaunchSpec, RankCpus
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.remote_command import remote_command
from fairlead.errors import InputError, LaunchError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

MPICH = ProgramMpi("mpich", (4, 0, 2), "mpich-libmpich.so.12", Path("/lib/libmpich.so.12"))
FLUX = Flux(Path("/usr/bin/flux"), (0, 88), MPICH)
CLUSTER = Cluster(("h0", "h1"), (3, 3), source="Flux's instance")
PLACED = LaunchSpec(
    ("./cg", "8"), 4, CLUSTER, Placement(CLUSTER.hosts, np.array([1, 0, 0, 0]), method="cyclic")
)

# As the program of flux-core 0.88.0 prints them.
BANNER = (
    "commands:    \t\t0.88.0\nlibflux-core:\t\t0.88.0\nlibflux-security:\tn/a\nbuild-options:\t\t"
)
RESOURCES = {
    "version": 1,
    "execution": {
        "R_lite": [
            {"rank": "0-1,3", "children": {"core": "0-7"}},
            {"rank": "2", "children": {"core": "0,2-3"}},
        ],
        "starttime": 0.0,
        "expiration": 0.0,
        "nodelist": ["h[0-2]", "big"],
    },
}


@pytest.fixture(autouse=True)
def instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUX_URI", "local:///tmp/flux-QKwLte/local-0")


def command(spec: LaunchSpec, folder: Path, flux: Flux = FLUX) -> list[str]:
    return flux.prepare_command(spec, folder)[1:]


def answering(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, code: int = 0) -> None:
    """A program `flux` on PATH with this answer."""
    (folder / "answer").write_text(text)
    program = folder / "flux"
    program.write_text(f"#!/bin/sh\ncat {folder}/answer\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_placement_is_a_line_for_each_rank_on_whole_hosts(tmp_path: Path) -> None:
    words = command(PLACED, tmp_path)

    file = words[4].removeprefix("--taskmap=hostfile:")
    assert Path(file).read_text() == "h1\nh0\nh0\nh0\n"
    assert words == [
        "run", "--nodes=2", "--requires=host:h1,h0", "--exclusive",
        f"--taskmap=hostfile:{file}", "--ntasks=4", "./cg", "8",
    ]  # fmt: skip


def test_as_many_ranks_on_each_host_take_their_cores_alone(tmp_path: Path) -> None:
    even = Placement(CLUSTER.hosts, np.array([1, 0, 0, 1]), method="cyclic")

    assert "--exclusive" not in command(dataclasses.replace(PLACED, placement=even), tmp_path)
    assert "--exclusive" not in command(dataclasses.replace(PLACED, shares_hosts=True), tmp_path)


def test_without_a_placement_flux_places_on_the_hosts(tmp_path: Path) -> None:
    own = dataclasses.replace(PLACED, placement=None, launcher_args=("--taskmap=cyclic",))
    assert command(own, tmp_path) == [
        "run", "--nodes=2", "--requires=host:h0,h1", "--ntasks=4", "--taskmap=cyclic", "./cg", "8",
    ]  # fmt: skip
    placed = dataclasses.replace(own, placement=PLACED.placement)
    assert "--taskmap=cyclic" not in command(placed, tmp_path)

    one = dataclasses.replace(own, num_ranks=1)  # Flux takes some of more hosts than tasks.
    assert "--nodes=2" not in command(one, tmp_path)


def test_variables_reach_the_program_and_not_flux(tmp_path: Path) -> None:
    spec = dataclasses.replace(PLACED, env={"LD_PRELOAD": "/ours.so", "A": "x,y 'z'"})
    assert command(spec, tmp_path)[-5:] == [
        "/usr/bin/env", "LD_PRELOAD=/ours.so", "A=x,y 'z'", "./cg", "8"
    ]  # fmt: skip

    given = dataclasses.replace(spec, launcher_args=("--env=LD_PRELOAD=/users.so",))
    assert "LD_PRELOAD=/ours.so:/users.so" in command(given, tmp_path)


def test_own_programs_leave_standard_input_to_the_first_rank(tmp_path: Path) -> None:
    assert "--input=0" in command(dataclasses.replace(PLACED, is_tool=True), tmp_path)


def test_cpus_are_one_list_for_all_hosts(tmp_path: Path) -> None:
    lists = ("0", "0", "1,4-5", "2")
    spec = dataclasses.replace(PLACED, cpus=RankCpus(lists, by_program=False))
    assert "cpu-affinity=map:0;1,4-5;2" in command(spec, tmp_path)

    other = dataclasses.replace(spec, cpus=RankCpus(("3", *lists[1:]), by_program=False))
    with pytest.raises(LaunchError, match="flux run takes one list of CPUs for all hosts"):
        command(other, tmp_path)

    asked = dataclasses.replace(spec, cpus=RankCpus(("3", *lists[1:]), by_program=True))
    assert "cpu-affinity=off" in command(asked, tmp_path)


def test_hosts_among_the_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="'requires' overrules"):
        command(dataclasses.replace(PLACED, launcher_args=("--requires=host:h0",)), tmp_path)


def test_flux_without_hostfiles_places_no_ranks(tmp_path: Path) -> None:
    older = dataclasses.replace(FLUX, flux_version=(0, 60))
    with pytest.raises(LaunchError, match=r"Flux 0\.60 takes no hostfile .* Flux 0\.61 and later"):
        command(PLACED, tmp_path, older)


def test_flux_is_recognised_inside_an_instance_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.act.launch._scheduler_launcher.find_installed_mpi", lambda: MPICH)
    found = Flux.recognise(FLUX.path, BANNER)
    assert found == FLUX
    assert Flux.recognise(FLUX.path, "slurm 22.05.8\n") is None

    monkeypatch.delenv("FLUX_URI")
    with pytest.raises(LaunchError, match="no instance of Flux"):
        Flux.recognise(FLUX.path, BANNER)


def test_hosts_of_an_instance_have_a_slot_for_each_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, json.dumps(RESOURCES))

    cluster = find_allocation(lambda: "")

    assert cluster is not None
    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == {
        "h0": 8, "h1": 8, "h2": 3, "big": 8
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", '{"execution": {"R_lite": [{"rank": "x"}]}}'])
def test_a_resource_set_that_is_not_understood_is_named(text: str) -> None:
    with pytest.raises(InputError, match="not a resource set of RFC 20"):
        parse_resource_set(text)


def test_an_instance_that_does_not_answer_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, "", code=1)

    with pytest.raises(InputError, match="flux resource R --states=up: exit code 1"):
        find_allocation(lambda: "")


def test_programs_on_other_hosts_go_past_the_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, "far0 far1\n")

    on = remote_command()

    assert on("far1", ["fairlead-router"]) == [
        "stdbuf", "--output=L", "flux", "exec", "--quiet", "--rank=1", "fairlead-router"
    ]  # fmt: skip
