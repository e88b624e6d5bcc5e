# SPDX-License-Identifier: Apache-2.0
"""Enroot: `enroot start [OPTION...] [--] NAME|IMAGE [COMMAND] [ARG...]`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Started, split_options

_WITH_VALUE = {"-c", "--conf", "-e", "--env", "--rc", "-m", "--mount"}


@dataclasses.dataclass(frozen=True)
class Enroot:
    """A program by enroot.

    Attributes:
        runtime: The runtime's program, as the user named it.
        options: The user's options of "start".
        image: A container's name or an image.
        command: The program inside; empty where the image chooses it.
    """

    runtime: str
    options: tuple[str, ...]
    image: str
    command: tuple[str, ...]
    name: str = "Enroot"

    @classmethod
    def recognise(cls, program: Sequence[str]) -> Enroot | None:
        """This container, where the program is enroot."""
        if Path(program[0]).name != "enroot" or tuple(program[1:2]) != ("start",):
            return None
        split = split_options(program[2:], lambda option: int(option in _WITH_VALUE))
        if not split.rest:
            return None
        image, *command = split.rest
        return cls(program[0], split.options, image, tuple(command))

    def binds(self, folder: Path) -> list[Bind]:
        """As a mount, whose mount point is made."""
        return [Bind(folder, folder)]

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start by further options."""
        # As a line of its fstab(5), where the mount point is made.
        bound = ("--mount", f"{bind.source}:{bind.target}:none:x-create=dir,bind,rw")
        given = tuple(word for each in variables.items() for word in ("--env", "=".join(each)))
        words = self.command if command is None else tuple(command)
        return Started((self.runtime, "start", *self.options, *bound, *given, self.image, *words))
