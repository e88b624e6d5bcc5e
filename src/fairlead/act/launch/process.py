# SPDX-License-Identifier: Apache-2.0
"""Runs a launcher: signals passed on, exit code passed back, no process left behind."""

from __future__ import annotations

import dataclasses
import functools
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from fairlead.act.launch._keeper import END_SOON, PASSED_ON
from fairlead.act.launch._signals import Signals, pass_signals
from fairlead.errors import LaunchError

__all__ = ["Finished", "LaunchTimeoutError", "run"]

_KEEPER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("_keeper.py")))


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a program ended.

    Attributes:
        returncode: Its exit code, or 128 + the signal that killed it, as shells count.
        seconds: From its start to its end, without the cleaning up.
        stdout: What it printed, when captured, else "".
        stderr: Its error output, when captured, else "".
        signal: The first signal that asked for its end, of a program of the user; else None.
        is_over: Whether it was ended because `is_over` of `run` was true.
    """

    returncode: int
    seconds: float
    stdout: str = ""
    stderr: str = ""
    signal: int | None = None
    is_over: bool = False


class LaunchTimeoutError(LaunchError):
    """The program was stopped at its timeout; `finished` says how it ended."""

    def __init__(self, message: str, finished: Finished):
        super().__init__(message)
        self.finished = finished


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    is_over: Callable[[], bool] | None = None,
    capture: bool = False,
    on_stderr_line: Callable[[str], None] | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
    is_users: bool = False,
) -> Finished:
    """Run a program in a session of its own until it and all that it started have ended.

    SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to the program; when it has ended, SIGINT
    becomes KeyboardInterrupt and the others SystemExit(128 + signal). A program that does not end
    within seconds after a signal is killed. Only a call from the main thread can pass signals on.

    Args:
        argv: Program and arguments.
        env: Its whole environment; None for this process's own.
        timeout_s: After this time the program is ended as by SIGTERM.
        is_over: Asked several times a second; when it is true the program is ended as by Ctrl-C,
            and as by SIGTERM if it has not ended seconds later. In the place of `timeout_s`.
        capture: Return what it prints instead of letting it through.
        on_stderr_line: Gets each line of its error output, as it comes, from another thread. What
            is not captured is then neither let through nor kept.
        stdin: File descriptor that it reads as its standard input; without it, it reads nothing. A
            terminal can be read by the program itself, but Open MPI forwards only files and pipes
            to ranks when it is not in the terminal's foreground.
        stdout: File descriptor that gets what it prints, when that is not captured; without it,
            this process's own.
        stderr: The same for its error output.
        is_users: It is the launcher of the user's program. All signals are passed on to it, as if a
            shell had started it. It has as long as it needs to end, unless a second signal asks for
            that; the call then returns, with the signal. What it leaves after a normal end goes on.

    Raises:
        LaunchError: The program cannot be started.
        LaunchTimeoutError: The time was over.
    """
    with pass_signals(to_users_program=is_users) as signals:
        started = start(
            argv,
            is_users=is_users,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE if capture else stdout,
            stderr=subprocess.PIPE if capture or on_stderr_line else stderr,
        )
        with started as process:
            signals.attach(process.pid)
            wait = functools.partial(signals.wait_for, started, timeout_s)
            over = None if is_over is None else _Over(is_over, process, started, signals)
            printed, errors, timed_out = _collect(
                process, over.wait if over else wait, capture, on_stderr_line
            )
            returncode, seconds = started.report()
    is_ended = over is not None and over.is_asked
    finished = Finished(returncode, seconds, printed, errors, signals.ending, is_ended)
    if timed_out and not is_ended:
        raise LaunchTimeoutError(
            f"{Path(argv[0]).name} did not end within {timeout_s:g} s and was stopped", finished
        )
    return finished


class _Over:
    """Ends a program when it is over for those who have started it."""

    POLL_S = 0.2
    GRACE_S = 5.0

    def __init__(
        self,
        is_over: Callable[[], bool],
        process: subprocess.Popen[bytes],
        started: Started,
        signals: Signals,
    ) -> None:
        self.is_asked = False
        self._is_over, self._process = is_over, process
        self._started, self._signals = started, signals

    def wait(self) -> bool:
        """Wait for the end of the program; false where it does not end by itself."""
        while not self._signals.wait_for(self._started, self.POLL_S):
            if self._signals.ending is None and self._is_over():
                # Finding that out may take seconds, in which the program may have ended by itself.
                if self._signals.wait_for(self._started, 0):
                    return True
                self.is_asked = True
                self._process.send_signal(signal.SIGINT)
                return self._signals.wait_for(self._started, self.GRACE_S)
        return True


class Started:
    """A program that runs below its keeper; leaving a `with` block waits for both."""

    def __init__(self, argv: Sequence[str], process: subprocess.Popen[bytes], report: IO[str]):
        self._argv = argv
        self._process = process
        self._report = report

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self._process

    def __exit__(self, *error: object) -> None:
        with self._report, self._process:
            pass

    def fileno(self) -> int:
        """A file descriptor that is readable when the program and all it started have ended."""
        return self._report.fileno()

    def report(self) -> tuple[int, float]:
        """Exit code and seconds of the program, once the process has ended.

        Raises:
            LaunchError: The program could not be started, or its keeper was killed.
        """
        return _read_report(self._report.read(), self._argv)


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
    is_users: bool = False,
) -> Started:
    """Start a program below a keeper; the streams are those of Popen, `is_users` that of `run`.

    Raises:
        LaunchError: The keeper cannot be started.
    """
    report_in, report_out = os.pipe()
    lc_ctype = (os.environ if env is None else env).get("LC_CTYPE", "")
    whose = "user" if is_users else "own"
    # The keeper starts with these signals blocked, so that none is lost before it handles them.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*PASSED_ON, END_SOON))
    try:
        process = subprocess.Popen(
            [*_KEEPER, str(report_out), str(os.getpid()), whose, lc_ctype, *argv],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=None if env is None else dict(env),
            pass_fds=(report_out,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(report_in)
        raise LaunchError(f"{shlex.join(argv)}: cannot be started: {error}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(report_out)
    return Started(argv, process, os.fdopen(report_in, encoding="utf-8"))


def _collect(
    process: subprocess.Popen[bytes],
    wait: Callable[[], bool],
    capture: bool,
    on_stderr_line: Callable[[str], None] | None,
) -> tuple[str, str, bool]:
    """Read the output to its end; the keeper closes the last writer."""
    stdout: list[str] = []
    stderr: list[str] = []

    def on_line(line: str) -> None:
        if capture:
            stderr.append(line)
        if on_stderr_line:
            on_stderr_line(line.rstrip("\n"))

    readers = [
        threading.Thread(target=_read_lines, args=(stream, sink), daemon=True)
        for stream, sink in ((process.stdout, stdout.append), (process.stderr, on_line))
        if stream is not None
    ]
    for reader in readers:
        reader.start()
    try:
        timed_out = not wait()
        if timed_out:
            process.send_signal(END_SOON)
        process.wait()
    except BaseException:
        process.send_signal(END_SOON)
        process.wait()
        raise
    finally:
        for reader in readers:
            reader.join()
    return "".join(stdout), "".join(stderr), timed_out


def _read_lines(stream: IO[bytes], sink: Callable[[str], None]) -> None:
    # Bytes that are not UTF-8 must not end the reading, or the program would block on a full pipe.
    for line in stream:
        sink(line.decode("utf-8", "replace"))


def _read_report(report: str, argv: Sequence[str]) -> tuple[int, float]:
    if report.startswith("!"):
        problem = report.splitlines()[0][2:]
        raise LaunchError(f"{argv[0]}: cannot be started: {problem}")
    if not report:
        raise LaunchError(f"{argv[0]}: was lost: the process that watched it was killed")
    code, seconds = report.split()
    # waitstatus_to_exitcode() gives a signal as a negative number.
    return (int(code) if int(code) >= 0 else 128 - int(code)), float(seconds)
