# SPDX-License-Identifier: Apache-2.0
"""Where the commands of clusters.py run: by an agent from a head node, or in jobs of Slurm."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from lab_processes import child_of
from slurm_cluster import SlurmCluster

from fairlead.lab import Lab

NUM_RANKS = 8
LIMIT_S = 180.0
JOB = ("--ntasks=8", "--nodes=4", "--ntasks-per-node=2")


class FailedError(Exception):
    """A cell that does not work, with the reason."""


class Place(Protocol):
    """Where commands run."""

    lab: Lab
    folder: Path
    hosts: str

    def run(self, line: str, cwd: Path) -> str:
        """What a command printed, also as errors; `FailedError` where it did not end well."""

    def start(self, line: str, cwd: Path) -> Callable[[str], str]:
        """Start a command: gives what sends it a signal, by its name, and returns its output."""


class ByAgent:
    """The head node of the cloud, without a scheduler."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.hosts = f"-n {NUM_RANKS} --hostfile {lab.hostfile}"
        own = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._env = {**os.environ, **lab.env, **own, "PATH": path}

    def run(self, line: str, cwd: Path) -> str:
        """As of `Place`."""
        command = ["timeout", str(LIMIT_S), *shlex.split(line)]
        done = self.lab.run(command, env=self._env, cwd=cwd, capture_output=True, text=True)
        if done.returncode != 0:
            raise FailedError(last_line(done.stderr or done.stdout))
        return done.stdout + done.stderr

    def start(self, line: str, cwd: Path) -> Callable[[str], str]:
        """As of `Place`."""
        line = line.replace("fairlead", f"{sys.executable} -m fairlead", 1)
        with (cwd / "output").open("w") as output:
            process = subprocess.Popen(
                self.lab.command(shlex.split(line)), env=self._env, cwd=cwd, stdout=output,
                stderr=output,
            )  # fmt: skip

        def send(name: str) -> str:
            os.kill(child_of(process.pid, "fairlead"), signal.Signals[f"SIG{name}"])
            process.wait(LIMIT_S)
            return (cwd / "output").read_text()

        return send


class InSlurm:
    """Jobs of the cluster."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster, self.lab, self.folder, self.hosts = cluster, cluster.lab, cluster.folder, ""

    def run(self, line: str, cwd: Path) -> str:
        """As of `Place`."""
        job = self.cluster.submit(f"#!/bin/bash\ntimeout {LIMIT_S} {line}\n", *JOB, cwd=cwd)
        state = self.cluster.wait_for(job, 2 * LIMIT_S)
        printed = (cwd / f"{job}.out").read_text()
        if state != "COMPLETED":
            raise FailedError(last_line(printed))
        return printed

    def start(self, line: str, cwd: Path) -> Callable[[str], str]:
        """As of `Place`."""
        job = self.cluster.submit(f"#!/bin/bash\nexec {line}\n", *JOB, cwd=cwd)

        def send(name: str) -> str:
            words = ["--signal=USR1", "--batch", job] if name == "USR1" else [job]
            self.cluster.run(["scancel", *words])
            self.cluster.wait_for(job)
            return (cwd / f"{job}.out").read_text()

        return send


def last_line(text: str) -> str:
    """The last line that is not empty, shortened."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no output")[:160]
