# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` on one host is the launcher, and says why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.watch.concurrent_runs import announce_run

pytestmark = [pytest.mark.mpi]


def environment(folder: Path) -> dict[str, str]:
    homes = {name: str(folder / "home") for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    return {**os.environ, **homes, "FAIRLEAD_MPIRUN": "mpirun.mpich"}


def fairlead(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairlead", *arguments], cwd=folder, input=stdin,
        env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_program_runs_once_with_input_output_and_exit_code_its_own(tmp_path: Path) -> None:
    program = ("sh", "-c", 'sed "s/^/read /"; echo one >> ran; exit 7')
    done = fairlead(tmp_path, "run", "-np", "1", "-H", "localhost", *program, stdin="a\n")

    assert done.returncode == 7
    assert "read a\n" in done.stdout
    assert (tmp_path / "ran").read_text() == "one\n"
    assert "fairlead: there is one host, localhost: nothing to place\n" in done.stderr
    (run,) = json.loads(fairlead(tmp_path, "runs", "--json").stdout)
    assert (run["placement"], run["exit_code"], run["hosts"]) == ("launcher", 7, ["localhost"])
    assert f"fairlead: the record of this run: {run['folder']}\n" in done.stderr


def test_a_run_on_one_host_and_others_there_know_of_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    running = tmp_path / "home" / "fairlead" / "running"
    with announce_run(["localhost"], "other") as other:
        program = ("sh", "-c", f"ls {running}/*.json | wc -l")
        done = fairlead(tmp_path, "run", "-n", "1", "-H", "localhost", *program)
        assert done.stdout == "2\n"
        assert other.has_met()


def test_below_nohup_a_run_outlives_its_terminal(tmp_path: Path) -> None:
    # It ends after its input has: MPICH's launcher fails now and then when it comes to pass on the
    # end of an input that nobody reads any more.
    program = ("sh", "-c", "echo up; cat")
    command = ["nohup", sys.executable, "-m", "fairlead"]
    run = subprocess.Popen(
        [*command, "run", "-n", "1", "-H", "localhost", *program], cwd=tmp_path,
        env=environment(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with run:
        assert run.stdin is not None and run.stdout is not None
        assert run.stdout.readline() == "up\n"
        run.send_signal(signal.SIGHUP)
        run.stdin.write("done\n")
        run.stdin.close()
        assert run.stdout.read() == "done\n"
    assert run.returncode == 0


def test_a_dry_run_starts_nothing_and_is_listed_as_one(tmp_path: Path) -> None:
    done = fairlead(tmp_path, "run", "-n", "1", "-H", "localhost", "--dry-run", "touch", "ran")

    assert (done.returncode, (tmp_path / "ran").exists()) == (0, False)
    (run,) = json.loads(fairlead(tmp_path, "runs", "--json").stdout)
    assert (run["is_dry"], run["exit_code"]) == (True, None)


def test_relays_on_one_host_are_declined_with_the_reason(tmp_path: Path) -> None:
    done = fairlead(tmp_path, "run", "-n", "1", "-H", "localhost", "--relay", "--dry-run", "true")

    assert "there is one host, localhost: nothing to place, and no host to relay" in done.stderr


def test_given_options_without_effect_on_one_host_are_named(tmp_path: Path) -> None:
    given = ("--plan", "plan", "--network", "cloud.net.npz", "--traffic", "a.traffic.npz")
    more = ("--time-limit", "5s", "--risk", "0.1", "--objective", "sum", "--metric", "messages")
    host = ("-n", "1", "-H", "localhost", "--launcher-args", "-v", "--dry-run")
    done = fairlead(tmp_path, "run", *host, *given, *more, "true")

    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "nothing to place" in line]
    head, _, named = line.partition("; not used: ")
    assert head == "fairlead: there is one host, localhost: nothing to place"
    assert sorted(named.split(", ")) == sorted([*given[0::2], *more[0::2]])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--tune", "auto"], "; not used: --tune"),
        (["--tune", "never", "--no-reorder", "--no-relay"], ""),
        (["--reorder", "--budget", "9s"], "; not used: --budget, --reorder"),
        (["--probe", "full", "--max-age", "1h"], "; not used: --max-age, --probe"),
        (["--relay", "--relay-rule", "mcm"], ", and no host to relay; not used: --relay-rule"),
    ],
)
def test_only_what_would_have_done_something_is_named(
    tmp_path: Path, given: list[str], named: str
) -> None:
    done = fairlead(tmp_path, "run", "-n", "1", "-H", "localhost", "--dry-run", *given, "true")

    assert f"there is one host, localhost: nothing to place{named}\n" in done.stderr


def test_json_names_the_folder(tmp_path: Path) -> None:
    done = fairlead(tmp_path, "run", "-n", "2", "--host", "localhost:2", "--json", "true")
    said = json.loads(done.stderr)
    assert Path(said["run_directory"], "run.json").exists()
    assert said["kept_launcher_placement"] is True


@pytest.mark.parametrize(
    ("mpirun", "code", "printed"),
    [("mpirun.openmpi", 1, "There are not enough slots available"), ("mpirun.mpich", 0, "")],
)
def test_more_ranks_than_slots_are_the_launchers_to_judge(
    tmp_path: Path, mpirun: str, code: int, printed: str
) -> None:
    as_root = ["--launcher-args=--allow-run-as-root"] if mpirun == "mpirun.openmpi" else []
    options = ["-n", "3", "-H", "localhost:2", "--mpirun", mpirun, *as_root]
    done = fairlead(tmp_path, "run", *options, "true")

    assert done.returncode == code
    assert printed in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["-n", "1", "-H", "localhost", "--hostfile", "x"], 2, "does not go together with"),
        (["-n", "1", "-H", "local host"], 1, "--host:1: unknown form 'local host'"),
        (["-n", "1"], 1, "give --hostfile FILE or -H h0:4,h1:4"),
    ],
)
def test_hosts_that_do_not_do_are_named(
    tmp_path: Path, arguments: list[str], code: int, problem: str
) -> None:
    done = fairlead(tmp_path, "run", *arguments, "true")
    assert done.returncode == code
    assert problem in done.stderr
