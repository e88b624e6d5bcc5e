# SPDX-License-Identifier: Apache-2.0
"""`fairlead map` from files to files, and what it says when it cannot."""

from __future__ import annotations

import dataclasses
import json
import socket
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from synthetic_hosts import synthetic_inside

import fairlead as fl
from fairlead import cli
from fairlead.act.launch import FORMATS

SPEC = "h0:2,h1:2,h2:2,h3:2"
CLUSTER = fl.Cluster.uniform(["h0", "h1", "h2", "h3"], 2)


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two racks in hidden order; each rank talks to the one four further on."""
    monkeypatch.chdir(tmp_path)
    rack = np.array([0, 1, 1, 0])
    same = rack[:, None] == rack
    bandwidth_Bps = np.where(same, 125e6, 25e6)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    fl.Network(CLUSTER.hosts, np.where(np.eye(4), 0, 1e-4), bandwidth_Bps).save(
        tmp_path / "cloud.net.npz"
    )
    partner = np.roll(np.eye(8), 4, axis=1)
    fl.Traffic(partner * 1e6, partner).save(tmp_path / "app.traffic.npz")
    return [f"--network={tmp_path}/cloud.net.npz", f"--traffic={tmp_path}/app.traffic.npz"]


@pytest.fixture
def fairlead_map(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command in this process."""

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["fairlead", "map", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return Said(int(left.value.code or 0), *capsys.readouterr())

    return run


def test_table_shows_the_chosen_placement_next_to_the_launchers(files, fairlead_map) -> None:
    said = fairlead_map(*files, "--cluster", SPEC)

    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0].split() == ["optimize", "launcher"]
    assert lines[1].split() == ["bytes", "between", "hosts", "0", "B", "7.63", "MiB"]
    placed = [line.strip().split(maxsplit=2) for line in lines[9:]]
    assert [host for host, _, _ in placed] == ["h0", "h1", "h2", "h3"]
    assert sorted(ranks for _, _, ranks in placed) == ["0, 4", "1, 5", "2, 6", "3, 7"]


def test_json_holds_placement_and_costs(files, fairlead_map) -> None:
    said = fairlead_map(*files, "--cluster", SPEC, "--method", "scotch-hosts", "--json")

    result = json.loads(said.out)
    assert result["method"] == "scotch-hosts"
    placement = fl.Placement(result["hosts"], np.array(result["host_of_rank"]))
    network = fl.Network.load(files[0].partition("=")[2])
    traffic = fl.Traffic.load(files[1].partition("=")[2])
    assert result["cost"] == fl.evaluate(placement, traffic, network).as_dict()
    assert result["cost"]["comm_time_s"] < result["launcher_cost"]["comm_time_s"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_the_same_placement(files, fairlead_map, tmp_path, format) -> None:
    output = tmp_path / "ranks"
    arguments = (*files, "--cluster", SPEC, "--method", "cyclic")

    cores = ["--cores=2"] if format == "rankfile" else []
    said = fairlead_map(*arguments, "-o", str(output), "--format", format, *cores)

    assert said.code == 0, said.err
    expected = ["h0", "h1", "h2", "h3"] * 2
    assert FORMATS[format].parse(output.read_text(), CLUSTER) == expected
    assert said.out.splitlines()[-1] == FORMATS[format].usage(str(output), 8)


def test_a_rankfile_names_the_cores_there_are(files, fairlead_map, tmp_path) -> None:
    arguments = (*files, "--cluster", "h0:4,h2:4", "-o", "ranks", "--format=rankfile")

    refused = fairlead_map(*arguments)
    assert refused.code == 2
    assert "--cores N, or use --format seq" in " ".join(refused.err.split())
    assert not (tmp_path / "ranks").exists()

    accepted = fairlead_map(*arguments, "--cores=2")
    assert (accepted.code, accepted.err) == (0, "")
    assert (tmp_path / "ranks").read_text().splitlines()[0].endswith("slot=0-1")
    assert fairlead_map(*arguments, "--cores=2", "--format=rankfile5").code == 2


def test_the_cluster_may_be_a_hostfile(files, fairlead_map, tmp_path) -> None:
    hostfile = tmp_path / "hosts"
    hostfile.write_text("h3 slots=4\nh0 slots=4\n")

    said = fairlead_map(*files, "--cluster", str(hostfile), "--json")

    assert json.loads(said.out)["hosts"] == ["h3", "h0"]


@pytest.fixture
def placed(files, fairlead_map):
    """The host of each rank on the two racks."""

    def run(*arguments: str) -> list[int]:
        said = fairlead_map(*files, "--cluster", SPEC, "--json", *arguments)
        assert said.code == 0, said.err
        return json.loads(said.out)["host_of_rank"]

    return run


def test_the_seed_reaches_the_method(placed) -> None:
    first, second = (placed("--method=random", f"--seed={seed}") for seed in (1, 2))
    assert first != second


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method=scotch"],
        ["--method=scotch-groups", "--objective=bottleneck"],
        ["--method=geometric"],
        ["--method=optimize", "--objective=sum"],
    ],
)
def test_the_metric_says_whether_bytes_or_messages_bring_ranks_together(
    placed, tmp_path, arguments
) -> None:
    # Most bytes go to the rank four further on, most messages to the other one of a pair.
    further, other = np.roll(np.eye(8), 4, axis=1), np.eye(8)[np.arange(8) ^ 1]
    fl.Traffic(further * 1e6 + other * 1e4, further * 10 + other * 1e4).save(
        tmp_path / "app.traffic.npz"
    )

    by_bytes = placed(*arguments)
    by_messages = placed(*arguments, "--metric=messages")

    assert by_bytes[:4] == by_bytes[4:]
    assert by_messages[0::2] == by_messages[1::2]
    assert placed(*arguments, "--metric=bytes") == by_bytes


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--objective=bottleneck"],
        ["--method=launcher"],
        ["--method=cyclic"],
    ],
)
def test_a_metric_that_would_have_no_effect_is_refused_with_the_remedy(
    files, fairlead_map, arguments
) -> None:
    said = fairlead_map(*files, "--cluster", SPEC, "--metric=messages", *arguments)

    assert (said.code, said.out) == (2, "")
    remedy = "choose a method scotch..., geometric, or optimize with --objective sum"
    assert f"--metric: has no effect here: leave it out, or {remedy}" in " ".join(said.err.split())


@pytest.mark.parametrize("method", ["launcher", "blocked", "cyclic", "random"])
def test_an_objective_that_would_have_no_effect_is_refused_with_the_remedy(
    files, fairlead_map, method
) -> None:
    said = fairlead_map(*files, "--cluster", SPEC, "--objective=sum", f"--method={method}")

    assert (said.code, said.out) == (2, "")
    remedy = "choose optimize, scotch-best, scotch-groups or scotch-hosts"
    assert f"--objective: has no effect here: leave it out, or {remedy}" in " ".join(
        said.err.split()
    )


def test_geometric_cuts_a_grid_of_ranks_by_coordinates_without_a_metric(
    files, fairlead_map
) -> None:
    path = files[0].partition("=")[2]
    known = fl.Network.load(path)
    at = np.arange(4.0)[:, None]
    fl.Network(known.hosts, known.latency_s, known.bandwidth_Bps, coordinates=at).save(path)
    arguments = (*files, "--cluster", SPEC, "--method=geometric", "--rank-grid=4x2", "--json")

    placed = json.loads(fairlead_map(*arguments).out)["host_of_rank"]
    refused = fairlead_map(*arguments, "--metric=bytes")

    assert placed == [0, 0, 1, 1, 2, 2, 3, 3]
    assert refused.code == 2
    assert "--metric: has no effect: ranks and hosts have coordinates" in refused.err


def test_optimize_keeps_the_ranks_given_by_keep(files, fairlead_map, placed) -> None:
    free = placed()
    assert placed("--fix=0=h1", "--fix=4=h2")[:5:4] == [1, 2]
    assert fairlead_map(*files, "--cluster", SPEC, "--method=cyclic", "-o", "now.json").code == 0
    cyclic = placed("--start=now.json", "--max-moves=0", "--time-limit=100ms")
    assert cyclic == [0, 1, 2, 3, 0, 1, 2, 3] != free


def without_measurement(files: list[str], src: int, dst: int) -> None:
    path = files[0].partition("=")[2]
    network = fl.Network.load(path)
    network.bandwidth_Bps[src, dst] = np.nan
    network.save(path)


def test_a_placement_across_an_unmeasured_pair_writes_no_file(
    files, fairlead_map, tmp_path
) -> None:
    partner = np.roll(np.eye(8), 1, axis=1)
    fl.Traffic(partner * 1e6, partner).save(tmp_path / "app.traffic.npz")
    without_measurement(files, 0, 1)

    said = fairlead_map(*files, "--cluster", SPEC, "--method=cyclic", "-o", "p.json")

    assert (said.code, said.out) == (1, "")
    assert "from 'h0' to 'h1', but that pair was not measured" in said.err
    assert not (tmp_path / "p.json").exists()


def test_a_launcher_cost_that_cannot_be_had_is_a_dash(files, fairlead_map, tmp_path) -> None:
    without_measurement(files, 0, 2)
    arguments = (*files, "--cluster", SPEC, "--method=cyclic", "-o", "p.json")

    said = fairlead_map(*arguments)

    assert said.code == 0, said.err
    assert said.out.splitlines()[1].split() == ["bytes", "between", "hosts", "0", "B", "-"]
    assert (tmp_path / "p.json").exists()
    assert json.loads(fairlead_map(*arguments, "--json").out)["launcher_cost"] is None


@pytest.mark.mpi
def test_the_network_may_be_measured_now(files, fairlead_map) -> None:
    here = f"{socket.gethostname()}:8"
    arguments = ("--network=probe:", "--mpirun=mpirun.mpich", files[1])

    said = fairlead_map(*arguments, "--cluster", here, "--json")

    assert said.code == 0, said.err
    assert json.loads(said.out)["cost"]["intra_bytes"] == 8e6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster=h0:4"], "8 ranks do not fit: 1 host has 4 slots"),
        (["--cluster=h0:4,h1:2"], "add hosts or slots to --cluster, or start fewer ranks"),
        (["--cluster=h0:4,h9:4"], "cloud.net.npz, which has h0, h1"),
        (["--cluster=nowhere"], "nowhere: hostfile cannot be read"),
        (["--cluster=h0:none,h1:4"], "--cluster:1: slots must be a whole number"),
        (["--cluster", SPEC, "--fix=8=h0"], "there is no rank 8"),
        (["--cluster", SPEC, "--max-moves=1"], "max_moves: counts from a placement"),
        (["--cluster", SPEC, "--start=gone.json"], "gone.json: no such file"),
        (["--cluster", SPEC, "--network=missing.net.npz"], "missing.net.npz: no such file"),
    ],
)
def test_trouble_is_one_line_and_leaves_no_file(
    files, fairlead_map, tmp_path, arguments, said
) -> None:
    before = sorted(tmp_path.iterdir())

    result = fairlead_map(*files, *arguments)

    assert result.code == 1
    assert said in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method=best"], "--method': unknown name 'best'; there are launcher, blocked"),
        (["--metric=hops"], "'bytes', 'messages'"),
        (["--objective=worst"], "'sum', 'bottleneck', 'bottleneck-and-mean'"),
        (["-o", "out", "--format=pdf"], "--format': unknown name 'pdf'; there are rankfile"),
        (["--format=seq"], "--format: needs --output"),
        (["--cores=2"], "--cores: needs --output"),
        (["--mpirun=mpirun"], "--mpirun: only --network probe: starts a launcher"),
        (["--time-limit=5"], "--time-limit': duration '5': expected a number and one of"),
        (["--fix=seven"], "--fix: expected RANK=HOST, got 'seven'"),
        (["--fix=0=h0", "--fix=0=h1"], "--fix: rank 0 is given twice"),
        (["--method=scotch", "--fix=0=h0"], "--fix: only the method optimize has a use for it"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_why(
    files, fairlead_map, tmp_path, arguments, said
) -> None:
    result = fairlead_map(*files, "--cluster", SPEC, *arguments)

    assert (result.code, result.out) == (2, "")
    assert said in " ".join(result.err.split())
    assert not (tmp_path / "out").exists()


def test_a_cluster_is_needed_and_help_has_an_example(files, fairlead_map) -> None:
    assert fairlead_map(*files).code == 2
    for wrong in (
        ["--time-limit=0s"],
        ["--time-limit=soon"],
        ["--time-limit=1s", "--method=scotch"],
    ):
        assert fairlead_map(*files, "--cluster", SPEC, *wrong).code == 2
    said = fairlead_map("--help")
    assert said.code == 0
    assert "Example: fairlead map" in said.out


RACKS = """
beyond = 4
[[levels]]
cost = 1
groups = { near = ["h0", "h3"], far = ["h[1-2]"] }
"""


def test_a_declared_tree_is_placed_on_by_the_sum(files, fairlead_map, tmp_path: Path) -> None:
    (tmp_path / "racks.toml").write_text(RACKS)

    said = fairlead_map("--network", "racks.toml", files[1], "--cluster", SPEC, "--json")

    result = json.loads(said.out)
    assert result["cost"]["weighted_sum"]["bytes"] == 0
    # The launcher's ranks 0 and 1 are on h0, their partners 4 and 5 on h2 in the other rack.
    assert result["launcher_cost"]["weighted_sum"]["bytes"] == 8 * 1e6 * 4
    said = fairlead_map("--network", "racks.toml", files[1], "--cluster", SPEC)
    assert [line.split() for line in said.out.splitlines()[3:5]] == [
        ["bytes", "times", "cost", "0", "3.2e+07"],
        ["messages", "times", "cost", "0", "32"],
    ]


def test_on_a_declared_tree_optimize_goes_by_the_metric(placed, tmp_path: Path) -> None:
    (tmp_path / "racks.toml").write_text(RACKS)
    other = np.eye(8)[np.arange(8) ^ 1]
    further = np.roll(np.eye(8), 4, axis=1)
    fl.Traffic(further * 1e6, other).save(tmp_path / "app.traffic.npz")

    by_messages = placed("--network=racks.toml", "--metric=messages")

    assert by_messages[0::2] == by_messages[1::2]


def test_a_declared_tree_has_no_bottleneck(files, fairlead_map, tmp_path: Path) -> None:
    (tmp_path / "racks.toml").write_text(RACKS)

    said = fairlead_map(
        "--network=racks.toml", files[1], "--cluster", SPEC, "--objective", "bottleneck"
    )

    assert said.code == 1
    assert "racks.toml: a host tree has costs but no rates" in said.err


@pytest.fixture
def files_with_inside(files) -> list[str]:
    """The same with hosts of two sockets, each with a core."""
    network = fl.Network.load("cloud.net.npz")
    inside = synthetic_inside("package:2 core:1 pu:1")
    insides = dict.fromkeys(network.hosts, inside)
    dataclasses.replace(network, insides=insides).save("cloud.net.npz")
    return files


@pytest.mark.parametrize(
    ("format", "of_first_host", "usage"),
    [
        ("rankfile", [" slot=0", " slot=1"], "mpirun"),
        ("rankfile5", [" slot=0", " slot=1"], "mpirun"),
        ("seq", [" 0", " 1"], "mpirun"),
        ("mpich", [], "MPICH binds only neighbouring ranks"),
        ("mpich", [], "-genv I_MPI_PIN_PROCESSOR_LIST 0,1 -n 8"),
        ("slurm", [], "-m arbitrary --cpu-bind=map_cpu:0,1 -n 8"),
    ],
)
def test_files_name_the_cpus_of_ranks_where_the_inside_of_hosts_is_known(
    format: str, of_first_host: list[str], usage: str, files_with_inside, fairlead_map
) -> None:
    said = fairlead_map(
        *files_with_inside, "--cluster", SPEC, "-o", "ranks.txt", "--format", format
    )

    assert said.code == 0, said.err
    assert usage in said.out
    lines = [line for line in Path("ranks.txt").read_text().splitlines() if "h0" in line]
    endings = sorted(line.partition("h0")[2] for line in lines)
    assert not of_first_host or endings == of_first_host


@pytest.mark.parametrize("option", ["--no-inside", "--method=blocked", "--format=slurm"])
def test_without_the_inside_files_are_as_ever(option: str, files_with_inside, fairlead_map) -> None:
    if option == "--format=slurm":  # Nor on hosts of which nothing is known.
        network = fl.Network.load("cloud.net.npz")
        network.insides["h1"].__dict__.update(xml="", problem="no hwloc here")
        network.save("cloud.net.npz")
    arguments = [option] if "format" in option else ["--format=seq", option]

    said = fairlead_map(*files_with_inside, "--cluster", SPEC, "-o", "ranks.txt", *arguments)

    assert said.code == 0, said.err
    assert "user:" not in said.out
    assert "cpu-bind" not in said.out
    assert all(len(line.split()) == 1 for line in Path("ranks.txt").read_text().splitlines())
    if option == "--format=slurm":
        assert "slurm: ranks get no CPUs: the inside of h" in said.err
        assert "no hwloc here" in said.err
