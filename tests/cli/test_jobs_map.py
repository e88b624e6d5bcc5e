# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs map` from traces to launchers' files, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import fairlead as fl
from fairlead.act.launch import FORMATS
from fairlead.cli import app

SPEC = "h0:4,h1:4,h2:4"
CLUSTER = fl.Cluster.uniform(["h0", "h1", "h2"], 4)


def jobs_map(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["jobs", "map", "jobs.toml", *arguments])


def write_jobs(*names: str) -> None:
    Path("jobs.toml").write_text("".join(f'[[jobs]]\ntraffic = "{name}"\n' for name in names))


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of four ranks and an exchange of six; both took a second."""
    monkeypatch.chdir(tmp_path)
    for name, sends in (("ring", np.roll(np.eye(4), 1, axis=1)), ("all", 1 - np.eye(6))):
        fl.Traffic(sends * 1e6, sends * 10, run_time_s=1.0).save(f"{name}.traffic.npz")
    write_jobs("ring.traffic.npz", "all.traffic.npz")


def test_tables_show_each_job_and_each_host() -> None:
    said = jobs_map("--cluster", SPEC, "--method=cyclic", "--taken=h0:2")

    assert said.exit_code == 0, said.output
    lines = [" ".join(line.split()) for line in said.stdout.splitlines()]
    assert lines[0] == "Placement of 2 jobs on 3 hosts by cyclic"
    assert [line for line in lines if line.startswith(("ring 4 3 ", "all 6 2 "))]
    hosts = lines.index("host ranks")
    assert lines[hosts + 1 : hosts + 4] == [
        "h0 ring 0, 3; 2 slots taken",
        "h1 ring 1; all 0, 2, 4",
        "h2 ring 2; all 1, 3, 5",
    ]


def test_prediction_names_the_machine_that_it_is_for() -> None:
    Path("machine.toml").write_text('[machine]\nnic = "100Mbit/s"\nremote_memory_ratio = 0.5\n')

    said = jobs_map("--cluster", SPEC, "--machine=machine.toml", "--taken=h0:2")

    (line,) = [line for line in said.stdout.splitlines() if line.startswith("jobs: ")]
    machine = "nodes 3, sockets 1, nic 12.5 MB/s, remote memory +0.5, 2 cores taken"
    assert line.endswith(f"loop open; {machine}")


def test_json_holds_all_jobs_and_what_the_simulator_expects() -> None:
    said = jobs_map("--cluster", SPEC, "--taken=h1=1,3", "--json", "--scale=0.5")

    result = json.loads(said.stdout)
    assert result["method"] == "optimize"
    assert [(job["name"], job["num_ranks"]) for job in result["jobs"]] == [("ring", 4), ("all", 6)]
    assert result["taken"] == {"h1": [1, 3]}
    assert result["prediction"]["scale"] == 0.5
    assert result["prediction"]["num_messages"] == 5 * (4 + 30)
    used = [
        (host, *core)
        for job in result["jobs"]
        for host, core in zip(job["host_of_rank"], job["core_of_rank"], strict=True)
    ]
    assert len(set(used)) == 10
    assert not {(1, 0, 1), (1, 0, 3)} & set(used)


def test_optimize_takes_a_time_limit() -> None:
    said = jobs_map("--cluster", SPEC, "--method=optimize", "--time-limit=50ms")

    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[0].endswith("by optimize")


# The ranks of `cray` take the places that the launcher fills; jobs share hosts.
@pytest.mark.parametrize("format", [name for name in FORMATS if name != "cray"])
def test_every_format_has_a_file_for_each_job(format: str) -> None:
    cores = ["--cores=2"] if format == "rankfile" else []
    said = jobs_map("--cluster", SPEC, "--method=blocked", "-o", "out", "--format", format, *cores)

    assert said.exit_code == 0, said.output
    hosts = [
        FORMATS[format].parse(Path(f"out/{name}.{format}").read_text(), CLUSTER)
        for name in ("ring", "all")
    ]
    assert hosts == [["h0"] * 4, ["h1"] * 4 + ["h2"] * 2]
    record = json.loads(Path("out/jobs.json").read_text())
    assert [job["host_of_rank"] for job in record["jobs"]] == [[0] * 4, [1] * 4 + [2] * 2]


def test_a_rankfile_names_the_cores_there_are() -> None:
    arguments = ("--cluster", SPEC, "--method=blocked", "-o", "out", "--format=rankfile")

    refused = jobs_map(*arguments)

    assert refused.exit_code == 2
    assert "--cores N, or use --format seq" in " ".join(refused.output.replace("│", " ").split())
    assert not Path("out").exists()
    assert jobs_map(*arguments, "--cores=2").exit_code == 0
    assert Path("out/ring.rankfile").read_text().startswith("rank 0=h0 slot=0-1\n")


def test_bind_writes_a_core_of_its_own_for_each_rank() -> None:
    arguments = ("--cluster", SPEC, "--method=blocked", "--taken=h0:1", "-o", "out")

    assert jobs_map(*arguments, "--format=rankfile", "--bind").exit_code == 0
    lines = Path("out/ring.rankfile").read_text().splitlines()
    lines += Path("out/all.rankfile").read_text().splitlines()
    assert lines[0] == "rank 0=h0 slot=0:1"
    assert len({line.partition("=")[2] for line in lines}) == 10


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--cluster=h0:4,h1:4"], "10 ranks do not fit: 2 hosts have 8 free slots of 8"),
        (["--cluster", SPEC, "--taken=h0:3"], "10 ranks do not fit: 3 hosts have 9 free slots"),
        (["--cluster", SPEC, "--taken=h9:1"], "taken: no host 'h9'; there are h0, h1, h2"),
        (["--cluster", SPEC, "--taken=h0=4"], "host 'h0' has the slots 0 to 3, got 4"),
        (["--cluster", SPEC, "--taken=h0"], "--taken: expected HOST:N or HOST=0,4-7, got 'h0'"),
        (["--cluster", SPEC, "--machine=gone.toml"], "gone.toml: no such file"),
        (["--cluster", SPEC, "-o", "out", "--format=seq", "--bind"], "'seq' cannot bind ranks"),
    ],
)
def test_trouble_is_one_line_and_leaves_no_file(
    tmp_path: Path, arguments: list[str], problem: str
) -> None:
    before = sorted(tmp_path.iterdir())

    said = jobs_map(*arguments)

    assert isinstance(said.exception, fl.Error)
    assert problem in str(said.exception)
    assert "\n" not in str(said.exception)
    assert sorted(tmp_path.iterdir()) == before


def test_trace_without_a_run_time_is_refused() -> None:
    fl.Traffic(1 - np.eye(2), 1 - np.eye(2)).save("timeless.traffic.npz")
    write_jobs("timeless.traffic.npz")

    said = jobs_map("--cluster", SPEC)

    assert "job 'timeless': its run time in s: must be from 1e-09 to" in str(said.exception)


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ('traffic = "gone.npz"', "gone.npz: no such file"),
        ('traffic = "ring.traffic.npz"\nranks = 5', "holds the traffic of 4 ranks, but job 'ring'"),
        ('program = "./ring"\nranks = 4', "jobs.toml: jobs[0].traffic: is missing"),
    ],
)
def test_a_job_that_cannot_be_placed_is_named(job: str, problem: str) -> None:
    Path("jobs.toml").write_text(f"[[jobs]]\n{job}\n")

    said = jobs_map("--cluster", SPEC)

    assert isinstance(said.exception, fl.Error)
    assert problem in str(said.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--metric=bytes"],
        ["--method=scotch"],
        ["--method=cyclic", "--time-limit=1s"],
        ["--scale=0"],
        ["--bind"],
        ["--format=rankfile"],
        ["--cores=2"],
        ["-o", "out", "--cores=2", "--format=seq"],
        ["-o", "out", "--cores=2", "--format=rankfile", "--bind"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert jobs_map("--cluster", SPEC, *arguments).exit_code == 2
