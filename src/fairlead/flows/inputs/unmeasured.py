# SPDX-License-Identifier: Apache-2.0
"""A run in an allocation whose hosts could not be measured: it goes on by the launcher alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from fairlead.act.launch import Launcher, SchedulerLauncher, SharedInput
from fairlead.errors import Error, LaunchError, ProbeError
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.traced_start import TracedProgram

__all__ = ["UnmeasuredError", "raise_unmeasured"]


class UnmeasuredError(Error):
    """The hosts could not be measured; the program has not been started for the user yet.

    Attributes:
        launcher: The launcher of the program.
        directory: Folder of the run.
        stdin: Standard input of the program, of which a traced run may have read.
        program: What a traced run has shown; None where there was none before.
    """

    def __init__(
        self,
        why: str,
        launcher: Launcher,
        directory: RunDirectory,
        stdin: SharedInput,
        program: TracedProgram | None = None,
    ) -> None:
        super().__init__(why)
        self.launcher = launcher
        self.directory = directory
        self.stdin = stdin
        self.program = program


@contextlib.contextmanager
def raise_unmeasured(
    launcher: Launcher,
    directory: RunDirectory,
    stdin: SharedInput,
    program: TracedProgram | None = None,
) -> Iterator[None]:
    """Let a failure to measure be an `UnmeasuredError` where the hosts are the scheduler's.

    Hosts that an MPI's own launcher reaches are the user's to correct: there the failure stays what
    it is.

    Raises:
        UnmeasuredError: The block failed to start a program of ours, or to measure by it.
    """
    try:
        yield
    except (LaunchError, ProbeError) as error:
        if not isinstance(launcher, SchedulerLauncher):
            raise
        raise UnmeasuredError(str(error), launcher, directory, stdin, program) from error
