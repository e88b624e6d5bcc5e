# SPDX-License-Identifier: Apache-2.0
"""Commands on other hosts without an MPI launcher: by its named agent, flux, srun, or ssh."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence

from fairlead.act.launch.catalogue import LAUNCHERS
from fairlead.act.launch.flux_instance import is_in_flux, rank_of_flux_host
from fairlead.act.launch.host_names import is_local_host
from fairlead.act.launch.launch_spec import Launcher
from fairlead.act.launch.reach import first_installed, remote_agent
from fairlead.act.launch.slurm import is_reached_by_launchers
from fairlead.errors import LaunchError

__all__ = ["RemoteCommand", "remote_command", "remote_command_of"]

RemoteCommand = Callable[[str, Sequence[str]], list[str]]
"""From a host and a program with its arguments the command that starts it there."""

_SSH = ("ssh", "-o", "BatchMode=yes")

# One process, whatever the job's own options say, and alongside what runs there already.
_SRUN = ("srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet", "--nodelist={host}")

# Past the scheduler, so that it waits for no cores. By itself it keeps lines back until it ends.
_FLUX = ("stdbuf", "--output=L", "flux", "exec", "--quiet", "--rank={rank}")


def remote_command(agent: str | None = None, timeout_s: float = 10.0) -> RemoteCommand:
    """How programs are started on other hosts; on this one they are started directly.

    Args:
        agent: The user's program that reaches other hosts, with its arguments; None takes the one
            that a launcher's variable names, else flux in an instance of Flux, else srun in a job
            of Slurm, else ssh.
        timeout_s: Time after which ssh gives up to connect.

    Raises:
        LaunchError: The agent's text cannot be read, or it is not installed.
    """
    ssh = [*_SSH, "-o", f"ConnectTimeout={max(1, int(timeout_s))}"]
    return _command_by(_find_agent(agent), ssh, "name another one by --agent, or use --join")


def remote_command_of(launcher: Launcher, launcher_args: Sequence[str] = ()) -> RemoteCommand:
    """How programs are started on other hosts in the way in which a launcher starts its daemons.

    Args:
        launcher: The user's launcher.
        launcher_args: The user's own arguments for it, which may name the way.

    Raises:
        LaunchError: The option or variable that names an agent cannot be read.
    """
    remedy = f"or set {launcher.agent_variables[0]}" if launcher.agent_variables else "or use srun"
    return _command_by(remote_agent(launcher, launcher_args), _SSH, remedy)


def _command_by(named: Sequence[str] | None, ssh: Sequence[str], remedy: str) -> RemoteCommand:
    words = [*(named or ssh)]
    has_flux = named is None and is_in_flux() and shutil.which("flux") is not None
    has_srun = named is None and "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None

    def command(host: str, program: Sequence[str]) -> list[str]:
        if is_local_host(host):
            return [*program]
        if has_flux and (rank := rank_of_flux_host(host)) is not None:
            return [*(word.format(rank=rank) for word in _FLUX), *program]
        if has_srun and is_reached_by_launchers([host]):
            return [*(word.format(host=host) for word in _SRUN), *program]
        if shutil.which(words[0]) is None:
            raise LaunchError(
                f"{words[0]}: no such program, and it is needed to reach other hosts; install it "
                f"(Debian, Ubuntu: openssh-client), {remedy}"
            )
        return [*words, host, shlex.join(program)]

    return command


def _find_agent(agent: str | None) -> list[str] | None:
    if agent is not None:
        return first_installed(agent, "--agent")
    for launcher in LAUNCHERS:
        for name in launcher.agent_variables:
            if os.environ.get(name):
                return first_installed(os.environ[name], name)
    return None
