# SPDX-License-Identifier: Apache-2.0
"""What every launcher does before it makes its command line: check the spec, write files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from fairlead.act.launch._placed_start import PLACING_OPTIONS
from fairlead.act.launch.host_names import host_name_problem
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.errors import LaunchError, TopologyError
from fairlead.files.archive import write_text

_PROGRAM_LISTS = frozenset({"app", "configfile", "multi-prog"})
"""Launcher options, without dashes, that name a file with several programs."""

_SEVERAL = "starts another program (MPMD), which Fairlead does not support"

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def check_spec(spec: LaunchSpec, host_options: Collection[str]) -> None:
    """Check a spec before anything is written.

    Args:
        spec: The program to start, and where.
        host_options: Launcher options, without dashes, that choose hosts or the number of ranks;
            refused among the user's own when cluster or placement is given.

    Raises:
        TopologyError: The ranks or the placement do not fit the cluster.
        LaunchError: There is no program, or a variable's name or a launcher argument is unusable.
    """
    assert spec.cpus is None or spec.placement is not None
    if not spec.program:
        raise LaunchError("no program to start was given")
    if ":" in spec.program:
        raise LaunchError(f"the argument ':' {_SEVERAL}; nothing was started")
    for word in spec.launcher_args:
        if word == ":" or not _PROGRAM_LISTS.isdisjoint(option_names([word])):
            raise LaunchError(f"launcher argument {word!r} {_SEVERAL}; nothing was started")
    if spec.cluster is not None:
        _refuse(spec.launcher_args, host_options, "the hosts and the number of ranks")
        _check_names(spec.cluster.hosts)
    if spec.placement is not None:
        if spec.placement.num_ranks != spec.num_ranks:
            raise TopologyError(
                f"placement: made for {spec.placement.num_ranks} ranks, the job has "
                f"{spec.num_ranks}"
            )
        if spec.cluster is not None:
            spec.placement.require_fits(spec.cluster)
        _refuse(spec.launcher_args, host_options, "the hosts and the number of ranks")
        if spec.shares_hosts:  # Several jobs have no start of the launcher's own.
            _refuse(spec.launcher_args, PLACING_OPTIONS, "the placement")
        _check_names(spec.placement.host_names())
    for name in spec.env:
        if not _VARIABLE.fullmatch(name):
            raise LaunchError(f"environment variable {name!r} is not a usable name")


def _refuse(arguments: Iterable[str], options: Collection[str], what: str) -> None:
    for name in option_names(arguments):
        if name in options:
            raise LaunchError(f"launcher argument {name!r} overrules {what}; leave it out")


def option_names(arguments: Iterable[str]) -> list[str]:
    """Names of the options among launcher arguments, without dashes and values."""
    return [arg.lstrip("-").split("=", 1)[0] for arg in arguments if arg.startswith("-")]


def _check_names(hosts: Iterable[str]) -> None:
    for host in hosts:
        problem = host_name_problem(host)
        if problem:
            raise TopologyError(problem)


def slots_per_host(spec: LaunchSpec) -> dict[str, int]:
    """Hosts and slots of a spec that has a cluster or a placement."""
    if spec.cluster is not None:
        return dict(zip(spec.cluster.hosts, spec.cluster.slots, strict=True))
    assert spec.placement is not None
    slots: dict[str, int] = {}
    for host in spec.placement.host_names():
        slots[host] = slots.get(host, 0) + 1
    return slots


def named_hosts(spec: LaunchSpec) -> list[tuple[str, int | None]]:
    """Hosts as the user named them, each time with its slots, for a start without a placement.

    Hydra follows the order of such a list, and goes through it again for more ranks.
    """
    if spec.placement is None and spec.cluster is not None and spec.cluster.named:
        return list(spec.cluster.named)
    bare = spec.cluster.bare_hosts if spec.cluster is not None else frozenset()
    return [(host, None if host in bare else slots) for host, slots in slots_per_host(spec).items()]


def login_words(spec: LaunchSpec, host: str, user: str, port: str | None) -> str:
    """User and port of a host by the launcher's names for them, as its files take them."""
    login = spec.cluster.logins.get(host) if spec.cluster is not None else None
    if login is None:
        return ""
    words = [f" {user}={login.user}"] if login.user is not None else []
    words += [f" {port}={login.port}"] if port and login.port is not None else []
    return "".join(words)


def given_hostfile(spec: LaunchSpec, family: str) -> Path | None:
    """The user's own hostfile, where the ranks are the launcher's to place and it can read it."""
    given = spec.cluster.given if spec.cluster is not None and spec.placement is None else None
    return given.hostfile if given is not None and given.family in (None, family) else None


def is_in_allocation(spec: LaunchSpec) -> bool:
    """Whether the launcher finds hosts and slots itself, in the scheduler's allocation."""
    given = spec.cluster.given if spec.cluster is not None and spec.placement is None else None
    return given is not None and given.hostfile is None


def write_once(work_dir: Path, kind: str, lines: Iterable[str]) -> Path:
    """Write a launcher's file, named after its content.

    Several commands may be made before the first one runs, so placements must not share a file.
    """
    text = "".join(f"{line}\n" for line in lines)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = work_dir / f"{kind}-{digest}.txt"
    write_text(path, text)
    return path.absolute()
