# SPDX-License-Identifier: Apache-2.0
"""Files with parameters of Open MPI and UCX, by which hosts, places and networks are chosen.

They act as variables do, and their names do not change when their text does.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

__all__ = ["file_parameter", "parameter_files", "tune_words"]

_OPTIONS = {"tune", "am", "amca", "aprtemca", "apmixmca"}

_VARIABLES = re.compile(r"(OMPI|PRTE|PMIX)_MCA_mca_base_(param_files|envar_files|param_file_.*)")

_MOST_BYTES = 2**20
"""Most that is read of a file; what comes after is no parameter."""


def parameter_files(
    launcher: Path, arguments: Sequence[str] = (), environment: Mapping[str, str] = os.environ
) -> list[tuple[str, str]]:
    """Each of them that can be read, with a hash of its text.

    Args:
        launcher: The program, below whose prefix the site's files are.
        arguments: The user's own arguments for the launcher; `--tune FILE` names one.
        environment: Variables may name some, too.

    Source: what mpirun of Open MPI 4.1.4 and 5.0.11 was seen to open; ucx.conf of UCX 1.18.
    """
    found = []
    for path in dict.fromkeys(_candidates(launcher, arguments, environment)):
        text = _read(path)
        if text is not None:
            found.append((str(path), hashlib.sha256(text).hexdigest()))
    return found


def file_parameter(
    name: str,
    launcher: Path | None,
    environment: Mapping[str, str] = os.environ,
    runtime: str = "openmpi",
) -> str | None:
    """Value of a parameter in the user's file, or else in the site's.

    Args:
        name: The parameter.
        launcher: The program, below whose prefix the site's file is.
        environment: Has the user's folder.
        runtime: Whose files they are: "openmpi", or of version 5's launcher "prte".
    """
    site = f"{runtime}-mca-params.conf"
    files = [Path(environment.get("HOME", "/")) / f".{runtime}" / "mca-params.conf"]
    if launcher is not None:
        files.append(launcher.parent.parent / "etc" / site)
    for path in (*files, Path("/etc/openmpi") / site):
        for line in _lines(path):
            key, is_set, value = line.partition("=")
            if is_set and key.strip() == name:
                return value.strip().strip("\"'")
    return None


def tune_words(arguments: Sequence[str]) -> list[str]:
    """Words of the files after --tune, which are arguments of the launcher, too."""
    words: list[str] = []
    for path in _files_in(_values(arguments, {"tune"})):
        for line in _lines(path):
            with contextlib.suppress(ValueError):  # The launcher itself refuses it.
                words += shlex.split(line)
    return words


def _lines(path: Path) -> list[str]:
    text = (_read(path) or b"").decode("utf-8", "replace")
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def _read(path: Path) -> bytes | None:
    """The text of a file; None where there is none that can be read.

    A shell's <(...) can be read once, by the launcher that it is for.
    """
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return None


def _candidates(
    launcher: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> Iterator[Path]:
    home = Path(environment.get("HOME", "/"))
    for runtime in ("openmpi", "prte", "pmix"):
        yield home / f".{runtime}" / "mca-params.conf"
        yield launcher.parent.parent / "etc" / f"{runtime}-mca-params.conf"
    yield Path("/etc/openmpi/openmpi-mca-params.conf")
    for folder in (environment.get("UCX_CONFIG_DIR", ""), "/etc/ucx", str(home)):
        if folder:
            yield Path(folder) / "ucx.conf"
    yield from _files_in(value for name, value in environment.items() if _VARIABLES.fullmatch(name))
    yield from _files_in(_values(arguments, _OPTIONS))


def _values(arguments: Sequence[str], options: Collection[str]) -> Iterator[str]:
    for option, value in itertools.pairwise(arguments):
        if _name(option) in options and "=" not in option:
            yield value
    for word in arguments:
        if "=" in word and _name(word) in options:
            yield word.partition("=")[2]


def _name(word: str) -> str:
    return word.lstrip("-").partition("=")[0] if word.startswith("-") else ""


def _files_in(lists: Iterable[str]) -> Iterator[Path]:
    """Files of lists with commas or colons between their names."""
    for text in lists:
        yield from (Path(name) for name in re.split("[,:]", text) if name and "\0" not in name)
