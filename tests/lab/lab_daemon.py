# SPDX-License-Identifier: Apache-2.0
"""A daemon on a host of a lab, for the time of a block."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairlead.lab import Lab

_END_S = 20.0


@contextlib.contextmanager
def run_daemon(
    lab: Lab, host: str, command: Sequence[str], output: Path, folder: Path | str
) -> Iterator[None]:
    """Start it; at the end of the block it has ended by SIGTERM, or else by SIGKILL.

    Args:
        lab: Where the host is.
        host: Its name.
        command: Runs until it is ended.
        output: A file for all that it prints.
        folder: Its working folder.
    """
    with output.open("wb") as file:
        process = subprocess.Popen(
            lab.command(command, host),
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=folder,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
