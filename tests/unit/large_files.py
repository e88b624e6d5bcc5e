# SPDX-License-Identifier: Apache-2.0
"""Large files of other tools, each read by a process of its own whose memory is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["MIB", "Large", "ReadLarge", "read_large"]

MIB = 2**20
MOST_OF_PROCESS_BYTES = 2**31
"""Address space that the process may have; its libraries take most of it."""

# The peak is that of this program alone: ru_maxrss may be that of the process that started it.
PROGRAM = """
import json, resource, sys
from pathlib import Path

most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
from fairlead.errors import Error

# What one kind needs is imported before its memory is measured, and nothing else, which takes time.
kind = sys.argv[2]
if kind == "traffic":
    from fairlead.measure.traffic_files import load_traffic
elif kind == "ldms":
    from fairlead.measure.metrics import open_source
elif kind == "map":
    from fairlead.measure.metrics.metric_map import read_metric_map
elif kind == "hosts":
    from fairlead.act.launch import read_hostfile
else:
    from fairlead.measure.topologies.catalogue import Given, import_topology


def peak_bytes():
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition("VmHWM:")[2].split()[0])


def read(path):
    if kind == "traffic":
        return f"{load_traffic(path).num_ranks} ranks"
    if kind == "ldms":
        return f"{len(open_source(f'ldms:{path}').read(1e9, 60.0))} series"
    if kind == "map":
        return f"{len(read_metric_map(path))} entries"
    if kind == "hosts":
        return f"{read_hostfile(path).num_hosts} hosts"
    return f"{import_topology(kind, Given(path)).num_hosts} hosts"


before = peak_bytes()
try:
    result = read(Path(sys.argv[3]))
except Error as error:
    result = str(error)
print(json.dumps({"result": result, "peak_bytes": peak_bytes() - before}))
"""


class Large(NamedTuple):
    """A large file.

    Attributes:
        kind: Form of topology, or what else reads it.
        begin, pieces, end: What it holds; there is no last piece.
        size_bytes: Its size.
        result: Regular expression of how much it has, or of the error.
        most_bytes: Most memory for reading it.
        distinct_bytes: Size after which its last pieces repeat: all that is read, or more. To make
            pieces takes longer than to read them.
    """

    kind: str
    begin: str
    pieces: Callable[[], Iterator[str]]
    end: str
    size_bytes: int
    result: str
    most_bytes: int
    distinct_bytes: int = 32 * MIB


class ReadLarge(NamedTuple):
    """What reading a large file gave.

    Attributes:
        result: How much it has, or the error.
        peak_bytes: Memory that reading it took at most.
    """

    result: str
    peak_bytes: int


def read_large(large: Large, path: Path) -> ReadLarge:
    """Write a large file, read it in a process of its own, and remove it."""
    _write(path, large)

    done = subprocess.run(
        [*(sys.executable, "-c", PROGRAM, str(MOST_OF_PROCESS_BYTES)), large.kind, str(path)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    path.unlink()  # Before the system has written all of it to its disk.

    assert done.returncode == 0, done.stderr[-500:]
    return ReadLarge(**json.loads(done.stdout))


def _write(path: Path, large: Large) -> None:
    with path.open("w") as stream:
        stream.write(large.begin)
        size = 0
        for block in _blocks(large):
            stream.write(block)
            size += len(block)
            if size >= large.size_bytes:
                break
        stream.write(large.end)


def _blocks(large: Large) -> Iterator[str]:
    """Pieces together, up to a size; then the last of them without end."""
    pieces, size = large.pieces(), 0
    while size < large.distinct_bytes:
        block, left = [], MIB
        while left > 0:
            block.append(next(pieces))
            left -= len(block[-1])
        text = "".join(block)
        size += len(text)
        yield text
    while True:
        yield text
