# SPDX-License-Identifier: Apache-2.0
"""Finds hosts that cannot be reached, by the way in which the launcher would reach them."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from fairlead.act.launch.allocation import is_started_by_scheduler
from fairlead.act.launch.host_names import is_local_host
from fairlead.act.launch.launch_spec import Launcher
from fairlead.act.launch.slurm import is_reached_by_launchers
from fairlead.errors import LaunchError
from fairlead.files.scratch import scratch_folder
from fairlead.model.cluster import Cluster

__all__ = ["first_installed", "remote_agent", "unreachable_hosts"]

_POLL_S = 0.01


def unreachable_hosts(
    launcher: Launcher,
    hosts: Cluster | Iterable[str],
    timeout_s: float = 10.0,
    launcher_args: Sequence[str] = (),
) -> dict[str, str]:
    """Run `true` on all hosts at the same time, by the launcher's own remote agent.

    This machine is left out. Inside an allocation the launchers start their daemons by the
    scheduler, and ssh is often closed; hosts are then checked only if an agent is named.

    Args:
        launcher: Determines the agent.
        hosts: Host names, or a cluster.
        timeout_s: Time for all of them together.
        launcher_args: The user's own launcher arguments; they may name the agent.

    Returns:
        For each host that did not answer, the reason in one line.

    Raises:
        LaunchError: The agent is not installed, or the option that names it cannot be parsed.
    """
    named = remote_agent(launcher, launcher_args)
    names = hosts.hosts if isinstance(hosts, Cluster) else tuple(hosts)
    others = [host for host in names if not is_local_host(host)]
    is_by_ssh = named is not None or not (
        is_started_by_scheduler(shutil.which) and is_reached_by_launchers(names)
    )
    if not others or not is_by_ssh:
        return {}
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={max(1, int(timeout_s))}"]
    agent = ["ssh", *options] if named is None else named
    if shutil.which(agent[0]) is None:
        raise LaunchError(
            f"{agent[0]}: no such program, and {launcher.name} needs it to reach other hosts; "
            f"install it (Debian, Ubuntu: openssh-client) or set {launcher.agent_variables[0]}"
        )
    return _ask_all(agent, others, timeout_s)


def remote_agent(launcher: Launcher, launcher_args: Sequence[str] = ()) -> list[str] | None:
    """Program and arguments that reach another host, where the user named them; None for ssh.

    Raises:
        LaunchError: The option or variable is empty, or its quotes do not match.
    """
    for before, value in itertools.pairwise(launcher_args):
        if before in launcher.agent_options:
            return first_installed(value, before)
    for name in launcher.agent_variables:
        if os.environ.get(name):
            return first_installed(os.environ[name], name)
    return None


def first_installed(value: str, origin: str) -> list[str]:
    """Program and arguments of an agent; of alternatives, "ssh : rsh", the first that is there.

    Args:
        value: The user's text.
        origin: The option or variable that it is from.

    Raises:
        LaunchError: It names no program, or its quotes do not match.
    """
    try:
        agents = [words for part in value.split(" : ") if (words := shlex.split(part))]
    except ValueError as error:
        raise LaunchError(f"{origin}: {value!r}: {str(error).lower()}") from error
    if not agents:
        raise LaunchError(f"{origin}: {value!r} names no program to reach other hosts by")
    return next((agent for agent in agents if shutil.which(agent[0])), agents[0])


def _ask_all(agent: list[str], hosts: list[str], timeout_s: float) -> dict[str, str]:
    reasons: dict[str, str] = {}
    asked: dict[str, subprocess.Popen[bytes]] = {}
    deadline = time.monotonic() + timeout_s
    # Named files, which need not stay open: there may be more hosts than a process may have open
    # files.
    with scratch_folder("fairlead-reach-") as folder:
        said = {host: folder / str(number) for number, host in enumerate(hosts)}
        try:
            for host in hosts:
                asked[host] = _ask([*agent, host, "true"], said[host])
            while asked and time.monotonic() < deadline:
                for host in [name for name, each in asked.items() if each.poll() is not None]:
                    returncode = asked.pop(host).returncode
                    if returncode != 0:
                        reasons[host] = _reason(agent[0], returncode, said[host])
                time.sleep(_POLL_S)
            late = f"no answer within {timeout_s:g} s"
            reasons.update({host: late for host in asked})
        finally:
            for process in asked.values():
                _end(process)
    return {host: reasons[host] for host in hosts if host in reasons}


def _ask(command: list[str], said: Path) -> subprocess.Popen[bytes]:
    try:
        with said.open("wb") as errors:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
    except OSError as error:
        raise LaunchError(f"{command[0]}: cannot be started: {error.strerror}") from error


def _reason(agent: str, returncode: int, said: Path) -> str:
    with said.open("rb") as errors:
        text = errors.read(4096).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else f"{agent} ended with exit code {returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    # The agent leads a session of its own, so this ends its helpers too.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
