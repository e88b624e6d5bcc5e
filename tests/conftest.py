# SPDX-License-Identifier: Apache-2.0
"""Set-up of all tests: a busy machine or the way they are started fails none."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fairlead.act.launch._keeper import descendants

# CI tries the same examples each time, so it judges the change alone; a developer's runs search on.
settings.register_profile("fairlead", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("fairlead")

# Every process that a test starts has it, unless it is given another environment on purpose.
MARK = f"FAIRLEAD_TEST_SESSION={uuid.uuid4().hex}"


def pytest_configure() -> None:
    """Let what tests start find signals as at a terminal, also below `nohup` or a shell's `&`.

    Both leave signals ignored, which programs inherit. A handler is not inherited, so programs get
    the default, while the tests themselves still ignore the signal.
    """
    name, _, value = MARK.partition("=")
    os.environ[name] = value
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """In CI all tools of the tests are installed: a test that misses one fails there."""
    report = yield
    reason = str(report.longrepr)
    if "CI" in os.environ and report.skipped and "not installed" in reason:
        report.outcome, report.longrepr = "failed", f"skipped in CI: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item) -> Iterator[None]:
    """When its time is over, end what a test has started, or the test may wait for it for ever."""
    is_set = yield
    fail = signal.getsignal(signal.SIGALRM)
    if callable(fail):
        begun_s = time.clock_gettime(time.CLOCK_BOOTTIME)

        def end(number: int, frame: object) -> None:
            while left := _started_since(begun_s):
                for pid in left:
                    _kill(pid)
            fail(number, frame)

        signal.signal(signal.SIGALRM, end)
    return is_set


def _started_since(begun_s: float) -> list[int]:
    """Processes of these tests that are alive: below this one, or orphans with its mark."""
    marked = {
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if MARK.encode() in _read(folder / "environ").split(b"\0")
    }
    found = {*descendants(), *marked} - {os.getpid()}
    return [pid for pid in found if _is_alive_and_young(pid, begun_s)]


def _is_alive_and_young(pid: int, begun_s: float) -> bool:
    # proc_pid_stat(5): the state, and in field 22 the start, in ticks since boot, rounded down.
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    if not fields or fields[0] == b"Z":
        return False
    return int(fields[19]) + 1 >= begun_s * os.sysconf("SC_CLK_TCK")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # It has ended, or belongs to another user.
        return b""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
