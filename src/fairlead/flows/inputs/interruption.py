# SPDX-License-Identifier: Apache-2.0
"""What a signal has interrupted, and what is kept of it, in one line."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from fairlead.act.launch import Finished
from fairlead.files.run_directory import RunDirectory, exit_code_of
from fairlead.narrator import Narrator

__all__ = ["ended_by", "telling_interruption"]

_DOING = {
    "request": "looking for the hosts",
    "tracing": "the traced run",
    "traffic": "measuring the network",
    "network": "deciding on a placement",
    "decision": "preparing the start of the program",
    "start": "the program",
}
"""What follows each step of a run's record."""

_KEPT = {"traffic": "the traffic of the program", "network": "the network"}
"""What each step has left for later runs."""


@contextlib.contextmanager
def telling_interruption(directory: RunDirectory, narrator: Narrator) -> Iterator[None]:
    """Print what a signal interrupts while the block runs, and end with its exit code.

    Raises:
        SystemExit: A signal came; its code is 128 + its number.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        _tell(directory, narrator, "SIGINT")
        raise SystemExit(exit_code_of(error)) from None
    except SystemExit as error:
        if isinstance(error.code, int) and error.code > 128 and not directory.is_told:
            _tell(directory, narrator, _name(error.code - 128))
        raise


def _tell(directory: RunDirectory, narrator: Narrator, name: str) -> None:
    directory.is_told = True
    steps = directory.steps
    doing = next((_DOING[step] for step in reversed(steps) if step in _DOING), "the beginning")
    kept = [what for step, what in _KEPT.items() if step in steps]
    found = f"kept for the next run: {' and '.join(kept)}; " if kept else "nothing is kept; "
    narrator.tell(f"{name} interrupted {doing}; {found}the record of this run: {directory.path}")


def ended_by(finished: Finished, what: str) -> str:
    """The line about a program that a signal asked to end."""
    assert finished.signal is not None
    name = _name(finished.signal)
    return f"{name} was passed on to {what}, which ended with exit code {finished.returncode}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
