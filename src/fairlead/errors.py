# SPDX-License-Identifier: Apache-2.0
"""The errors that Fairlead raises; every message names the place, the value and what is allowed."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Error",
    "InputError",
    "LabError",
    "LaunchError",
    "NoTraceError",
    "ProbeError",
    "ShapeError",
    "TopologyError",
    "TraceError",
    "TracedRunEndedError",
]


class Error(Exception):
    """Root of all errors that Fairlead raises on purpose.

    Attributes:
        exit_code: Exit code of the command line.
    """

    exit_code = 1


class InputError(Error):
    """A file, option or argument from outside is not usable; the message names it."""


class ShapeError(InputError):
    """Two arrays that belong together differ in shape; the message gives both shapes."""


class TopologyError(InputError):
    """Hosts, slots or a placement do not fit one another."""


class LaunchError(Error):
    """An MPI launcher is missing, unknown, or failed to start the program."""


class ProbeError(Error):
    """The network could not be measured; the message names the host."""


class TraceError(Error):
    """The traced run gave no usable traffic; if the program failed, its exit code is passed on.

    Attributes:
        exclusive: Files in the working folder that the run created with O_EXCL and left there.
        seconds: Time of the run; None where it was not started.
        signal: The signal that asked for its end; None without one.
        is_stopped: Whether it was ended since its traffic was to be known.
        traffic: What its ranks have left of the trace, a `Traffic`; None where that is nothing.
    """

    exclusive: tuple[str, ...] = ()
    seconds: float | None = None
    signal: int | None = None
    is_stopped: bool = False
    traffic: Any = None

    def __init__(self, message: str, exit_code: int = 1):
        super().__init__(message)
        self.exit_code = exit_code


class NoTraceError(TraceError):
    """The traced run ended without an error, but left no trace that can be used."""


class TracedRunEndedError(TraceError):
    """A signal asked for the end of the traced run; its exit code is the launcher's, maybe 0."""


class LabError(Error):
    """The emulated cloud could not be built, reached or taken down."""
