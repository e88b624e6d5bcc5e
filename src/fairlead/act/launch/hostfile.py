# SPDX-License-Identifier: Apache-2.0
"""Reads the hostfiles of Open MPI, MPICH and the Kubernetes MPI operator into a Cluster."""

from __future__ import annotations

import re
from pathlib import Path

from fairlead.act.launch.host_names import host_name_problem
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster

__all__ = ["parse_hostfile", "read_hostfile"]

_SETTING = re.compile(r"(slots|max[_-]slots)\s*=\s*(\S+)")
_MPICH = re.compile(r"(?P<host>[^:\s]+):(?P<slots>[^:\s]*)")
_MOST_SLOTS = 1_000_000


def read_hostfile(path: Path | str) -> Cluster:
    """Read a hostfile: `host slots=N max_slots=M`, `host:N`, or bare names, one slot per line.

    Hosts keep the order of the file. A bare name or `host:N` that is repeated adds its slots each
    time, as the launchers read it.

    Raises:
        InputError: The file is missing, not text, or empty, or a line is not understood; the
            message names file and line.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a hostfile: not UTF-8 text") from error
    except OSError as error:
        raise InputError(f"{path}: hostfile cannot be read: {error.strerror}") from error
    return parse_hostfile(text, str(path))


def parse_hostfile(text: str, origin: str) -> Cluster:
    """Parse the text of a hostfile; `origin` names it in errors.

    Raises:
        InputError: A line is not understood, or there is no host.
    """
    if "\0" in text:
        raise InputError(f"{origin}: not a hostfile: not a text file")
    slots_of_host: dict[str, int] = {}
    form_of_host: dict[str, str] = {}
    # Not splitlines(): for the launchers, form feeds and the like do not end a line.
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        try:
            host, slots, form = _parse_line(line)
            # Open MPI refuses two slot counts for one host; MPICH and bare names add up.
            if form_of_host.setdefault(host, form) != form or (
                form == "slots=" and host in slots_of_host
            ):
                raise ValueError(
                    f"host {host!r} is named again; give it one line with all its slots"
                )
        except ValueError as error:
            raise InputError(f"{origin}:{number}: {error}") from error
        slots_of_host[host] = slots_of_host.get(host, 0) + slots
    if not slots_of_host:
        raise InputError(f"{origin}: the hostfile names no host; expected lines 'HOST slots=N'")
    return Cluster(tuple(slots_of_host), tuple(slots_of_host.values()), source=origin)


def _parse_line(line: str) -> tuple[str, int, str]:
    """Host, slots and form ("bare", "slots=" or ":") of one line."""
    host, *others = line.split(None, 1)
    rest = others[0] if others else ""
    settings = _settings(rest, line)
    slots = settings.get("slots")
    mpich = _MPICH.fullmatch(host)
    if mpich:
        if rest.strip():
            raise ValueError(f"unknown form {line!r}; expected 'HOST:N' or 'HOST slots=N'")
        host, slots = mpich["host"], _slot_count(mpich["slots"], "slots")
    problem = host_name_problem(host)
    if problem:
        raise ValueError(problem)
    most = settings.get("max_slots")
    if most is not None and slots is not None and most < slots:
        raise ValueError(f"host {host!r}: slots={slots} is more than max_slots={most}")
    if slots is None:
        return host, 1, "bare"
    return host, slots, ":" if mpich else "slots="


def _settings(text: str, line: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in _SETTING.findall(text):
        key = name.replace("-", "_")
        if key in found:
            raise ValueError(f"{key}= is given twice in {line!r}")
        found[key] = _slot_count(value, key)
    if _SETTING.sub("", text).strip():
        raise ValueError(
            f"unknown form {line!r}; expected 'HOST', 'HOST slots=N', 'HOST slots=N max_slots=M' "
            "or 'HOST:N'"
        )
    return found


def _slot_count(text: str, name: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or not 1 <= int(text) <= _MOST_SLOTS:
        raise ValueError(f"{name} must be a whole number from 1 to {_MOST_SLOTS}, got {text!r}")
    return int(text)
