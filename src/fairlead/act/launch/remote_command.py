# SPDX-License-Identifier: Apache-2.0
"""Commands on other hosts without an MPI launcher: by its agent if one is named, srun, or ssh."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence

from fairlead.act.launch.catalogue import LAUNCHERS
from fairlead.act.launch.host_names import is_local_host
from fairlead.act.launch.reach import first_installed
from fairlead.errors import LaunchError

__all__ = ["RemoteCommand", "remote_command"]

RemoteCommand = Callable[[str, Sequence[str]], list[str]]
"""From a host and a program with its arguments the command that starts it there."""

_SSH = ("ssh", "-o", "BatchMode=yes")

# One process, whatever the job's own options say, and alongside what runs there already.
_SRUN = ("srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet", "--nodelist={host}")


def remote_command(agent: str | None = None, timeout_s: float = 10.0) -> RemoteCommand:
    """How programs are started on other hosts; on this one they are started directly.

    Args:
        agent: The user's program that reaches other hosts, with its arguments; None takes the one
            that a launcher's variable names, else srun in a job of Slurm, else ssh.
        timeout_s: Time after which ssh gives up to connect.

    Raises:
        LaunchError: The agent's text cannot be read, or it is not installed.
    """
    named = _named_agent(agent)
    if named is None and "SLURM_JOB_ID" in os.environ and shutil.which("srun"):
        return _by_srun
    words = named or [*_SSH, "-o", f"ConnectTimeout={max(1, int(timeout_s))}"]

    def by_agent(host: str, program: Sequence[str]) -> list[str]:
        if is_local_host(host):
            return [*program]
        if shutil.which(words[0]) is None:
            raise LaunchError(
                f"{words[0]}: no such program, and it is needed to reach other hosts; install it "
                "(Debian, Ubuntu: openssh-client), name another one by --agent, or use --join"
            )
        return [*words, host, shlex.join(program)]

    return by_agent


def _named_agent(agent: str | None) -> list[str] | None:
    if agent is not None:
        return first_installed(agent, "--agent")
    for launcher in LAUNCHERS:
        for name in launcher.agent_variables:
            if os.environ.get(name):
                return first_installed(os.environ[name], name)
    return None


def _by_srun(host: str, program: Sequence[str]) -> list[str]:
    if is_local_host(host):
        return [*program]
    return [*(word.format(host=host) for word in _SRUN), *program]
