# SPDX-License-Identifier: Apache-2.0
"""Runs a command that ends with this process, whatever ends it: with all that it has started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

__all__ = ["run_bound"]

# A build is many processes, of which PR_SET_PDEATHSIG would end the first alone. The command has a
# process group of its own, and a watcher in it that reads a pipe to its end.
# A shell takes no descriptor of two digits, so the pipe is its standard input.
_WATCHED = (
    "exec 3<&0 </dev/null; { read -r _ <&3; kill -KILL 0; } & watcher=$!; "
    '"$@" 3<&-; code=$?; kill -KILL $watcher; exit $code'
)


def run_bound(command: Sequence[str]) -> None:
    """Run a command without its output; what it has started ends with this process.

    Raises:
        CalledProcessError: It failed.
    """
    reader, writer = os.pipe()
    with subprocess.Popen(
        ["sh", "-c", _WATCHED, "sh", *command],
        stdin=reader,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        os.close(reader)
        try:
            code = process.wait()
        finally:  # Before Popen waits for it once more, after Ctrl-C.
            os.close(writer)
    if code:
        raise subprocess.CalledProcessError(code, command)
