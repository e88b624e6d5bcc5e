# SPDX-License-Identifier: Apache-2.0
"""Starts what a setup names, on each host and on this machine, for as long as a block lasts."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairlead.act.launch.remote_command import RemoteCommand
from fairlead.act.monitoring.setup import Setup
from fairlead.errors import LaunchError
from fairlead.files.scratch import scratch_folder

__all__ = ["Started", "start_setup"]

_END_S = 10.0

_ERROR = re.compile(r"\b(error|fatal|cannot|failed)\b", re.IGNORECASE)

# It ends with its standard input, so that none outlives the process that started it, even where
# that is reached by ssh.
_UNTIL_INPUT_ENDS = (
    "cd {folder} && exec 3<&0 && "
    "{{ {{ cat <&3; kill $$; }} > /dev/null 2>&1 & exec {command} < /dev/null 3<&-; }}"
)


@dataclasses.dataclass(frozen=True)
class Started:
    """What was started.

    Attributes:
        processes: By the host, or by the command on this machine.
        logs: File with what each wrote to standard error, by the same.
    """

    processes: Mapping[str, subprocess.Popen[bytes]]
    logs: Mapping[str, Path]

    def lines_of_ended(self) -> Iterator[str]:
        """A line for each that has ended, with its last error, or else with its last line."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                lines = self.logs[name].read_text(errors="replace").split("\n")
                said = [line.strip() for line in reversed(lines) if line.strip()] or [""]
                # ldmsd reports in the end that it has cleaned up.
                last = next((line for line in said if _ERROR.search(line)), said[0])
                yield f"{name}: ended with exit code {process.returncode}: {last:.200}"


@contextlib.contextmanager
def start_setup(
    setup: Setup, folder: Path, hosts: Sequence[str], command: RemoteCommand
) -> Iterator[Started]:
    """Run the setup's programs until the end of the block.

    Args:
        setup: Its files have been written.
        folder: They are there, on a file system that all hosts share.
        hosts: Each runs what the setup has for hosts.
        command: How programs are started there.

    Raises:
        LaunchError: There is no program that reaches other hosts.
    """
    at = shlex.quote(str(folder.absolute()))

    def script(words: Sequence[str]) -> list[str]:
        return ["sh", "-c", _UNTIL_INPUT_ENDS.format(folder=at, command=shlex.join(words))]

    commands = {host: command(host, script(setup.on_hosts)) for host in hosts}
    commands |= {words[0]: script(words) for words in setup.here}
    with scratch_folder("fairlead-monitoring-") as scratch, contextlib.ExitStack() as stack:
        processes: dict[str, subprocess.Popen[bytes]] = {}
        logs: dict[str, Path] = {}
        stack.callback(_end, processes)
        for number, (name, words) in enumerate(commands.items()):
            logs[name] = scratch / str(number)
            with logs[name].open("wb") as errors:
                processes[name] = _start(words, errors.fileno())
        yield Started(processes, logs)


def _start(words: Sequence[str], errors: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise LaunchError(f"{words[0]}: cannot be started: {error.strerror}") from error


def _end(processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Close the input of all, so that they end at the same time."""
    for process in processes.values():
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
    for process in processes.values():
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
