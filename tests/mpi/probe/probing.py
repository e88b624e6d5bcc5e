# SPDX-License-Identifier: Apache-2.0
"""What the tests of the probe share: invented hosts, and its processes on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

from busy_machine import measured_until
from launchers import MPIS, processes_with, wait_until

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

NAMES = ("ash", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel",
         "ivy", "juniper", "katsura", "larch", "maple", "nutmeg")  # fmt: skip


def hosts(*names: str) -> Cluster:
    """A slot on each."""
    return Cluster.uniform(names, slots=1)


def write_hostfile(folder: Path, names: tuple[str, ...]) -> Path:
    """The same as a file."""
    hostfile = folder / "hosts"
    hostfile.write_text("".join(f"{name} slots=1\n" for name in names))
    return hostfile


def words_on(order: str, launcher: Launcher) -> str:
    """What the program says of an order that it refuses, under two ranks."""
    program = str(mpi_builds.find(launcher).probe)
    command = [str(launcher.path), "-n", "2", "--oversubscribe", program, order]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def find_ranks(tag: str) -> list[int]:
    """The measuring processes among those that carry the tag; others come and go meanwhile."""
    found = []
    for pid in processes_with(tag):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "fairlead-probe":
                found.append(pid)
    return found


def rank_of(pid: int) -> int:
    """The rank of a measuring process that Open MPI 4 started."""
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    rank = next(text for text in variables if text.startswith(b"OMPI_COMM_WORLD_RANK="))
    return int(rank.split(b"=")[1])


def probe_that_loses_rank_3(
    folder: Path, how: signal.Signals, num_hosts: int, options: str, is_begun: str
) -> Network:
    """What a probe finds when its rank 3 gets a signal in the middle of the measurement.

    Args:
        folder: Where files may be written.
        how: The signal.
        num_hosts: How many hosts are probed.
        options: Further arguments of `probe`, as they are written in a call.
        is_begun: When the signal is sent, as an expression of `done`, `total` and `totals`, all
            totals that were reported so far.
    """
    # On a busy machine a measurement may end before its process is found: then it is repeated.
    attempts = count()
    network = measured_until(
        lambda found: found is not None,
        lambda: _probe_with_signal(folder, next(attempts), how, num_hosts, options, is_begun),
    )
    assert network is not None
    return network


def _probe_with_signal(
    folder: Path, attempt: int, how: signal.Signals, num_hosts: int, options: str, is_begun: str
) -> Network | None:
    """What one such probe finds; None where it ended before its rank 3 was found."""
    tag = f"PROBE_TEST={os.getpid()}-{folder.name}-{attempt}"
    name, value = tag.split("=")
    begun, result = folder / f"begun-{attempt}", folder / f"{attempt}.net.npz"
    program = f"""
from pathlib import Path
from fairlead.model.cluster import Cluster
from fairlead.act.launch import detect
from fairlead.measure.probe import probe
totals = set()
def on_progress(done, total):
    totals.add(total)
    if {is_begun}:
        Path({str(begun)!r}).touch()
probe(
    detect({MPIS["openmpi-4"].mpirun!r}), Cluster.uniform({NAMES[:num_hosts]!r}, 1),
    silence_timeout_s=2, on_progress=on_progress, {options}
).save({str(result)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, name: value})
    wait_until(begun.exists)
    is_sent = False
    with contextlib.suppress(OSError, StopIteration):
        os.kill(next(pid for pid in find_ranks(tag) if rank_of(pid) == 3), how)
        is_sent = True
    assert process.wait() == 0
    wait_until(lambda: not processes_with(tag))
    return Network.load(result) if is_sent else None
