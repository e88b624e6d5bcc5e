# SPDX-License-Identifier: Apache-2.0
"""Starts the program on each host by a remote agent, srun or ssh."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairlead.act.launch.host_names import addresses_for_all
from fairlead.act.launch.remote_command import RemoteCommand
from fairlead.errors import LaunchError
from fairlead.files.scratch import scratch_folder
from fairlead.measure.tcp.probes import Member, TcpProbes, tcp_probe_program

__all__ = ["hosts_by_agent", "start_program"]

_END_S = 5.0


@contextlib.contextmanager
def hosts_by_agent(hosts: Sequence[str], command: RemoteCommand) -> Iterator[TcpProbes]:
    """The programs on these hosts, until the end of the block.

    Each ends with its standard input, so none outlives this process.

    Args:
        hosts: Names of the hosts, each once.
        command: How programs are started there.

    Raises:
        LaunchError: A host has no address that others can reach, or nothing can be started.
    """
    program = str(tcp_probe_program())
    with scratch_folder("fairlead-tcp-") as folder, contextlib.ExitStack() as started:
        members: list[Member] = []
        for index, (host, address) in enumerate(zip(hosts, addresses_for_all(hosts), strict=True)):
            words = command(host, [program, "--listen", address])
            members.append(start_program(words, host, address, folder / str(index)))
            started.callback(members[-1].end)
        started.callback(_close_all, members)
        yield TcpProbes(members)


def _close_all(members: Sequence[Member]) -> None:
    """Let all end at the same time."""
    for member in members:
        with contextlib.suppress(OSError):
            member.writer.close()


def start_program(
    words: Sequence[str], host: str, address: str, said: Path | None = None
) -> Member:
    """Start the program on a host.

    Args:
        words: The command.
        host: Name of the host.
        address: By which other hosts reach it.
        said: File for what it writes to standard error; None for this process's own.

    Raises:
        LaunchError: There is no such command.
    """
    try:
        with contextlib.nullcontext() if said is None else said.open("wb") as errors:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
    except OSError as error:
        raise LaunchError(f"{words[0]}: cannot be started: {error.strerror}") from error
    assert process.stdin is not None and process.stdout is not None
    return Member(
        host, address, process.stdout, process.stdin, lambda: _end(process, words[0], said)
    )


def _end(process: subprocess.Popen[str], name: str, said: Path | None) -> str:
    """End the program; the last line that it or its agent wrote to standard error, or ""."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    try:
        lines = [] if said is None else said.read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    if lines:
        return lines[-1].strip()
    return f"{name} ended with exit code {process.returncode}" if process.returncode else ""
