# SPDX-License-Identifier: Apache-2.0
"""The hostfile that Open MPI reads where neither the user nor a scheduler names hosts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairlead.act.launch.hostfile import names_hosts, read_hostfile
from fairlead.act.launch.launch_spec import Launcher
from fairlead.act.launch.parameter_files import file_parameter, tune_words
from fairlead.errors import InputError
from fairlead.files.lookup import is_file
from fairlead.model.cluster import Cluster

__all__ = ["default_hosts"]


class _Runtime(NamedTuple):
    """What starts the ranks for a version of Open MPI.

    Attributes:
        prefix: Beginning of variables that set its parameters.
        parameter: The one that names the hostfile.
        options: Launcher options, without dashes, that set its parameters.
        folder: Name of the runtime in names of files.
    """

    prefix: str
    parameter: str
    options: frozenset[str]
    folder: str


# Tried with 4.1.4 and 5.0.11: each reads its own names and files alone.
_OF_4 = _Runtime(
    "OMPI_MCA_", "orte_default_hostfile", frozenset({"mca", "gmca", "omca"}), "openmpi"
)
_OF_5 = _Runtime(
    "PRTE_MCA_", "prte_default_hostfile", frozenset({"mca", "gmca", "prtemca", "gprtemca"}), "prte"
)

_NONE = "none"
"""Value by which no such file is read, not even the installation's."""


def default_hosts(
    launcher: Launcher, arguments: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Cluster | None:
    """The hosts of Open MPI's default hostfile; None where it has none, or for other launchers.

    Args:
        launcher: The user's launcher.
        arguments: The user's own arguments for it.
        env: The environment to read; None for this process's own.

    Raises:
        InputError: The file that the user or the site names cannot be read or is not understood;
            the message has the parameter.
    """
    if launcher.family != "openmpi":
        return None
    env = os.environ if env is None else env
    runtime = _OF_4 if launcher.version[0] == 4 else _OF_5
    variable = runtime.prefix + runtime.parameter
    path = (
        _argument(runtime, arguments)
        or _argument(runtime, tune_words(arguments))
        or env.get(variable)
        or file_parameter(runtime.parameter, launcher.path, env, runtime.folder)
    )
    if path == _NONE:
        return None
    if path:
        try:
            return read_hostfile(path)
        except InputError as error:
            name = variable if env.get(variable) == path else runtime.parameter
            raise InputError(f"{name}: {error}") from error
    own = _of_installation(launcher.path, f"{runtime.folder}-default-hostfile")
    # It comes with comments alone.
    return read_hostfile(own) if own is not None and names_hosts(own) else None


def _argument(runtime: _Runtime, words: Sequence[str]) -> str | None:
    for option, name, value in zip(words, words[1:], words[2:], strict=False):
        is_option = option.startswith("-") and option.lstrip("-") in runtime.options
        if is_option and name == runtime.parameter:
            return value
    return None


def _of_installation(launcher: Path, name: str) -> Path | None:
    """The file of the launcher's own installation; Debian has it below /etc."""
    folders = (launcher.parent.parent / "etc", Path("/etc/openmpi"), Path("/etc"))
    return next((path / name for path in folders if is_file(path / name)), None)
