# SPDX-License-Identifier: Apache-2.0
"""Podman and Docker: `podman [OPTION...] run [OPTION...] IMAGE [COMMAND] [ARG...]`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Started, split_options

# Most options of `run` have a value; these have none (Podman 5, Docker 27).
_WITHOUT_VALUE = {
    *("--detach", "--disable-content-trust", "--env-host", "--help", "--http-proxy", "--init"),
    *("--interactive", "--no-healthcheck", "--no-hostname", "--no-hosts", "--oom-kill-disable"),
    *("--passwd", "--privileged", "--publish-all", "--quiet", "--read-only", "--read-only-tmpfs"),
    *("--replace", "--rm", "--rmi", "--rootfs", "--sig-proxy", "--tls-verify", "--tty"),
    "--unsetenv-all",
}
_SHORT_WITHOUT_VALUE = set("ditPq")
_GLOBAL_WITHOUT_VALUE = {
    "--help",
    "--remote",
    "-r",
    "--syslog",
    "--transient-store",
    "--debug",
    "-D",
}


@dataclasses.dataclass(frozen=True)
class Podman:
    """A program by podman or docker.

    Attributes:
        before: The runtime, its options, and "run".
        options: Options of "run".
        image: The image.
        command: The program inside; empty where the image chooses it.
    """

    before: tuple[str, ...]
    options: tuple[str, ...]
    image: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """The runtime."""
        return Path(self.before[0]).name.capitalize()

    @classmethod
    def recognise(cls, program: Sequence[str]) -> Podman | None:
        """This container, where the program is podman or docker."""
        if Path(program[0]).name not in {"podman", "docker"}:
            return None
        whole = split_options(program[1:], lambda one: int(one not in _GLOBAL_WITHOUT_VALUE))
        subcommand, *rest = whole.rest or ("",)
        if subcommand == "container":
            subcommand, *rest = rest or [""]
        split = split_options(rest, _num_values)
        if subcommand != "run" or not split.rest:
            return None
        image, *command = split.rest
        return cls((program[0], *whole.options, "run"), split.options, image, tuple(command))

    def binds(self, folder: Path) -> list[Bind]:
        """As a volume; the runtime makes the mount point itself."""
        return [Bind(folder, folder)]

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start by further options."""
        bound = ("--volume", f"{bind.source}:{bind.target}")
        given = tuple(word for each in variables.items() for word in ("--env", "=".join(each)))
        words = self.command if command is None else tuple(command)
        # An entrypoint of the image would get our command as its arguments.
        direct = () if command is None else ("--entrypoint", words[0])
        rest = words if command is None else words[1:]
        return Started((*self.before, *self.options, *bound, *given, *direct, self.image, *rest))


def _num_values(option: str) -> int:
    if option.startswith("--"):
        return int(option not in _WITHOUT_VALUE)
    # "-it" are two options, "-eNAME=VALUE" is one with its value.
    letters = option[1:]
    is_switches = set(letters) <= _SHORT_WITHOUT_VALUE
    return 0 if is_switches or (len(letters) > 1 and letters[0] not in _SHORT_WITHOUT_VALUE) else 1
