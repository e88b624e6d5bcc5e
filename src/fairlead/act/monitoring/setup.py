# SPDX-License-Identifier: Apache-2.0
"""What is written for a monitoring system: its files, and what the user does with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.archive import write_text

__all__ = ["Setup", "require_plain_names", "write_setup"]


@dataclasses.dataclass(frozen=True)
class Setup:
    """Files, and how they are used.

    Attributes:
        files: Texts by name.
        steps: Commands, each with what it does before it.
        on_hosts: The command of each host, in the folder of the files; it stays in the foreground.
        here: Commands of this machine, likewise.
        metrics: The source by which the oracle then reads.
        every_device: The same source with every device, physical or not.
    """

    files: Mapping[str, str]
    steps: Sequence[tuple[str, str]]
    on_hosts: Sequence[str]
    here: Sequence[Sequence[str]]
    metrics: str
    every_device: str


def write_setup(setup: Setup, folder: Path) -> list[Path]:
    """Write the files into a folder, which is made; none that is there is overwritten.

    Raises:
        InputError: One is there already, or cannot be written; nothing was written then.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    there = [name for name in setup.files if (folder / name).exists()]
    if there:
        raise InputError(f"{folder / there[0]}: is there already; give another folder by -o")
    for name, text in setup.files.items():
        write_text(folder / name, text)
    return [folder / name for name in setup.files]


def require_plain_names(hosts: Sequence[str]) -> None:
    """Check that names of hosts mean nothing else in a configuration.

    Raises:
        InputError: One has a letter that might.
    """
    for host in hosts:
        if not host.isascii() or not all(c.isalnum() or c in "-_.:[]" for c in host):
            raise InputError(f"host {host!r}: expected letters, digits, '-', '_', '.' and ':'")
