# SPDX-License-Identifier: Apache-2.0
"""Replays a recorded benchmark in SimGrid's SMPI, on a cloud at a time, under a placement.

Collective algorithms are SimGrid's choice `ompi`, but for allreduce: up to 10 kB, and NPB has no
larger one, Open MPI 1.6 takes recursive doubling, while SimGrid 3.32 takes others, which crash when
256 ranks are replayed.

A replay is deterministic: what it gave is kept below `build/` by all that it depends on, so that a
figure that was stopped goes on where it was, and figures share their replays.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import traces
from clouds import Instance
from smpi import write_platform

import fairlead as fl
from fairlead.files.archive import write_text

KEPT = Path(__file__).resolve().parents[2] / "build" / "bench" / "cloudmap-replays"

RATE = f"{traces.HOST_FLOPS / 1e9:g}Gf"
SETTINGS = (
    *("--cfg=smpi/coll-selector:ompi", "--cfg=smpi/allreduce:rdb"),
    f"--cfg=smpi/host-speed:{RATE}",
)


class Replayer:
    """Runs recorded benchmarks; their files are written once, into a folder."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("smpirun") is None:
            raise SystemExit("SimGrid is needed: apt install libsimgrid-dev")
        self._folder = folder
        self._files: dict[str, Path] = {}

    def run_s(
        self, name: str, network: fl.Network, placement: fl.Placement, instance: Instance
    ) -> float:
        """Simulated seconds of a whole run of "cg.C.64", without what precedes it."""
        platform, hostfile = self._folder / "platform.xml", self._folder / "hosts.txt"
        write_platform(network, platform, instance.inside_Bps, instance.inside_latency_s, RATE)
        hostfile.write_text("".join(f"{host}\n" for host in placement.host_names()))
        recording = traces.load(name)
        kept = KEPT / digest_of(name, platform.read_text(), hostfile.read_text())
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_text(kept, repr(self._replay_s(recording, platform, hostfile)))
        return float(kept.read_text()) * recording.facts.repeats

    def _replay_s(self, recording: traces.Recording, platform: Path, hostfile: Path) -> float:
        """Simulated seconds of what is recorded."""
        name = recording.name
        if name not in self._files:
            self._files[name] = traces.write_replay(name, self._folder)
        done = subprocess.run(
            [
                *("smpirun", "-np", str(recording.num_ranks), "-platform", str(platform)),
                *("-hostfile", str(hostfile), "-replay", str(self._files[name]), *SETTINGS),
                *("--log=root.t:error", "--log=smpi_replay.t:info"),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        found = re.search(r"Simulation time ([0-9.eE+-]+)", done.stdout + done.stderr)
        if done.returncode != 0 or found is None:
            raise RuntimeError(f"replay of {name} failed: {done.stdout}{done.stderr}")
        return float(found.group(1))


def digest_of(name: str, platform: str, hosts: str) -> str:
    """Digest of all that a replay's time depends on."""
    parts = (digest_of_trace(name), platform, hosts, SETTINGS)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@functools.cache
def digest_of_trace(name: str) -> str:
    """Digest of a recording, and of how it becomes a replay."""
    files = (traces.RECORDED / f"{name}.ti.tar.xz", Path(traces.__file__))
    parts = (*(file.read_bytes() for file in files), traces.load(name).compute_s)
    return hashlib.sha256(repr(parts).encode()).hexdigest()
