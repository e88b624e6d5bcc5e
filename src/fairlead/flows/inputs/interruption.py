# SPDX-License-Identifier: Apache-2.0
"""What a signal has interrupted, or what went wrong after the program, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from fairlead.act.launch import Finished
from fairlead.errors import Error
from fairlead.files.run_directory import RunDirectory, exit_code_of, record_line
from fairlead.narrator import Narrator
from fairlead.user_signals import signal_name

__all__ = [
    "NextRunUndecided",
    "ended_by",
    "keep_exit_code",
    "keep_result",
    "report_interruption",
]

_DOING = {
    "request": "looking for the hosts",
    "tracing": "the traced run",
    "traffic": "measuring the network",
    "network": "deciding on a placement",
    "decision": "preparing the start of the program",
    "expected": "preparing the start of the program",
    "start": "the program",
}
"""What follows each step of a run's record."""

_KEPT = {"traffic": "the traffic of the program", "network": "the network"}
"""What each step has left for later runs."""


@contextlib.contextmanager
def report_interruption(directory: RunDirectory, narrator: Narrator) -> Iterator[None]:
    """Print what a signal interrupts while the block runs, and end with its exit code.

    Raises:
        SystemExit: A signal came; its code is 128 + its number.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        _report(directory, narrator, "SIGINT")
        raise SystemExit(exit_code_of(error)) from None
    except SystemExit as error:
        if isinstance(error.code, int) and error.code > 128 and not directory.is_end_reported:
            _report(directory, narrator, signal_name(error.code - 128))
        raise


class NextRunUndecided(SystemExit):
    """The run that was asked for has ended well, but nothing is decided for the next one.

    Attributes:
        why: What went wrong.
        directory: Folder of the run's record.
    """

    def __init__(self, why: str, directory: RunDirectory) -> None:
        super().__init__(0)
        self.why, self.directory = why, directory.path


@contextlib.contextmanager
def keep_result(directory: RunDirectory, narrator: Narrator, seconds: float) -> Iterator[None]:
    """End successfully whatever goes wrong in the block, as the user's program has succeeded.

    Args:
        directory: Gets the end of the run, if it does not have it yet.
        narrator: Prints what went wrong.
        seconds: Time of the program.

    Raises:
        NextRunUndecided: An error or a signal ended the block.
    """
    try:
        yield
    except (Error, OSError, KeyboardInterrupt, SystemExit) as error:
        why = _reason_of(error)
        directory.is_end_reported = True
        if "end" not in directory.steps:
            narrator.report(
                f"the program has ended well; nothing is decided for the next run: {why}"
            )
            directory.record("end", {"exit_code": 0, "seconds": seconds, "undecided": why})
        raise NextRunUndecided(why, directory) from error


@contextlib.contextmanager
def keep_exit_code(narrator: Narrator) -> Iterator[None]:
    """Go on whatever goes wrong in the block, as the program has ended and its exit code stands.

    Args:
        narrator: Prints what went wrong.
    """
    try:
        yield
    except (Error, OSError, KeyboardInterrupt, SystemExit) as error:
        narrator.report(
            f"the program has ended; what its run has shown is not kept: {_reason_of(error)}"
        )


def _reason_of(error: BaseException) -> str:
    """What went wrong, or the signal that came."""
    code = exit_code_of(error)
    is_signal = isinstance(error, (KeyboardInterrupt, SystemExit)) and code > 128
    return signal_name(code - 128) if is_signal else str(error)


def _report(directory: RunDirectory, narrator: Narrator, name: str) -> None:
    directory.is_end_reported = True
    steps = directory.steps
    doing = next((_DOING[step] for step in reversed(steps) if step in _DOING), "the beginning")
    kept = [what for step, what in _KEPT.items() if step in steps]
    found = f"kept for the next run: {' and '.join(kept)}; " if kept else "nothing is kept; "
    narrator.report(f"{name} interrupted {doing}; {found}{record_line(directory.path)}")


def ended_by(finished: Finished, what: str) -> str:
    """The line about a program that a signal asked to end."""
    assert finished.signal is not None
    name = signal_name(finished.signal)
    return f"{name} was passed on to {what}, which ended with exit code {finished.returncode}"
