# SPDX-License-Identifier: Apache-2.0
"""Reads the hostfiles of Open MPI, MPICH, SGE and the Kubernetes MPI operator into a Cluster."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from fairlead.act.launch.host_names import host_name_problem
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster, GivenHosts, Login

__all__ = ["names_hosts", "parse_hostfile", "read_hostfile"]

# What Open MPI 4.1.4 and 5.0.11 (first three) and Hydra 4.0.2 (`user`, `binding`) accept; each was
# tried.
_NAMES = {
    "slots": r"slots|cpu|count",
    "most": r"max[_-](?:slots|cpu|count)|(?:slots|cpu|count)[_-]max",
    "user": r"user[_-]?name|user",
    "port": r"port",
    "binding": r"binding",
}
_SETTING = re.compile(
    "(?:" + "|".join(f"(?P<{key}>{names})" for key, names in _NAMES.items()) + r")\s*=\s*(\S+)"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#[^\n]*", re.DOTALL)
_HYDRA = re.compile(r"(?P<host>[^:\s]+):(?P<slots>[^:\s]*)")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\$?", re.ASCII)
# SGE's PE_HOSTFILE: host, slots, queue and processors (sge_pe(5)).
_SGE = re.compile(r"(?P<host>\S+)\s+(?P<slots>\d+)\s+\S+\s+\S+")
MOST_BYTES = 2**24
"""Largest hostfile: a hundred thousand hosts with all that a line may say take less."""

_MOST_SLOTS = 1_000_000
_LARGEST_PORT = 65_535


class _Line(NamedTuple):
    """One host of a hostfile.

    Attributes:
        host: Its name.
        slots: Its slots; None where the line does not give them.
        login: User and port, where given.
        binding: How its ranks are bound, where given (Hydra's).
        form: "bare", "slots=" (Open MPI's), ":" (Hydra's) or "queue" (SGE's, of no launcher).
    """

    host: str
    slots: int | None
    login: Login
    binding: str | None
    form: str


_READERS_OF_FORM = {"bare": {"openmpi", "mpich"}, "slots=": {"openmpi"}, ":": {"mpich"}}

# Forms of a host's first and a further line whose slots are added, a bare name for one slot. Open
# MPI 4.1.4 and 5.0.11 refuse a number after other lines, but not a bare name after a number;
# Hydra 4.0.2 adds whatever comes.
_ADDING_FORMS = {
    ("bare", "bare"),
    ("slots=", "bare"),
    *((first, further) for first in ("bare", ":") for further in ("bare", ":")),
    ("queue", "queue"),
}

# What the launchers named above refuse, and is read here all the same: Hydra's comments begin with
# '#' alone; Open MPI's lines do not end in a carriage return, its numbers have no quotes, and it
# has other words for `user`.
_REFUSED = (
    ("mpich", re.compile(r"//|/\*")),
    ("openmpi", re.compile(r"\r|=\s*[\"']\d|\suser\s*=")),
)


def read_hostfile(path: Path | str) -> Cluster:
    """Read a hostfile of Open MPI or MPICH, such as `host slots=N max_slots=M` or `host:N`.

    Hosts keep the order of the file, without those of `slots=0`, on which Open MPI starts no rank.
    A bare name or `host:N` adds its slots each time, as the launchers read it. The slots of a bare
    name are the launcher's to choose (`Cluster.bare_hosts`).

    Raises:
        InputError: The file is missing, not text, or empty, or a line is not understood; the
            message names file and line.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputError(f"{path}: not a hostfile: is larger than {MOST_BYTES} bytes")
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a hostfile: not UTF-8 text") from error
    except OSError as error:
        raise InputError(f"{path}: hostfile cannot be read: {error.strerror}") from error
    lines = _parse(text, str(path))
    # What is no file, such as a shell's <(...), can be read once: the launcher gets a copy.
    given = _given_hosts(path.absolute(), text, lines) if is_file else None
    return _cluster(lines, str(path), given)


def names_hosts(path: Path) -> bool:
    """Whether a file has more than comments; so has one that cannot be read."""
    try:
        return bool(_COMMENT.sub("", path.read_text(encoding="utf-8")).strip())
    except (OSError, UnicodeDecodeError):
        return True


def parse_hostfile(text: str, origin: str) -> Cluster:
    """Parse the text of a hostfile; `origin` names it in errors.

    Raises:
        InputError: A line is not understood, or there is no host.
    """
    return _cluster(_parse(text, origin), origin, None)


def _parse(text: str, origin: str) -> list[_Line]:
    if "\0" in text:
        raise InputError(f"{origin}: not a hostfile: not a text file")
    # Line breaks inside a comment stay, so that errors name the right line.
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines: list[_Line] = []
    form_of_host: dict[str, str] = {}
    # Not splitlines(): for the launchers, form feeds and the like do not end a line.
    for number, raw in enumerate(plain.split("\n"), start=1):
        line = raw.strip()
        if not line:
            continue
        try:
            parsed = _parse_line(line)
            first = form_of_host.get(parsed.host)
            if first is not None and (first, parsed.form) not in _ADDING_FORMS:
                raise ValueError(
                    f"host {parsed.host!r} is named again; give it one line with all its slots"
                )
        except ValueError as error:
            raise InputError(f"{origin}:{number}: {error}") from error
        lines.append(parsed)
        form_of_host.setdefault(parsed.host, parsed.form)
    if not lines:
        raise InputError(f"{origin}: the hostfile names no host; expected lines 'HOST slots=N'")
    return lines


def _given_hosts(path: Path, text: str, lines: list[_Line]) -> GivenHosts | None:
    """The file as a launcher reads it itself; None where a list is to be written for each."""
    readers = {"openmpi", "mpich"}
    for line in lines:
        readers &= _READERS_OF_FORM.get(line.form, set())
    readers -= {family for family, refused in _REFUSED if refused.search(text)}
    if not readers:
        return None
    return GivenHosts(path, None if len(readers) > 1 else readers.pop())


def _cluster(lines: list[_Line], origin: str, given: GivenHosts | None) -> Cluster:
    slots_of_host: dict[str, int] = {}
    lines = [line for line in lines if line.slots != 0]
    if not lines:
        raise InputError(f"{origin}: no host of it has a slot")
    for line in lines:
        slots = 1 if line.slots is None else line.slots
        slots_of_host[line.host] = slots_of_host.get(line.host, 0) + slots
    numbered = {line.host for line in lines if line.slots is not None}
    return Cluster(
        tuple(slots_of_host),
        tuple(slots_of_host.values()),
        source=origin,
        bare_hosts=frozenset(line.host for line in lines if line.slots is None) - numbered,
        logins={line.host: line.login for line in lines if line.login != Login()},
        bindings={line.host: line.binding for line in lines if line.binding is not None},
        given=given,
        named=tuple((line.host, line.slots) for line in lines),
    )


def _parse_line(line: str) -> _Line:
    if sge := _SGE.fullmatch(line):
        if problem := host_name_problem(sge["host"]):
            raise ValueError(problem)
        num_slots = _slot_count(sge["slots"], "slots", least=0)
        return _Line(sge["host"], num_slots, Login(), None, "queue")
    host, *others = line.split(None, 1)
    rest = others[0] if others else ""
    settings = _settings(rest, line)
    user, at, name = host.rpartition("@")
    host = name
    if at:
        settings.setdefault("user", user)
    slots = _slot_count(settings["slots"], "slots", least=0) if "slots" in settings else None
    hydra = _HYDRA.fullmatch(host)
    is_hydras = hydra is not None or "binding" in settings
    if is_hydras and settings.keys() - {"user", "binding"}:
        raise ValueError(f"unknown form {line!r}; expected 'HOST:N' or 'HOST slots=N'")
    if hydra:
        host, slots = hydra["host"], _slot_count(hydra["slots"], "slots")
    problem = host_name_problem(host)
    if problem:
        raise ValueError(problem)
    if "most" in settings and (most := _slot_count(settings["most"], "max_slots")) < (slots or 1):
        raise ValueError(f"host {host!r}: slots={slots} is more than max_slots={most}")
    form = ":" if is_hydras else "bare" if slots is None and not settings else "slots="
    return _Line(host, slots, _login(settings), settings.get("binding"), form)


def _settings(text: str, line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _SETTING.finditer(text):
        key = next(name for name in _NAMES if match[name] is not None)
        value = match[len(_NAMES) + 1]
        if key in found:
            raise ValueError(f"{match[key]}= is given twice in {line!r}")
        found[key] = value.strip("\"'")
    if _SETTING.sub("", text).strip():
        raise ValueError(
            f"unknown form {line!r}; expected 'HOST', 'HOST slots=N', 'HOST slots=N max_slots=M' "
            "or 'HOST:N', with username= and port= where they are needed"
        )
    return found


def _login(settings: dict[str, str]) -> Login:
    user, port = settings.get("user"), settings.get("port")
    if user is not None and not _USER.fullmatch(user):
        raise ValueError(f"user name {user!r} is not usable")
    if port is None:
        return Login(user)
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= _LARGEST_PORT:
        raise ValueError(f"port must be a whole number from 1 to {_LARGEST_PORT}, got {port!r}")
    return Login(user, int(port))


def _slot_count(text: str, name: str, least: int = 1) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or not least <= int(text) <= _MOST_SLOTS:
        allowed = f"a whole number from {least} to {_MOST_SLOTS}"
        raise ValueError(f"{name} must be {allowed}, got {text!r}")
    return int(text)
