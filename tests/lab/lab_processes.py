# SPDX-License-Identifier: Apache-2.0
"""What runs inside a lab, as the machine around it sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fairlead.lab import Lab

RUN_TWICE = ("run", "--first", "twice")
"""A run that traces a program which is not known yet, and then places it at once."""


def fairlead(lab: Lab, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of Fairlead inside the lab, by Open MPI, with caches and records below `home`."""
    folders = {name: str(home / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    done = lab.run(
        [sys.executable, "-m", "fairlead", *arguments],
        env={**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def processes_named(program: str) -> list[int]:
    """Processes whose first word is this."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == program.encode():
            found.append(int(folder.name))
    return found


def processes_in(lab: Lab, program: str) -> list[int]:
    """Those of one lab; others may run at the same time."""
    link = lab.run(["readlink", "/proc/self/ns/pid"], capture_output=True, text=True).stdout.strip()
    return [pid for pid in processes_named(program) if _namespace(pid) == link]


def _namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except FileNotFoundError:
        return None


def child_of(pid: int, word: str) -> int:
    """The process itself or the descendant that is Python running `-m word`."""
    pending = [pid]
    while pending:
        current = pending.pop(0)
        words = Path(f"/proc/{current}/cmdline").read_bytes().split(b"\0")
        if words[1:3] == [b"-m", word.encode()]:
            return current
        children = Path(f"/proc/{current}/task/{current}/children").read_text().split()
        pending += [int(child) for child in children]
    raise AssertionError(f"no {word} below {pid}")
