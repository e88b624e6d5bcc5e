# SPDX-License-Identifier: Apache-2.0
"""Whether large messages may be relayed, and on which placement: combinations, judged by one rule.

worth trying? ──▶ rehearse {placement taken} x {direct, relayed}, and in turns with them
      │           {one that may be better with relays} x {relayed} ──▶ the rule
      │ no: nothing is started
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.decide.expected_gain import Gain
from fairlead.decide.host_paths import faster_pairs, several_connections_pairs
from fairlead.decide.relayed_placement import FOR_RELAYS
from fairlead.decide.rule import Rule, rehearsed_gain
from fairlead.measure.rehearsal import bytes_between_hosts, host_bytes
from fairlead.measure.transfer_rehearsal import (
    FEWEST_ROUNDS,
    MOST_FLOWS,
    Combination,
    large_messages,
)
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.units import format_size

__all__ = [
    "TRANSFERS_S",
    "Transfers",
    "Tried",
    "combinations_of",
    "judge_combinations",
    "reason_against_trying",
]

TRANSFERS_S = 3.5
"""Added to the default budget where transfers are worth a rehearsal: routers and a process for each
rank are started for it."""

LEAST_SHARE = 0.05
"""Least part of the bytes between hosts that goes in large messages on pairs that may gain."""


@dataclasses.dataclass(frozen=True)
class Tried:
    """A combination that was rehearsed.

    Attributes:
        placement: The method of its placement.
        is_relayed: Whether large messages could be relayed.
        gain: What it saves against the first one.
    """

    placement: str
    is_relayed: bool
    gain: Gain


@dataclasses.dataclass(frozen=True)
class Transfers:
    """What was decided on the transfers of a program.

    Attributes:
        is_taken: Whether large messages may be relayed.
        why: The reason, for a user.
        is_considered: Whether it was rehearsed.
        gain: What the best combination with relays saves against the best one without; None where
            nothing was rehearsed.
        whole_gain: What the combination that is taken saves against the launcher's placement
            without relays; where that itself is taken, what the one taken before would save.
        num_rounds: Rounds of rehearsal behind it.
        is_open: Whether it could not be found out now, so that the next run decides again.
        tried: The combinations that were rehearsed, but for the first one.
    """

    is_taken: bool
    why: str
    is_considered: bool = False
    gain: Gain | None = None
    whole_gain: Gain | None = None
    num_rounds: int = 0
    is_open: bool = False
    tried: tuple[Tried, ...] = ()


NOT_CONSIDERED = Transfers(is_taken=False, why="not considered")


def combinations_of(
    direct: Sequence[Placement],
    relayed: Sequence[Placement],
    is_dropped: Callable[[Combination], bool],
) -> list[Combination]:
    """Placements without and with relays, without the combinations that have proved slower.

    Args:
        direct: Placements that are tried without relays.
        relayed: Those that are tried with relays.
        is_dropped: Whether a combination with relays has proved slower.

    Returns:
        Those without relays first, each one once.
    """
    distinct: dict[tuple[tuple[str, ...], bool], Combination] = {}
    for one in (
        *(Combination(placement, is_relayed=False) for placement in direct),
        *(Combination(placement, is_relayed=True) for placement in relayed),
    ):
        if not (one.is_relayed and is_dropped(one)):
            distinct.setdefault(one.key, one)
    return list(distinct.values())


def reason_against_trying(
    placements: Sequence[Placement],
    traffic: Traffic,
    network: Network,
    table: PathTable | None,
    *,
    num_combinations: int,
    least_bytes: int,
    sends_by_tcp: bool | None,
) -> str | None:
    """Why relays are not worth a rehearsal; None where they are.

    Args:
        placements: Those on which the program may run.
        traffic: What the ranks send one another.
        network: The measured network.
        table: Its paths; None where they cannot be found.
        num_combinations: Combinations that a rehearsal has at least.
        least_bytes: Messages of at least this size may be relayed.
        sends_by_tcp: Whether the MPI does; None: not known.
    """
    large = large_messages(traffic, least_bytes)
    between = [
        bytes_between_hosts(one, network.hosts, large.src, large.dst, large.bytes)
        for one in placements
    ]
    if not any(map(np.any, between)):
        return f"no message of at least {format_size(least_bytes)} goes between hosts"
    if table is None:
        return "some pairs of hosts were not measured"
    num_flows = num_combinations * traffic.carried.bytes.nnz
    if num_flows > MOST_FLOWS:
        return f"{num_flows:,} messages are too many for a rehearsal (at most {MOST_FLOWS:,})"
    may_gain = _mask(network, [*faster_pairs(table), *several_connections_pairs(network, table)])
    wholes = [host_bytes(one, traffic, network.hosts).sum() for one in placements]
    shares = [
        sent[may_gain].sum() / whole
        for sent, whole in zip(between, wholes, strict=True)
        if whole > 0
    ]
    if max(shares) < LEAST_SHARE:
        return (
            "neither a path by a third host nor several connections are expected to be faster "
            "between the hosts that exchange large messages"
        )
    if sends_by_tcp is None:
        return "it is not known whether the MPI sends by TCP"
    return None if sends_by_tcp else "the MPI does not send by TCP"


def judge_combinations(
    combinations: Sequence[Combination],
    base: Combination,
    steps_s: npt.NDArray[np.float64],
    rule: Rule,
    base_log_ratios: npt.NDArray[np.float64] | None = None,
) -> tuple[Combination, Transfers]:
    """The combination that is taken, and what was decided on relays.

    Another combination than `base` is taken if the rule accepts it against that: it is expected to
    save enough, and the risk that it loses is bounded.

    Args:
        combinations: The one that savings are compared with first: the launcher's placement,
            without relays unless these are always used; or `base` with `base_log_ratios`.
        base: That of them which would be taken without this rehearsal.
        steps_s: Seconds of one step, shape (rounds, combinations).
        rule: When one is used.
        base_log_ratios: Logarithm of the time of `base` over that of the launcher's placement, by
            earlier rounds; None where the launcher's is among the combinations.
    """
    num_rounds = len(steps_s)
    if num_rounds < FEWEST_ROUNDS:
        return base, Transfers(False, "its rehearsal took too long to show anything")
    log_s = np.log(np.maximum(steps_s, 1e-9))

    def gain_of(one: int, other: int) -> Gain:
        return rehearsed_gain(log_s[:, one] - log_s[:, other])

    def whole_gain_of(one: int) -> Gain:
        """Against the launcher's placement."""
        if base_log_ratios is None:
            return gain_of(one, 0)
        if one == own:
            return rehearsed_gain(base_log_ratios)
        return rehearsed_gain(log_s[:, one] - log_s[:, own], base_log_ratios)

    own = [one.key for one in combinations].index(base.key)
    others = [index for index in range(len(combinations)) if index != own]
    best, is_accepted = rule.best([gain_of(index, own) for index in others])
    chosen = others[best] if best is not None and is_accepted else own
    relayed = [index for index, one in enumerate(combinations) if one.is_relayed]
    shown = (
        chosen
        if combinations[chosen].is_relayed
        else min(relayed, key=lambda i: log_s[:, i].mean())
    )
    rival = own if combinations[chosen].is_relayed else chosen
    gain, is_taken = gain_of(shown, rival), combinations[chosen].is_relayed
    sign, word = (1, "less") if gain.ratio >= 0 else (-1, "more")
    low, high = sorted((sign * gain.low_ratio, sign * gain.high_ratio))
    saved = (
        f"{sign * gain.ratio:.0%} [{low:.0%}, {high:.0%}] {word} time on the network by "
        f"{num_rounds} rehearsals, risk of a loss {gain.loss_risk:.1%}"
    )
    if combinations[shown].placement.method.endswith(FOR_RELAYS):
        saved += f", on a placement {FOR_RELAYS}"
    return combinations[chosen], Transfers(
        is_taken,
        saved if is_taken else f"would take {saved}",
        is_considered=True,
        gain=gain,
        whole_gain=whole_gain_of(chosen or own),
        num_rounds=num_rounds,
        tried=tuple(
            Tried(one.placement.method, one.is_relayed, whole_gain_of(index))
            for index, one in enumerate(combinations)
            if base_log_ratios is not None or index > 0
        ),
    )


def _mask(network: Network, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    mask = np.zeros((network.num_hosts, network.num_hosts), dtype=bool)
    for src, dst in pairs:
        mask[src, dst] = True
    return mask
