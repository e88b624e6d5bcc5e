# SPDX-License-Identifier: Apache-2.0
"""Bubblewrap: `bwrap [OPTION...] [--] COMMAND [ARG...]`, tried with version 0.8.0."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Started, split_options
from fairlead.act.containers.mount_points import free_mount_points

_MOUNTS = {
    *("--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try"),
    *("--bind-fd", "--ro-bind-fd", "--file", "--bind-data", "--ro-bind-data", "--symlink"),
}
_NUM_VALUES = {
    **dict.fromkeys(_MOUNTS, 2),
    **dict.fromkeys(("--setenv", "--chmod"), 2),
    **dict.fromkeys(("--args", "--argv0", "--userns", "--userns2", "--pidns", "--uid", "--gid"), 1),
    **dict.fromkeys(("--hostname", "--chdir", "--unsetenv", "--lock-file", "--sync-fd"), 1),
    **dict.fromkeys(("--remount-ro", "--exec-label", "--file-label", "--proc", "--dev"), 1),
    **dict.fromkeys(("--tmpfs", "--mqueue", "--dir", "--seccomp", "--add-seccomp-fd"), 1),
    **dict.fromkeys(("--block-fd", "--userns-block-fd", "--info-fd", "--json-status-fd"), 1),
    **dict.fromkeys(("--cap-add", "--cap-drop", "--perms", "--size", "--overlay-src"), 1),
    **dict.fromkeys(("--tmp-overlay", "--ro-overlay"), 1),
    "--overlay": 3,
}


@dataclasses.dataclass(frozen=True)
class Bubblewrap:
    """A program by bwrap.

    Attributes:
        runtime: The runtime's program, as the user named it.
        options: The user's options, which act in their order.
        command: The program inside.
    """

    runtime: str
    options: tuple[str, ...]
    command: tuple[str, ...]
    name: str = "Bubblewrap"

    @classmethod
    def recognise(cls, program: Sequence[str]) -> Bubblewrap | None:
        """This container, where the program is bwrap."""
        if Path(program[0]).name != "bwrap":
            return None
        split = split_options(program[1:], lambda option: _NUM_VALUES.get(option, 0))
        return cls(program[0], split.options, split.rest) if split.rest else None

    def binds(self, folder: Path) -> list[Bind]:
        """As it is visible by itself, then bound after the user's mounts.

        Where the root is bound for reading, bwrap makes no mount point.
        """
        targets = [folder, *free_mount_points(*self._mounts())]
        return [Bind(folder, folder, is_needed=False), *(Bind(folder, one) for one in targets)]

    def _mounts(self) -> tuple[Path | None, list[str]]:
        """The folder that is the root inside, and where else something is mounted."""
        root, used = None, []
        for at, option in enumerate(self.options):
            if option in _MOUNTS and at + 2 < len(self.options):
                source, target = self.options[at + 1 : at + 3]
                if target == "/":
                    root = Path(source)
                else:
                    used.append(target)
        return root, used

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start by further options, which come last: later ones act on earlier ones."""
        bound = ("--bind", str(bind.source), str(bind.target)) if bind.is_needed else ()
        given = tuple(word for each in variables.items() for word in ("--setenv", *each))
        words = self.command if command is None else tuple(command)
        return Started((self.runtime, *self.options, *bound, *given, "--", *words))
