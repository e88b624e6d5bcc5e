# SPDX-License-Identifier: Apache-2.0
"""What every container runtime does for us: it starts a command inside, with our folder in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ["Bind", "Container", "Started", "split_options"]


class Bind(NamedTuple):
    """How a folder of the host gets into a container.

    Attributes:
        source: The folder on the host.
        target: Where it is inside.
        is_needed: Whether the runtime is asked to bind it; else it is visible without that.
    """

    source: Path
    target: Path
    is_needed: bool = True

    def inside(self, path: Path) -> Path:
        """Where a path below the folder is inside."""
        return self.target / path.relative_to(self.source)


class Started(NamedTuple):
    """How a command is started inside.

    Attributes:
        program: Program and arguments on the host: the runtime with its options first.
        env: Variables that the runtime itself needs.
    """

    program: tuple[str, ...]
    env: Mapping[str, str] = {}


class Container(Protocol):
    """A command line that starts a program inside a container; one file per runtime."""

    @property
    def name(self) -> str:
        """The runtime, as its manual names it."""
        ...

    @property
    def command(self) -> tuple[str, ...]:
        """The program inside and its arguments; empty where the image chooses it."""
        ...

    def binds(self, folder: Path) -> list[Bind]:
        """How the folder may get in, in the order in which that is to be tried."""
        ...

    def start(
        self, bind: Bind, command: Sequence[str] | None, variables: Mapping[str, str]
    ) -> Started:
        """The start of a command inside.

        Args:
            bind: Our folder, one of `binds`.
            command: The command; None for the user's own.
            variables: Variables that the command gets in addition to its usual ones.
        """
        ...


@dataclasses.dataclass(frozen=True)
class SplitOptions:
    """A command line in two.

    Attributes:
        options: The options and their values, in their order.
        rest: The first word that is no option, and what follows it.
    """

    options: tuple[str, ...]
    rest: tuple[str, ...]

    def values(self, *names: str) -> list[str]:
        """The values of these options, in either spelling."""
        found = []
        for at, word in enumerate(self.options):
            name, is_joined, value = word.partition("=")
            if name in names:
                found.append(value if is_joined else "".join(self.options[at + 1 : at + 2]))
        return found


def split_options(words: Sequence[str], num_values: Callable[[str], int]) -> SplitOptions:
    """Where the options of a runtime end.

    Args:
        words: What follows the runtime's name or its subcommand.
        num_values: How many words follow an option. `--name=value` is one word, and after "--"
            there are no options.
    """
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 1 + (0 if "=" in words[at] else num_values(words[at]))
    rest = words[at + 1 :] if tuple(words[at : at + 1]) == ("--",) else words[at:]
    return SplitOptions(tuple(words[:at]), tuple(rest))
