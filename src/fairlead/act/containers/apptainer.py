# SPDX-License-Identifier: Apache-2.0
"""Apptainer and SingularityCE: `apptainer exec|run [OPTION...] IMAGE [COMMAND] [ARG...]`."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Started, split_options

# Apptainer 1.4's and SingularityCE 4's options of exec and run.
_WITH_VALUE = {
    *("--add-caps", "--app", "--apply-cgroups", "--authfile", "--blkio-weight", "-B", "--bind"),
    *("--blkio-weight-device", "--cpu-shares", "--cpus", "--cpuset-cpus", "--cpuset-mems", "--cwd"),
    *("--data", "--device", "--dns", "--docker-host", "--drop-caps", "--env", "--env-file"),
    *("--fusemount", "-H", "--home", "--hostname", "--memory", "--memory-reservation"),
    *("--memory-swap", "--mount", "--netns-path", "--network", "--network-args", "--no-mount"),
    *("-o", "--overlay", "--pem-path", "--pids-limit", "--pwd", "-S", "--scratch", "--security"),
    *("--shub-server", "-W", "--workdir"),
}


@dataclasses.dataclass(frozen=True)
class Apptainer:
    """A program by apptainer or singularity.

    Attributes:
        before: The runtime, and its options before the subcommand.
        subcommand: "exec" or "run".
        options: Options of the subcommand.
        image: The image.
        words: What follows it: the program inside, or arguments of the image's runscript.
    """

    before: tuple[str, ...]
    subcommand: str
    options: tuple[str, ...]
    image: str
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The runtime, which may be there under the other's name."""
        found = shutil.which(self.before[0]) or self.before[0]
        return Path(found).resolve().name.capitalize()

    @property
    def command(self) -> tuple[str, ...]:
        """The program inside; empty where the image's runscript chooses it."""
        return self.words if self.subcommand == "exec" else ()

    @classmethod
    def recognise(cls, program: Sequence[str]) -> Apptainer | None:
        """This container, where the program is apptainer or singularity."""
        if Path(program[0]).name not in {"apptainer", "singularity"}:
            return None
        whole = split_options(program[1:], lambda option: int(option in {"-c", "--config"}))
        subcommand, *rest = whole.rest or ("",)
        split = split_options(rest, lambda option: int(option in _WITH_VALUE))
        needed = {"exec": 2, "run": 1}.get(subcommand)
        if needed is None or len(split.rest) < needed:
            return None
        image, *words = split.rest
        before = (program[0], *whole.options)
        return cls(before, subcommand, split.options, image, tuple(words))

    def binds(self, folder: Path) -> list[Bind]:
        """By its variable; it makes mount points itself."""
        return [Bind(folder, folder)]

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start by variables of the runtime, which keep what the user binds."""
        prefix = self.name.upper()
        subcommand, words = self.subcommand, self.words
        if command is not None:
            subcommand, words = "exec", tuple(command)
        binds = [os.environ.get(f"{prefix}_BIND", ""), f"{bind.source}:{bind.target}"]
        env = {f"{prefix}_BIND": ",".join(one for one in binds if one)}
        env |= {f"{prefix}ENV_{name}": value for name, value in variables.items()}
        return Started((*self.before, subcommand, *self.options, self.image, *words), env)
