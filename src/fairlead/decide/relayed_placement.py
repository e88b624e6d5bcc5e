# SPDX-License-Identifier: Apache-2.0
"""The placement for the network with relays, where that may be another one than without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.host_paths import network_with_relays
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.rule import LEAST_BETTER_RATIO
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["FOR_RELAYS", "find_relayed_placement"]

FOR_RELAYS = "for the network with relays"
"""What is added to the name of its method."""


def find_relayed_placement(
    base: Placement,
    others: Sequence[Placement],
    traffic: Traffic,
    network: Network,
    table: PathTable,
    *,
    place: Callable[[Network], Placement] | None,
    cost: str,
) -> Placement | None:
    """A placement that is worth a rehearsal with relays in addition to `base`.

    With relays a slow pair costs less, so ranks need not avoid it.

    Args:
        base: The one that is rehearsed with relays in any case.
        others: Known ones.
        traffic: What the ranks send one another.
        network: The measured network.
        table: Its paths.
        place: Finds a placement on a network; None without time for it.
        cost: Time of `Cost` by which placements are compared.

    Returns:
        None where no other one is predicted to take less time with relays than `base` by
        `LEAST_BETTER_RATIO`. A new one has to be better than the known ones by as much.
    """
    relayed = network_with_relays(remove_noise(with_pooled_noise(network)), table)

    def cost_s(placement: Placement) -> float:
        return float(getattr(evaluate(placement, traffic, relayed), cost))

    def is_better(one: Placement, other: Placement) -> bool:
        return cost_s(one) <= (1 - LEAST_BETTER_RATIO) * cost_s(other)

    best = min((base, *others), key=cost_s)
    found = None if place is None else place(relayed)
    if found is not None and is_better(found, best):
        return Placement(found.hosts, found.host_of_rank, f"{found.method} {FOR_RELAYS}")
    return best if is_better(best, base) else None
