# SPDX-License-Identifier: Apache-2.0
"""Charliecloud: `ch-run [OPTION...] IMAGE -- COMMAND [ARG...]`, tried with version 0.31."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Started, split_options
from fairlead.act.containers.mount_points import free_mount_points

_WITH_VALUE = {
    *("-b", "--bind", "-c", "--cd", "-g", "--gid", "--feature", "--join-ct", "--join-pid"),
    *("--join-tag", "-m", "--mount", "-s", "--storage", "--unset-env", "-u", "--uid"),
}


@dataclasses.dataclass(frozen=True)
class Charliecloud:
    """A program by ch-run.

    Attributes:
        runtime: The runtime's program, as the user named it.
        options: The user's options.
        image: The image: a folder, a SquashFS file or a name.
        command: The program inside.
    """

    runtime: str
    options: tuple[str, ...]
    image: str
    command: tuple[str, ...]
    name: str = "Charliecloud"

    @classmethod
    def recognise(cls, program: Sequence[str]) -> Charliecloud | None:
        """This container, where the program is ch-run."""
        if Path(program[0]).name != "ch-run":
            return None
        split = split_options(program[1:], lambda option: int(option in _WITH_VALUE))
        image, *command = split.rest or ("",)
        words = command[1:] if command[:1] == ["--"] else command
        return cls(program[0], split.options, image, tuple(words)) if words else None

    def binds(self, folder: Path) -> list[Bind]:
        """As it is visible by itself, then by `-b`.

        ch-run makes no mount point in an image that it may not write.
        """
        split = split_options(self.options, lambda option: int(option in _WITH_VALUE))
        used = [value.rpartition(":")[2] for value in split.values("-b", "--bind")]
        root = Path(self.image) if Path(self.image).is_dir() else None
        targets = [folder, *free_mount_points(root, used)]
        return [Bind(folder, folder, is_needed=False), *(Bind(folder, one) for one in targets)]

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start by further options."""
        bound = (f"--bind={bind.source}:{bind.target}",) if bind.is_needed else ()
        given = tuple(f"--set-env={name}={value}" for name, value in variables.items())
        words = self.command if command is None else tuple(command)
        return Started((self.runtime, *self.options, *bound, *given, self.image, "--", *words))
