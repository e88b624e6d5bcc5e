# SPDX-License-Identifier: Apache-2.0
"""The inputs with which a program was traced: from them the traffic of another input is guessed.

One small file for each input and number of ranks; the traffic itself is where `profile_cache` keeps
it. Each file is replaced as a whole, so that runs at the same time do not disturb one another.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import os
import re
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import pydantic

from fairlead.act.containers import container_of
from fairlead.act.launch import Launcher
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.lookup import list_files
from fairlead.files.pruning import prune_oldest
from fairlead.files.run_directory import cache_folder
from fairlead.files.system_text import SystemText, in_utf8
from fairlead.measure.known_traffic import MOST_DIFFERENCE
from fairlead.measure.profile_cache import (
    build_of,
    forget_traffic,
    key_of,
    traffic_path,
    with_folder,
)
from fairlead.model.traffic import Traffic

__all__ = [
    "Guess",
    "KnownInput",
    "Trust",
    "argument_distance",
    "earlier_build",
    "earlier_inputs",
    "forget_inputs",
    "inputs_folder",
    "remember_input",
    "trust_in",
]

MOST_INPUTS = 64
"""Inputs that are kept of a program; those that were seen the longest time ago go first."""

MOST_PROGRAMS = 500
MOST_TRAFFICS = 2000
"""So many are kept of all programs together."""

MOST_TRUSTED_DIFFERENCE = 0.25
"""Inputs whose traffic has differed by more than this in the median are no guide to another one."""

_INTERPRETERS = re.compile(
    r"(python|perl|ruby|julia|Rscript|lua|octave|bash|dash|ksh|zsh|sh)[\d.]*"
)
"""The first argument of such a program that is no option is the one that counts."""

_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")

_OTHER_WORD = 100.0

Ratio = Annotated[float, pydantic.Field(ge=0, le=1)]
Ranks = Annotated[int, pydantic.Field(ge=1)]


class Guess(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An input's traffic held against what it was taken for, or could have been taken for.

    Attributes:
        arguments: Those of the earlier input.
        num_ranks: Number of its ranks.
        difference: Total variation distance of both traffics: 0 alike, 1 disjoint.
    """

    arguments: tuple[SystemText, ...]
    num_ranks: Ranks
    difference: Ratio


class KnownInput(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An input whose traffic is kept.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks.
        build: Size in bytes of the program's file, and its time of change in ns.
        traffic: Name of the file with its traffic.
        when: When it was seen last.
        guess: What its first run showed about the inputs before it; None of a program's first one.
    """

    kind: Literal["input"] = "input"
    version: Literal[1] = 1
    program: tuple[SystemText, ...]
    num_ranks: Ranks
    build: tuple[int, int]
    traffic: Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{24}\.traffic\.npz$")]
    when: pydantic.AwareDatetime
    guess: Guess | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What follows the program."""
        return self.program[1:]

    def has_arguments(self, arguments: Sequence[str]) -> bool:
        """Whether its arguments are these, as the user gave them."""
        return self.arguments == tuple(map(in_utf8, arguments))

    def load(self) -> Traffic:
        """Its traffic.

        Raises:
            InputError: It is no longer there, or cannot be read.
        """
        return Traffic.load(cache_folder() / "traffic" / self.traffic)


@dataclasses.dataclass(frozen=True)
class Trust:
    """How much the traffic of a program's inputs has differed from what was known before.

    Attributes:
        differences: That of each input, as in `Guess`.
    """

    differences: tuple[float, ...]

    @property
    def allows_guess(self) -> bool:
        """Whether another input may be taken for a known one; also where nothing is known."""
        known = self.differences
        return not known or statistics.median(known) <= MOST_TRUSTED_DIFFERENCE

    def line(self) -> str:
        """The same in words."""
        known = self.differences
        if not known:
            return "how well that fits is not known yet"
        count = "one input" if len(known) == 1 else f"{len(known)} inputs"
        return (
            f"so far the traffic of {count} differed by {statistics.median(known):.1%} in the "
            f"median from such a guess, at most by {max(known):.1%}"
        )


def trust_in(inputs: Sequence[KnownInput], num_ranks: int, *, is_extended: bool) -> Trust:
    """What guesses were worth.

    Args:
        inputs: All inputs of the program.
        num_ranks: Ranks of the run to come.
        is_extended: Whether the guesses were made from another number of ranks; of these, all
            count.
    """
    found = [(one, one.guess) for one in inputs if one.guess is not None]
    return Trust(
        tuple(
            guess.difference
            for one, guess in found
            if (guess.num_ranks != one.num_ranks) == is_extended
            and (is_extended or one.num_ranks == num_ranks)
        )
    )


def earlier_inputs(program: Sequence[str], launcher: Launcher) -> list[KnownInput]:
    """All inputs that are known of a program, the most similar to this one first.

    Similar are those with the most arguments in common, then with the nearest numbers in the
    others, then the latest.
    """
    found = sorted(_read_all(inputs_folder(program, launcher)), key=_age, reverse=True)
    arguments = tuple(map(in_utf8, program[1:]))
    return sorted(found, key=lambda one: argument_distance(one.arguments, arguments))


def earlier_build(
    program: Sequence[str], num_ranks: int, launcher: Launcher
) -> tuple[int, int] | None:
    """The latest build before the one that is there whose traffic was as this one's, or may be.

    Args:
        program: Program and arguments.
        num_ranks: Number of ranks.
        launcher: Launcher of the program.

    Returns:
        None without another build, or where the traffic was seen to have changed with this one.
    """
    words = tuple(map(in_utf8, program))
    same = [
        one
        for one in earlier_inputs(program, launcher)
        if one.program == words and one.num_ranks == num_ranks
    ]
    current = build_of(program)
    for one in same:
        is_known = one.build == current and one.guess is not None
        if is_known and one.guess is not None and one.guess.difference >= MOST_DIFFERENCE:
            return None
    # The same arguments in another folder, or with other files, have another traffic's name.
    builds = [one.build for one in same if one.build != current]
    names = {one.build: one.traffic for one in reversed(same)}
    return next(
        (
            build
            for build in builds
            if traffic_path(program, num_ranks, launcher, build).name == names[build]
        ),
        None,
    )


def argument_distance(one: Sequence[str], other: Sequence[str]) -> tuple[int, float]:
    """How many arguments differ, and how far their numbers are apart, in powers of ten."""
    pairs = zip(one, other, strict=False)
    apart = [_apart(first, second) for first, second in pairs if first != second]
    return len(apart) + abs(len(one) - len(other)), sum(apart)


def _apart(one: str, other: str) -> float:
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return _OTHER_WORD
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return sum(abs(_log10(first) - _log10(second)) for first, second in pairs)


def _log10(number: str) -> float:
    """Log10 of a part of an argument, which may be no number of the program's, such as 3e8437."""
    return math.log10(min(float(number), sys.float_info.max) + 1e-9)


def remember_input(
    program: Sequence[str], num_ranks: int, launcher: Launcher, guess: Guess | None
) -> None:
    """Keep that the traffic of this input is known; one that was known keeps its guess.

    Args:
        program: Program and arguments.
        num_ranks: Number of ranks.
        launcher: Launcher by which it was traced.
        guess: What this run showed about the inputs before it.

    Raises:
        InputError: The cache cannot be written.
    """
    traffic = traffic_path(program, num_ranks, launcher).name
    folder = inputs_folder(program, launcher)
    path = folder / traffic.replace(".traffic.npz", ".json")
    if guess is None:
        with contextlib.suppress(InputError):
            guess = read_json(path, KnownInput).guess
    one = KnownInput(
        program=tuple(program),
        num_ranks=num_ranks,
        build=build_of(program),
        traffic=traffic,
        when=datetime.datetime.now(datetime.timezone.utc),
        guess=guess,
    )
    write_text(with_folder(path), one.model_dump_json(indent=1) + "\n")
    _prune(folder)


def forget_inputs(is_meant: Callable[[KnownInput], bool]) -> int:
    """Remove these inputs of any program, with their traffic; how many there were."""
    count = 0
    for folder in list_files(cache_folder() / "inputs", "*"):
        for one in list(_read_all(folder)):
            if is_meant(one):
                _remove(folder, one)
                count += 1
    return count


def inputs_folder(program: Sequence[str], launcher: Launcher) -> Path:
    """Folder of a program's inputs, for all numbers of ranks."""
    key = key_of(["inputs", _identity(program), launcher.family])
    return cache_folder() / "inputs" / key


def _identity(program: Sequence[str]) -> list[str]:
    """The words of a command that name the program, not its input.

    These are the program's file, all executable files among the arguments (as after `env`), the
    script of an interpreter, and what stands before the command in a container.
    """
    found = shutil.which(program[0])
    name = program[0] if found is None else str(Path(found).resolve())
    container = container_of(program)
    if container is not None:
        return [name, *program[1 : len(program) - max(0, len(container.command) - 1)]]
    scripts = []
    if _INTERPRETERS.fullmatch(Path(name).name):
        first = next((at for at, word in enumerate(program) if at and word[:1] != "-"), 0)
        scripts = list(program[1 : first + 1])
    return [name, *scripts, *filter(_is_executable, program[1:])]


def _is_executable(word: str) -> bool:
    return os.sep in word and os.path.isfile(word) and os.access(word, os.X_OK)  # noqa: PTH113


def _read_all(folder: Path) -> Iterator[KnownInput]:
    """Files that cannot be read, or are of another version, count as missing."""
    for path in list_files(folder, "*.json"):
        with contextlib.suppress(InputError):
            yield read_json(path, KnownInput)


def _prune(folder: Path) -> None:
    oldest = sorted(_read_all(folder), key=_age)[:-MOST_INPUTS]
    for one in oldest:
        _remove(folder, one)
    prune_oldest(folder.parent, "*", MOST_PROGRAMS)
    prune_oldest(cache_folder() / "traffic", "*.npz", MOST_TRAFFICS)


def _remove(folder: Path, one: KnownInput) -> None:
    forget_traffic(one.traffic)
    with contextlib.suppress(OSError):
        (folder / one.traffic.replace(".traffic.npz", ".json")).unlink()


def _age(one: KnownInput) -> datetime.datetime:
    return one.when
