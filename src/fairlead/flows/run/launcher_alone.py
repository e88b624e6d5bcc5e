# SPDX-License-Identifier: Apache-2.0
"""Starts the user's program as its launcher alone would, and notes how it ended."""

from __future__ import annotations

from fairlead.act import launch
from fairlead.act.launch import Launcher, LaunchSpec, SharedInput
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.interruption import ended_by
from fairlead.narrator import Narrator

__all__ = ["start_by_launcher_alone"]


def start_by_launcher_alone(
    launcher: Launcher,
    spec: LaunchSpec,
    directory: RunDirectory,
    narrator: Narrator,
    stdin: SharedInput | None = None,
) -> int:
    """Start the program and wait for it; standard streams and signals are passed on.

    Args:
        launcher: Starts it.
        spec: What is started.
        directory: Gets the command and its end.
        narrator: Reports what a signal has ended.
        stdin: Standard input that an earlier run of the program may have read; None: there was no
            such run.

    Returns:
        The exit code of the launcher.
    """
    command = launcher.prepare_command(spec, directory.path)
    directory.record("start", {"launcher_command": command})
    with directory.record_failure(), (stdin or SharedInput()).open(last=True) as source:
        finished = launch.run(command, stdin=source, is_users=True)
    end: dict[str, object] = {"exit_code": finished.returncode, "seconds": finished.seconds}
    if finished.signal is not None:
        end["signal"] = finished.signal
    # First, as those who read our lines may have gone with the signal.
    directory.record("end", end)
    if finished.signal is not None:
        narrator.report(ended_by(finished, "the program"))
    return finished.returncode
