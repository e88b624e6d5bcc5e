# SPDX-License-Identifier: Apache-2.0
"""A host of half the speed: measured, named, and given less to do; its cgroup does not stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from busy_machine import measured_until
from lab_traces import happens

import fairlead as fl
from fairlead.act.launch import detect, read_hostfile
from fairlead.act.mpi_builds import find
from fairlead.errors import InputError
from fairlead.lab import Lab, Scenario
from fairlead.lab.state import live_labs

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

FIELDS = {"name": "slow", "hosts": 4, "slots": 2, "nic": "400Mbit/s", "speed": {"h1": 0.5}}
SCENARIO = Scenario.model_validate(FIELDS)


def group_of(lab: Lab) -> Path:
    return Path((lab.hostfile.parent / "cgroups" / ".lab").read_text().strip())


def throttled(lab: Lab, host: str) -> int:
    """Periods in which a host has used up its quota."""
    words = (group_of(lab) / host / "cpu.stat").read_text().split()
    return int(words[words.index("nr_throttled") + 1])


def test_a_slow_host_is_found_and_gets_less_to_do(tmp_path: Path) -> None:
    with Lab.up(SCENARIO) as lab:
        command = [sys.executable, "-m", "fairlead"]
        hosts = ["--hostfile", str(lab.hostfile)]
        nbody = [str(find(detect()).example("nbody")), "--bodies", "2048", "--steps", "20"]
        lab.run(
            [*command, "trace", "-n", "6", *hosts, "-o", "n.traffic.npz", "--", *nbody],
            cwd=tmp_path, check=True, capture_output=True,
        )  # fmt: skip
        traffic = fl.Traffic.load(tmp_path / "n.traffic.npz")
        assert traffic.compute_s is not None
        assert np.all((traffic.compute_s > 0) & (traffic.compute_s < traffic.run_time_s))
        assert traffic.compute_hosts == ("h0", "h0", "h1", "h1", "h2", "h2")

        def finds_it() -> bool:
            done = lab.run(
                [*command, "probe", *hosts, "-o", "n.net.npz"],
                cwd=tmp_path, check=True, capture_output=True, text=True,
            )  # fmt: skip
            return "h1 is slow: " in done.stdout

        def place() -> fl.Placement:
            # What else runs on the machine may hide it, and then no host is named.
            assert happens(finds_it)
            network = fl.Network.load(tmp_path / "n.net.npz")
            return fl.place(traffic, network, read_hostfile(lab.hostfile))

        # The probe may find it less slow than it is.
        placement = measured_until(lambda placement: len(placement.ranks_on("h1")) <= 1, place)

        assert throttled(lab, "h1") > 0
        assert placement.origin["objective"] == "slowest-rank"
        assert len(placement.ranks_on("h1")) <= 1
        group = group_of(lab)
    assert not group.exists()


def test_the_speed_of_a_host_changes_while_the_lab_is_up() -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "speed"}
    with Lab.up(Scenario.model_validate(fields)) as lab:
        program = lab.command(["sh", "-c", "while :; do :; done"], "h2")
        with subprocess.Popen(program) as busy:
            try:
                lab.slow_host("h2", 0.25)
                # What ran there before is slow, too.
                assert happens(lambda: throttled(lab, "h2") > 0)
                with pytest.raises(InputError, match="expected a number > 0 and at most 1, got 2"):
                    lab.slow_host("h2", 2)
            finally:
                busy.terminate()


def test_no_cgroup_is_left_where_the_starter_is_killed() -> None:
    script = (
        "import sys, time\n"
        "from fairlead.lab import Lab, Scenario\n"
        "lab = Lab.up(Scenario.model_validate_json(sys.argv[1]))\n"
        "print((lab.hostfile.parent / 'cgroups' / '.lab').read_text(), flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, SCENARIO.model_dump_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        group = Path(starter.stdout.readline().strip())
        assert (group / "h1").exists()
        starter.kill()

    # Any command that lists labs tidies up.
    assert happens(lambda: live_labs() is not None and not group.exists())
