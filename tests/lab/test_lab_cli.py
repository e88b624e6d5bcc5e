# SPDX-License-Identifier: Apache-2.0
"""`fairlead lab`: what its commands print and return."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from lab_processes import processes_named
from lab_traces import happens, holder_pid, processes_of_lab

from fairlead.lab import Lab
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.lab]

NAME = f"cli-{os.getpid()}"


def fairlead_lab(*argv):
    return subprocess.run(
        [sys.executable, "-m", "fairlead", "lab", *argv],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def up():
    """A lab that the command line brought up; what `up` printed."""
    done = fairlead_lab("up", "flat", "--name", NAME, "--hosts", "3", "--no-check", "--json")
    yield json.loads(done.stdout)
    Lab.attach(NAME).down()


def test_up_prints_hosts_and_rates(up):
    assert up["hosts"] == ["h0", "h1", "h2"]
    assert up["shaped_Bps"][0] == [None, 125e6, 125e6]


def test_up_prints_what_pairs_are_delayed_to_and_by_what(tmp_path):
    path = tmp_path / "late.toml"
    path.write_text('hosts = 2\nnic = "40Mbit/s"\nlatency = {nic = "3ms"}\n')
    name = f"{NAME}-late"

    shown = fairlead_lab("up", str(path), "--name", name, "--no-check")
    Lab.attach(name).down()
    done = fairlead_lab("up", str(path), "--name", name, "--json")
    Lab.attach(name).down()

    facts = json.loads(done.stdout)
    assert facts["delay_s"] == [[0, 6e-3], [6e-3, 0]]
    assert facts["delay_by"] in ("netem", "delay line")
    assert all(pair["delay_s"] == 6e-3 for pair in facts["wrong_delays"])
    assert done.returncode == (1 if facts["wrong_delays"] or facts["wrong_pairs"] else 0)
    assert [line.split() for line in shown.stdout.splitlines() if "6.00" in line] == [
        ["h0", "–", "6.00"],
        ["h1", "6.00", "–"],
    ]
    assert "rate from row to column (Mbit/s)" in shown.stdout
    assert f"delay by {facts['delay_by']} from row to column (ms)" in shown.stdout


def test_lab_outlives_up_and_is_listed(up):
    labs = json.loads(fairlead_lab("list", "--json").stdout)

    assert {"name": NAME, "hosts": up["hosts"], "hostfile": up["hostfile"]} in labs


def test_exec_passes_output_and_exit_code(up):
    done = fairlead_lab("exec", NAME, "--host", "h2", "--", "sh", "-c", "hostname; exit 3")

    assert (done.returncode, done.stdout) == (3, "h2\n")


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_signal_to_exec_ends_what_it_runs(up, send, tmp_path):
    sleeper = tmp_path / "sleeper"
    sleeper.symlink_to("/bin/sleep")
    code = "import sys; from fairlead.act.launch import run; run([sys.argv[1], '3000'])"
    command = ["lab", "exec", NAME, "--", sys.executable, "-c", code, str(sleeper)]
    process = subprocess.Popen(
        [sys.executable, "-m", "fairlead", *command],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert happens(lambda: processes_named(str(sleeper)))

    send(process.pid, signal.SIGINT)
    process.wait()

    assert happens(lambda: not processes_named(str(sleeper)))


@pytest.mark.mpi
def test_signal_to_exec_ends_a_run_with_its_launcher_and_all_ranks(up, tmp_path):
    # Both files are given, so that the ranks are those of the run itself.
    between = ~np.eye(3, dtype=bool)
    rates_Bps = np.where(between, 125e6, np.inf)
    Network(tuple(up["hosts"]), np.where(between, 1e-4, 0.0), rates_Bps).save(
        tmp_path / "cloud.net.npz"
    )
    Traffic(np.ones((6, 6)) * 1e6, np.ones((6, 6))).save(tmp_path / "sleeper.traffic.npz")
    sleeper = tmp_path / "sleeper"
    sleeper.symlink_to("/bin/sleep")
    command = [
        *("lab", "exec", NAME, "--", sys.executable, "-m", "fairlead", "run", "-n", "6"),
        *("--hostfile", up["hostfile"], "--network", str(tmp_path / "cloud.net.npz")),
        *("--traffic", str(tmp_path / "sleeper.traffic.npz"), "--", str(sleeper), "3000"),
    ]
    homes = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    env = {**os.environ, **homes, "FAIRLEAD_MPIRUN": "mpirun.openmpi"}
    holder = holder_pid(Lab.attach(NAME).hostfile.parent)
    before = processes_of_lab(holder)

    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "fairlead", *command], stderr=subprocess.DEVNULL, env=env
        )
        assert happens(lambda: len(processes_named(str(sleeper))) == 6)

        os.kill(process.pid, signal.SIGINT)

        assert process.wait() != 0
        assert happens(lambda: processes_of_lab(holder) <= before)


def test_degrade_cuts_a_pair_permanently(up):
    cut = fairlead_lab("degrade", NAME, "h0", "h1", "0", "--json")
    again = fairlead_lab("degrade", NAME, "h0", "h1", "2", "--json")

    assert json.loads(cut.stdout)["shaped_Bps"][0] == [None, 0, 125e6]
    assert json.loads(again.stdout)["shaped_Bps"][0] == [None, 0, 125e6]


@pytest.mark.parametrize(
    ("argv", "code", "problem"),
    [
        (["exec", "no-such", "--", "true"], 1, "lab 'no-such' is not up"),
        (["exec", NAME, "--host", "h7", "--", "true"], 1, "unknown host 'h7'"),
        (["degrade", NAME, "h0"], 2, "give either SRC DST RATIO or --host"),
        (["up", "no-such"], 1, "'no-such': neither a file nor one of drift, flat, "),
    ],
)
def test_wrong_use_gets_a_clear_line_and_its_exit_code(up, argv, code, problem):
    done = fairlead_lab(*argv)

    assert done.returncode == code
    assert problem in done.stderr


def test_run_brings_up_runs_and_takes_down():
    done = fairlead_lab(
        "run", "flat", "--name", f"{NAME}-run", "--hosts", "2", "--",
        "sh", "-c", "cat $FAIRLEAD_LAB_HOSTFILE; exit 5",
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (5, "h0 slots=4\nh1 slots=4\n")
    assert f"{NAME}-run" not in fairlead_lab("list").stdout


@pytest.mark.usefixtures("up")
def test_load_of_pairs_lasts_until_it_is_stopped():
    begun = fairlead_lab("load", NAME, "--pair", "h0,h1", "--pair", "h1,h2", "--json")
    ended = fairlead_lab("load", NAME, "--stop", "--json")
    again = fairlead_lab("load", NAME, "--stop", "--json")

    assert json.loads(begun.stdout) == {"pairs": [["h0", "h1"], ["h1", "h2"]]}
    assert json.loads(ended.stdout) == {"ended": 2}
    assert json.loads(again.stdout) == {"ended": 0}


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--pair", "h0"], "expected two hosts A,B, got 'h0'"),
        (["--pair", "h0,h9"], "h9"),
        ([], "give either --pair or --stop"),
    ],
)
def test_load_that_cannot_be_is_named(arguments, problem):
    done = fairlead_lab("load", NAME, *arguments)

    assert done.returncode != 0
    assert problem in " ".join(done.stderr.split())
