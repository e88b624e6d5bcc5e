# SPDX-License-Identifier: Apache-2.0
"""A job of `fairlead run` in one string: '-n N [--traffic FILE] [--name NAME] PROGRAM ARGS'."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from fairlead.errors import InputError
from fairlead.flows.run_jobs import JobEntry

FORM = "'-n N [--traffic FILE] [--name NAME] PROGRAM ARGS'"

_OPTION_OF = {"-n": "-n", "-np": "-n", "--np": "-n", "--traffic": "--traffic", "--name": "--name"}
# It becomes a folder of the run, and the begin of each line of output.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_LAUNCHER = re.compile(r"(mpirun|mpiexec|srun)([.].*)?", re.ASCII)


def parse_job(text: str) -> JobEntry:
    """The job that the text describes, split into words as a shell would.

    Raises:
        InputError: The text is of another form; the message tells what is wrong with it.
    """
    try:
        return _parsed(shlex.split(text))
    except ValueError as error:
        raise InputError(f"--job {text!r}: {error}; expected {FORM}") from error


def _parsed(words: list[str]) -> JobEntry:
    found: dict[str, str] = {}
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "--":
            break
        name, equals, value = option.partition("=")
        if name not in _OPTION_OF:
            raise ValueError(f"unknown option {option!r}")
        if not equals:
            if not words:
                raise ValueError(f"{name} needs a value")
            value = words.pop(0)
        if _OPTION_OF[name] in found:
            raise ValueError(f"{name} is given twice")
        found[_OPTION_OF[name]] = value
    if not words:
        raise ValueError("there is no program")
    if _LAUNCHER.fullmatch(Path(words[0]).name):
        raise ValueError(f"leave out {words[0]!r}: each job is started by the launcher of --mpirun")
    if not re.fullmatch(r"[0-9]{1,9}", found.get("-n", "")) or int(found["-n"]) < 2:
        raise ValueError(f"-n must be a whole number of at least 2, got {found.get('-n')!r}")
    label = found.get("--name")
    if label is not None and not _NAME.fullmatch(label):
        raise ValueError(f"--name {label!r}: letters, digits, '.', '-' and '_' are allowed")
    traffic = found.get("--traffic")
    return JobEntry(
        tuple(words), int(found["-n"]), None if traffic is None else Path(traffic), label
    )
