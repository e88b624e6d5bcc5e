# SPDX-License-Identifier: Apache-2.0
"""`fairlead oracle setup prometheus --start` in an emulated cloud, with Debian's packages."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_processes import child_of, processes_in

from fairlead.lab import Lab

pytestmark = pytest.mark.lab

SETUP = [sys.executable, "-m", "fairlead", "oracle", "setup", "prometheus", "--start"]
EXPORTER = "prometheus-node-exporter"
ENV = {**os.environ, "FAIRLEAD_MPIRUN": "/nowhere/mpirun"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    for program in ("prometheus", EXPORTER):
        assert shutil.which(program), f"this test needs Debian's package {program}"
    with Lab.up("flat", hosts=3) as up:
        yield up


def last_line(text: str) -> str:
    return text.splitlines()[-1]


def test_figures_of_all_hosts_arrive_and_all_ends_with_the_command(
    lab: Lab, tmp_path: Path
) -> None:
    words = [*SETUP, "--hostfile", str(lab.hostfile), "-o", str(tmp_path / "monitoring")]
    running = subprocess.Popen(
        lab.command(words, "login"), env={**ENV, **lab.env},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with running:
        assert running.stderr is not None
        lines = []
        for line in running.stderr:
            lines.append(line)
            if "figures of all 3 hosts arrive" in line:
                break
        was_there = len(processes_in(lab, shutil.which(EXPORTER) or EXPORTER))
        os.kill(child_of(running.pid, "fairlead"), signal.SIGTERM)

    assert "--metrics prometheus:http://127.0.0.1:9090" in lines[-1], lines
    assert (was_there, running.returncode) == (3, 0)
    assert processes_in(lab, shutil.which(EXPORTER) or EXPORTER) == []


def test_host_on_which_it_ends_is_named_in_one_line(lab: Lab, tmp_path: Path) -> None:
    words = [*SETUP, "--hostfile", str(lab.hostfile), "-o", str(tmp_path / "monitoring")]
    # The port of the exporter is taken on h1.
    taken = "import socket; s = socket.create_server(('', 9100)); print('', flush=True); input()"
    with subprocess.Popen(
        lab.command([sys.executable, "-c", taken], "h1"), env={**ENV, **lab.env},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        done = lab.run(words, "login", env=ENV, capture_output=True, text=True)
        other.communicate("\n")

    assert done.returncode == 1
    assert re.match(
        r"fairlead: h1: ended with exit code 1: .*address already in use", last_line(done.stderr)
    )
