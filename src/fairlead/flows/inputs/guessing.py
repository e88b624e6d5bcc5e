# SPDX-License-Identifier: Apache-2.0
"""The traffic of an input that was never traced: that of the program's most similar earlier one."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from fairlead.act.launch import Launcher
from fairlead.errors import InputError
from fairlead.flows.request import Request
from fairlead.measure.extended_traffic import extend_traffic
from fairlead.measure.known_inputs import Guess, KnownInput, earlier_inputs, trust_in
from fairlead.measure.known_traffic import traffic_difference
from fairlead.measure.profile_cache import build_of, recall_traffic, traffic_path
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator

__all__ = ["GuessedTraffic", "compare_with_earlier", "guess_traffic"]

MOST_TRIED = 4
"""Inputs of other numbers of ranks whose pattern is looked at, the most similar first."""


@dataclasses.dataclass(frozen=True)
class GuessedTraffic:
    """Traffic that stands for that of a run to come.

    Attributes:
        traffic: The traffic.
        source: The earlier input.
        line: Where it is from and how far it is to be trusted, for a user.
    """

    traffic: Traffic
    source: KnownInput
    line: str

    def facts(self) -> dict[str, Any]:
        """The same for the record."""
        source = self.source
        return {
            "arguments": source.arguments,
            "num_ranks": source.num_ranks,
            "traffic": source.traffic,
            "line": self.line,
        }


def guess_traffic(
    request: Request, launcher: Launcher, narrator: Narrator
) -> GuessedTraffic | None:
    """The traffic of the most similar input with as many ranks, else one that is extended to them.

    Args:
        request: Program, arguments and number of ranks.
        launcher: Launcher of the program.
        narrator: Reports why nothing is guessed where that could be expected.

    Returns:
        None where the program has no other input, or where its inputs are known to differ.
    """
    inputs = earlier_inputs(request.program, launcher)
    if not inputs:
        return None
    num_ranks = request.num_ranks
    is_extended = all(one.num_ranks != num_ranks for one in inputs)
    trust = trust_in(inputs, num_ranks, is_extended=is_extended)
    if not trust.allows_guess:
        narrator.report(f"traffic: not guessed from an earlier run: {trust.line()}")
        return None
    found = _find_guess(inputs, request)
    if found is None:
        if is_extended:
            narrator.report(_irregular(inputs, num_ranks))
        return None
    what = f"the run with {_describe(found.source, request)}"
    if found.pattern:
        what += f", extended from {found.source.num_ranks} to {num_ranks} ranks as {found.pattern}"
    return GuessedTraffic(
        found.traffic, found.source, f"traffic: guessed from {what}: {trust.line()}"
    )


def compare_with_earlier(traffic: Traffic, request: Request, launcher: Launcher) -> Guess | None:
    """What the traffic of a run shows about a guess that was made, or could have been made.

    None where there was nothing to guess from: no other input, or this one unchanged.
    """
    program, num_ranks = request.program, request.num_ranks
    inputs = earlier_inputs(program, launcher)
    if recall_traffic(program, num_ranks, launcher) is not None:
        own = traffic_path(program, num_ranks, launcher).name
        inputs = [one for one in inputs if one.traffic != own]
    found = _find_guess(inputs, request)
    if found is None:
        return None
    return Guess(
        arguments=found.source.arguments,
        num_ranks=found.source.num_ranks,
        difference=traffic_difference(found.traffic, traffic),
    )


class _Found(NamedTuple):
    traffic: Traffic
    source: KnownInput
    pattern: str = ""


def _find_guess(inputs: Sequence[KnownInput], request: Request) -> _Found | None:
    alike = [one for one in inputs if one.num_ranks == request.num_ranks]
    for source in alike:
        traffic = _load(source)
        if traffic is not None:
            return _Found(traffic, source)
    for source in inputs[:MOST_TRIED] if not alike else ():
        traffic = _load(source)
        if traffic is None:
            continue
        # With other arguments the problem may have grown with the ranks.
        is_same = source.has_arguments(request.program[1:])
        extended = extend_traffic(traffic, request.num_ranks, is_same_problem=is_same)
        if extended is not None:
            return _Found(extended.traffic, source, extended.pattern)
    return None


def _irregular(inputs: Sequence[KnownInput], num_ranks: int) -> str:
    ranks = ", ".join(map(str, sorted({one.num_ranks for one in inputs})))
    return (
        f"traffic: known for {ranks} ranks, in a pattern that cannot be extended to {num_ranks} "
        "ranks"
    )


def _load(source: KnownInput) -> Traffic | None:
    """Its traffic; None where it is gone, or nothing was seen of the program."""
    try:
        traffic = source.load()
    except InputError:
        return None
    is_usable = traffic.num_ranks == source.num_ranks and traffic.carried.messages.nnz > 0
    return traffic if is_usable else None


def _describe(source: KnownInput, request: Request) -> str:
    """What distinguishes an earlier run from the one to come."""
    if not source.has_arguments(request.program[1:]):
        return shlex.join(source.arguments) or "no arguments"
    if source.build != build_of(request.program):
        return "an earlier build of the program"
    if source.num_ranks != request.num_ranks:
        return "the same arguments"
    return "other input files, or in another folder"
