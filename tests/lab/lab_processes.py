# SPDX-License-Identifier: Apache-2.0
"""What runs inside a lab, as the machine around it sees it."""

from __future__ import annotations

from pathlib import Path


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
