# SPDX-License-Identifier: Apache-2.0
"""Cray MPICH's file MPICH_RANK_ORDER: which rank takes each place that the launcher fills."""

from __future__ import annotations

import itertools
import re

from fairlead.act.launch.formats._format import Cores, Format, bad_line, join, lines_of
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

_RANKS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_MOST_RANKS = 100_000_000


def _render(placement: Placement, cluster: Cluster, _cores: Cores) -> str:
    # The file names no hosts: the ranks in its order take the places of host after host, as srun
    # and PALS fill them by themselves.
    lines: list[str] = []
    left = placement.num_ranks
    names = placement.host_names()
    for host, slots in zip(cluster.hosts, cluster.slots, strict=True):
        ranks = [rank for rank, name in enumerate(names) if name == host]
        filled = min(slots, left)
        if len(ranks) != filled:
            raise TopologyError(
                f"format 'cray' only orders ranks on hosts that the launcher fills one by one: it "
                f"starts {filled} of them on {host!r}, the placement has {len(ranks)} there; map "
                "as many ranks as there are slots"
            )
        left -= filled
        if ranks:
            lines += [f"# {host}", ",".join(map(str, ranks))]
    return join(lines)


def _parse(text: str, cluster: Cluster) -> list[str]:
    ranks: list[int] = []
    for number, line in lines_of(text):
        for word in line.strip(",").split(","):
            found = _RANKS.fullmatch(word.strip())
            if not found:
                raise bad_line(number, line, "ranks with commas between them, or 'FIRST-LAST'")
            first, last = int(found[1]), int(found[2] or found[1])
            if len(ranks) + abs(last - first) >= _MOST_RANKS:
                raise InputError(f"{number}: more than {_MOST_RANKS} ranks")
            step = 1 if last >= first else -1
            ranks += range(first, last + step, step)
    if sorted(ranks) != [*range(len(ranks))]:
        raise InputError(f"not each of the ranks 0 to {len(ranks) - 1} is named once")
    places = itertools.chain.from_iterable(
        itertools.repeat(*host) for host in zip(cluster.hosts, cluster.slots, strict=True)
    )
    host_of_rank = dict(zip(ranks, places, strict=False))
    if len(host_of_rank) < len(ranks):
        raise InputError(f"{len(ranks)} ranks, but the hosts have {sum(cluster.slots)} slots")
    return [host_of_rank[rank] for rank in range(len(ranks))]


RANK_ORDER = Format(
    name="cray",
    summary="order of ranks for Cray MPICH, on the places that srun or PALS fills",
    render=_render,
    parse=_parse,
    # Comments and lines of any length are those of the vendor's own grid_order(1).
    usage=lambda path, num_ranks: (
        f"MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={path} "
        f"srun -m block -n {num_ranks} PROGRAM"
    ),
)
