# SPDX-License-Identifier: Apache-2.0
"""Who sends to whom in one step of a collective, by positions in the communicator."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["TREES", "Kind", "Step", "num_swapping", "partners"]

Kind = Literal["shift", "chain", "mirror", "swap", "fold", "binomial", "growing", "knomial", "star"]
Ranks = npt.NDArray[np.int64]

TREES = frozenset({"binomial", "growing", "knomial", "star"})
"""Kinds of steps with a root."""

RADIX = 4
"""Radix of `knomial`: a node has this many children less one at each distance."""


class Step(NamedTuple):
    """One step of an algorithm.

    Attributes:
        kind: Who sends. `shift`: i to i + distance, around the end. `chain`: the same, not around.
            `mirror`: i and i XOR distance to each other, where there are both. `swap`: the same
            among the largest power of two of ranks. `fold`: each rank beyond that power to its
            neighbour among them. The others are trees; parents send to their children.
            `binomial`: at this distance, of the tree in which consecutive ranks are below one
            another. `growing`: from the first ranks, as many as the distance, to the next ones.
            `knomial`: all of the first kind of tree, by powers of 4. `star`: to all from the root.
        distance: Between the partners, in positions.
        root: Position of the tree's or chain's root.
        is_back: Whether the receivers send to the senders instead.
    """

    kind: Kind
    distance: int = 1
    root: int = 0
    is_back: bool = False


def partners(step: Step, num_ranks: int) -> tuple[Ranks, Ranks]:
    """Positions of the senders of a step and of their receivers."""
    src, dst = _from_root(step, num_ranks)
    src, dst = (src + step.root) % num_ranks, (dst + step.root) % num_ranks
    return (dst, src) if step.is_back else (src, dst)


def num_swapping(num_ranks: int) -> int:
    """The largest power of two of ranks."""
    return 1 << (num_ranks.bit_length() - 1)


def _from_root(step: Step, num_ranks: int) -> tuple[Ranks, Ranks]:
    """The same with positions counted from the root."""
    at = np.arange(num_ranks)
    below = at[1:]
    num_folded = num_ranks - num_swapping(num_ranks)
    match step.kind:
        case "shift":
            pairs = at, (at + step.distance) % num_ranks
        case "chain":
            pairs = at[: -step.distance], at[step.distance :]
        case "mirror":
            lower = at[(at & step.distance == 0) & (at + step.distance < num_ranks)]
            upper = lower + step.distance
            pairs = np.concatenate([lower, upper]), np.concatenate([upper, lower])
        case "swap":
            # The first of each folded pair takes part: in a tree it may be the root.
            swapping = np.concatenate([at[0 : 2 * num_folded : 2], at[2 * num_folded :]])
            pairs = swapping, swapping[np.arange(len(swapping)) ^ step.distance]
        case "fold":
            folded = at[1 : 2 * num_folded : 2]
            pairs = folded, folded - 1
        case "binomial":
            children = at[step.distance :: 2 * step.distance]
            pairs = children - step.distance, children
        case "growing":
            children = at[step.distance : 2 * step.distance]
            pairs = children - step.distance, children
        case "knomial":
            pairs = _knomial_parents(below), below
        case "star":
            pairs = np.zeros_like(below), below
    return pairs


def _knomial_parents(ranks: Ranks) -> Ranks:
    """Each rank without its last digit that is not 0, in the number system of the radix."""
    parents = ranks.copy()
    power = 1
    is_open = np.ones(len(ranks), dtype=bool)
    while is_open.any():
        parents[is_open] -= parents[is_open] % (power * RADIX)
        is_open &= parents == ranks
        power *= RADIX
    return parents
