# SPDX-License-Identifier: Apache-2.0
"""Real launchers put every rank on its host, hand on its environment and its exit code."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from launchers import ALL_LAUNCHERS, PROGRAMS, LocalMpi
from tracing import compiled

from fairlead.act.launch import (
    FORMATS,
    Finished,
    Launcher,
    LaunchSpec,
    detect,
    run,
    unreachable_hosts,
    write_placement,
)
from fairlead.errors import LaunchError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

pytestmark = pytest.mark.mpi

CLUSTER = Cluster(("alpha", "beta", "gamma"), (2, 2, 2))
PLACEMENT = Placement(CLUSTER.hosts, np.array([2, 0, 1, 0, 2]))


@pytest.fixture(scope="module", params=ALL_LAUNCHERS)
def mpi(request: pytest.FixtureRequest) -> LocalMpi:
    return ALL_LAUNCHERS[request.param]


@pytest.fixture
def launcher(mpi: LocalMpi, invented_hosts: None) -> Launcher:
    return detect(mpi.mpirun)


WHERE = str(PROGRAMS / "where.sh")


@pytest.fixture(scope="module")
def where_mpi(mpi: LocalMpi) -> str:
    return str(compiled([mpi.mpicc], [PROGRAMS / "where.c"]))


def start(command: list[str]) -> Finished:
    return run(command, capture=True)


def ranks_in(finished: Finished) -> list[tuple[str, str]]:
    """Host and $WHERE_VALUE of each rank."""
    assert finished.returncode == 0, finished.stderr
    lines = re.findall(r"rank (\d+) (\S+) ([0-9a-f]*)\.", finished.stdout)
    return [
        (host, bytes.fromhex(value).decode())
        for _, host, value in sorted(lines, key=lambda line: int(line[0]))
    ]


def hosts_in(finished: Finished) -> list[str]:
    return [host for host, _ in ranks_in(finished)]


def test_launcher_is_recognised(launcher: Launcher, mpi: LocalMpi) -> None:
    assert (launcher.family, launcher.version[0]) == (mpi.family, mpi.major)
    assert len(launcher.version) == 3


def test_placement_is_followed_rank_by_rank(launcher: Launcher, tmp_path: Path) -> None:
    spec = LaunchSpec((WHERE,), 5, CLUSTER, PLACEMENT)

    finished = start(launcher.prepare_command(spec, tmp_path))

    assert hosts_in(finished) == PLACEMENT.host_names()


def test_without_placement_the_launcher_fills_host_by_host(
    launcher: Launcher, tmp_path: Path
) -> None:
    finished = start(launcher.prepare_command(LaunchSpec((WHERE,), 5, CLUSTER), tmp_path))

    assert hosts_in(finished) == ["alpha", "alpha", "beta", "beta", "gamma"]


def test_more_ranks_than_cores_on_a_host_are_started_where_they_are_placed(
    launcher: Launcher, tmp_path: Path
) -> None:
    # Open MPI 5 starts nothing here and ends with 0, unless it may oversubscribe.
    cluster = Cluster(("alpha", "beta"), (64, 64))
    placement = Placement(cluster.hosts, np.array([1, 0, 0, 0, 1]))

    finished = start(
        launcher.prepare_command(LaunchSpec((WHERE,), 5, cluster, placement), tmp_path)
    )

    assert hosts_in(finished) == placement.host_names()


@pytest.mark.parametrize("own_name", ["localhost", "127.0.0.1"])
def test_this_machine_may_be_called_localhost(
    launcher: Launcher, where_mpi: str, own_name: str, tmp_path: Path
) -> None:
    cluster = Cluster((own_name,), (2,))
    placement = Placement(cluster.hosts, np.array([0, 0]))

    finished = start(
        launcher.prepare_command(LaunchSpec((where_mpi,), 2, cluster, placement), tmp_path)
    )

    assert hosts_in(finished) == ["here", "here"]


@pytest.mark.parametrize(
    "value",
    [
        """it's "quoted"; with,commas=equals:colons $HOME `id` \\ * ~ #\nlines ä  """,
        "",
    ],
)
def test_variable_arrives_unchanged_at_every_rank(
    launcher: Launcher, value: str, tmp_path: Path
) -> None:
    cluster = Cluster(("alpha", "localhost"), (1, 1))
    placement = Placement(cluster.hosts, np.array([1, 0]))
    spec = LaunchSpec((WHERE,), 2, cluster, placement, {"WHERE_VALUE": value})

    finished = start(launcher.prepare_command(spec, tmp_path))

    assert ranks_in(finished) == [("here", value), ("alpha", value)]


def test_exit_code_of_a_rank_is_passed_back(
    launcher: Launcher, where_mpi: str, tmp_path: Path
) -> None:
    finished = start(launcher.prepare_command(LaunchSpec((where_mpi, "7"), 2), tmp_path))

    assert finished.returncode == 7


def test_commands_made_in_advance_do_not_share_a_file(launcher: Launcher, tmp_path: Path) -> None:
    other = Placement(CLUSTER.hosts, np.array([0, 1, 2, 1, 0]))
    first = launcher.prepare_command(LaunchSpec((WHERE,), 5, CLUSTER, PLACEMENT), tmp_path)
    launcher.prepare_command(LaunchSpec((WHERE,), 5, CLUSTER, other), tmp_path)

    assert hosts_in(start(first)) == PLACEMENT.host_names()


def test_placement_that_does_not_fit_is_refused_before_the_start(
    launcher: Launcher, tmp_path: Path
) -> None:
    crowded = Placement(CLUSTER.hosts, np.array([0, 0, 0]))

    with pytest.raises(TopologyError, match="'alpha' holds 3 ranks, but has 2 slots"):
        launcher.prepare_command(LaunchSpec(("true",), 3, CLUSTER, crowded), tmp_path)
    with pytest.raises(TopologyError, match="made for 3 ranks, the job has 4"):
        launcher.prepare_command(LaunchSpec(("true",), 4, CLUSTER, crowded), tmp_path)
    assert not any(tmp_path.iterdir())


def test_more_ranks_than_slots_without_a_placement_are_the_launchers_to_judge(
    launcher: Launcher, tmp_path: Path
) -> None:
    command = launcher.prepare_command(LaunchSpec(("true",), 7, CLUSTER), tmp_path)

    assert command[command.index("-n") + 1] == "7"


@pytest.mark.parametrize(
    ("mpi_name", "format"),
    [
        ("openmpi-4", "rankfile"),
        ("openmpi-4", "seq"),
        ("openmpi-5", "rankfile5"),
        ("openmpi-5", "seq"),
        ("mpich-4", "mpich"),
        ("intel-mpi", "mpich"),
    ],
)
def test_written_file_places_ranks_as_its_usage_says(
    mpi_name: str, format: str, tmp_path: Path, invented_hosts: None
) -> None:
    file, hostfile = tmp_path / "placement", tmp_path / "hosts"
    hostfile.write_text("alpha slots=2\nbeta slots=2\ngamma slots=2\n")
    write_placement(PLACEMENT, CLUSTER, format, file)

    usage = FORMATS[format].usage(str(file), 5)
    if format == "seq":
        usage = usage.split("; ")[mpi_name == "openmpi-5"].split(": ", 1)[1]
    words = {"HOSTFILE": str(hostfile), "PROGRAM": WHERE}
    arguments = [words.get(word, word) for word in usage.split()[1:]]

    assert hosts_in(start([ALL_LAUNCHERS[mpi_name].mpirun, *arguments])) == PLACEMENT.host_names()


def test_hosts_that_cannot_be_reached_are_named_with_the_reason(launcher: Launcher) -> None:
    hosts = ["localhost", "alpha", "down1", "mute", "asleep", "beta"]

    reasons = unreachable_hosts(launcher, hosts, timeout_s=10)

    assert reasons["down1"] == "ssh: connect to host down1 port 22: No route to host"
    assert reasons["mute"].endswith("local-agent ended with exit code 3")
    assert reasons["asleep"] == "no answer within 10 s"
    assert list(reasons) == ["down1", "mute", "asleep"]


def test_root_gets_the_remedy_that_open_mpi_requires(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    spec = LaunchSpec(("true",), 1)

    if launcher.family == "openmpi":
        with pytest.raises(LaunchError, match="OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"):
            launcher.prepare_command(spec, tmp_path)
        monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert launcher.prepare_command(spec, tmp_path)[0] == str(launcher.path)
