# SPDX-License-Identifier: Apache-2.0
"""`scripts/try-fresh`: says what it lacks, and leaves nothing behind, with stand-ins for its tools.

A whole run takes an hour or more and is done before a release.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "try-fresh"

TOOLS = ("bash", "cat", "chmod", "cut", "date", "dirname", "du", "env", "grep", "head",
         "mkdir", "mktemp", "nproc", "printf", "pivot_root", "rm", "sed", "sleep", "sort", "tee",
         "tail", "uname", "wc")  # fmt: skip


class Host:
    """A machine with those tools, where root is whoever asks."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.tmp = folder / "bin", folder / "tmp"
        self.bin.mkdir()
        self.tmp.mkdir()
        self.log = folder / "log"
        for tool in TOOLS:
            found = (Path(where, tool) for where in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"))
            (self.bin / tool).symlink_to(next(path for path in found if path.exists()))
        self.add("id", "echo 0")
        self.add("git", "echo 0123abc")
        self.add("unshare", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
        self.add("apt-get", "echo Debian http://mirror.invalid/debian/")
        self.add("apt-config", "exit 0")

    def add(self, tool: str, script: str) -> None:
        path = self.bin / tool
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [SCRIPT, "--log", str(self.log), *options],
            env={"PATH": str(self.bin), "TMPDIR": str(self.tmp), "HOME": str(self.tmp)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.mark.parametrize(
    ("tool", "script", "problem"),
    [
        ("id", "echo 1000", "needs root"),
        ("unused", "", "needs mmdebstrap or debootstrap"),
        ("apt-get", "exit 0", "has no mirror of Debian"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_begun(
    tool: str, script: str, problem: str, host: Host
) -> None:
    if tool != "unused":
        host.add("mmdebstrap", "exit 0")
        host.add(tool, script)

    process = host.start()
    output, errors = process.communicate()

    assert (process.returncode, output) == (1, "")
    assert errors.startswith("try-fresh: ") and problem in errors
    assert list(host.tmp.iterdir()) == []


def test_machine_that_cannot_be_built_is_an_error_and_nothing_is_left(host: Host) -> None:
    host.add("mmdebstrap", "echo the mirror is gone >&2; exit 7")

    process = host.start()
    output, errors = process.communicate()

    assert process.returncode == 1
    assert "exit 7" in output
    assert f"no machine to try on; see {host.log}" in errors
    assert "the mirror is gone" in host.log.read_text()
    assert list(host.tmp.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_what_runs_and_leaves_nothing(number: int, host: Host) -> None:
    started = host.tmp.parent / "started"
    host.add("mmdebstrap", f"trap '' INT TERM HUP; echo $$ > {started}; while :; do sleep 1; done")

    process = host.start()
    while not (started.exists() and started.read_text().strip()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    process.communicate()

    assert process.returncode == (130 if number == signal.SIGINT else 143)
    assert list(host.tmp.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
