# SPDX-License-Identifier: Apache-2.0
"""The hosts that the user named on the command line: in a file, in a list, or by their position."""

from __future__ import annotations

import dataclasses
import re
import socket
from collections.abc import Sequence
from pathlib import Path

import typer

from fairlead.act.launch import parse_hostfile, read_hostfile
from fairlead.act.launch.host_names import names_of_this_machine
from fairlead.errors import InputError
from fairlead.files.lookup import is_file
from fairlead.flows.request import LauncherRequest, find_allocation_of
from fairlead.model.cluster import Cluster

__all__ = ["hosts_named", "parse_cluster"]

_POSITION = re.compile(r"\+n([0-9]{1,6})(?::.*)?", re.IGNORECASE)
_CHOSEN = re.compile(r":(\*|auto)$")
_NO_SLOTS = re.compile(r"[^:]+:0+")
_ALL_EMPTY = re.compile(r"\+e", re.IGNORECASE)


def hosts_named(
    hostfile: Path | None, hosts: str | None, by: LauncherRequest | None = None
) -> Cluster | None:
    """The hosts that the user named in a file, read once, or one by one; None if in neither way.

    Args:
        hostfile: The file.
        hosts: The list. Its positions, `+n1`, count the hosts of the file, of the allocation, or
            else this machine alone, as mpirun(1) of Open MPI has them.
        by: The launcher, which may have a hostfile of its own; None for the one that is found.

    Raises:
        BadParameter: They are named in both ways.
        InputError: The file cannot be read, a name or a number of slots is not understood, or two
            names mean this machine.
    """
    if hosts is None:
        return None if hostfile is None else _require_one_name(read_hostfile(hostfile))
    names = hosts.split(",")
    if any(name.startswith("+") for name in names):
        known = (
            hosts_named(hostfile, None)
            or find_allocation_of(by or LauncherRequest())
            or _this_machine()
        )
        return _select_positions(names, known)
    if hostfile is not None:
        raise typer.BadParameter("does not go together with --hostfile", param_hint="--host")
    # Open MPI 4.1.4 and 5.0.11 start no rank on a host of no slots.
    names = [name for name in names if not _NO_SLOTS.fullmatch(name)] or names
    # A name in a launcher's list of hosts is one slot, unlike a bare name in a hostfile, which
    # Open MPI 4.1.4 and 5.0.11 write HOST:* or HOST:auto here.
    plain = [_CHOSEN.sub("", name) for name in names]
    chosen = {name.strip().rpartition("@")[2] for name in plain if name not in names}
    lines = [name if name not in names or ":" in name else _with_slot(name) for name in plain]
    listed = parse_hostfile("\n".join(lines), "--host")
    named = tuple((host, slots or (None if host in chosen else 1)) for host, slots in listed.named)
    bare = listed.bare_hosts & chosen
    return _require_one_name(dataclasses.replace(listed, bare_hosts=bare, named=named))


def _with_slot(name: str) -> str:
    """A name that is no word stays as it is, so that the error shows what the user wrote."""
    words = name.split()
    return f"{words[0]}:1" if len(words) == 1 else name.strip()


def parse_cluster(text: str) -> Cluster:
    """Hosts and slots from `h0:4,h1:4` or from the hostfile of that name.

    Raises:
        InputError: The hostfile is missing, either is not understood, or two names mean this
            machine.
    """
    if is_file(text) or not ("," in text or ":" in text):
        return _require_one_name(read_hostfile(text))
    return _require_one_name(parse_hostfile(text.replace(",", "\n"), "--cluster"))


def _this_machine() -> Cluster:
    return parse_hostfile(socket.gethostname(), "this machine")


def _select_positions(names: Sequence[str], known: Cluster) -> Cluster:
    """The hosts at these positions, in their own order, with the slots that they have.

    Open MPI 4.1.4 does the same, whatever number of slots is given with a position.

    Raises:
        InputError: A position is not understood, or there is no such host.
    """
    chosen: set[int] = set()
    for name in names:
        found = _POSITION.fullmatch(name)
        if found is None and not _ALL_EMPTY.fullmatch(name):
            raise InputError(
                f"--host: {name!r} does not go together with positions; allowed are +n0, +n1, ... "
                "and +e, which is all of them"
            )
        index = range(known.num_hosts) if found is None else [int(found[1])]
        if index[-1] >= known.num_hosts:
            raise InputError(
                f"--host: {name!r}: {known.source} has {known.num_hosts} hosts, from +n0 to "
                f"+n{known.num_hosts - 1}"
            )
        chosen.update(index)
    return known.select([known.hosts[index] for index in sorted(chosen)])


def _require_one_name(cluster: Cluster) -> Cluster:
    """The same, checked: `localhost` and this machine's name are one host, not two.

    Raises:
        InputError: Two names mean this machine; the message has both.
    """
    local = names_of_this_machine(cluster.hosts)
    if len(local) > 1:
        raise InputError(
            f"{cluster.source}: {local[0]!r} and {local[1]!r} both mean this machine; name it "
            "once, with all its slots"
        )
    return cluster
