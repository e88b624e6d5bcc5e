# SPDX-License-Identifier: Apache-2.0
"""Why a placement is faster: bytes and time per level before and after, and a picture of both."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.measure.racks import racks as racks_of
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.report.levels import BETWEEN_RACKS, Load, bottlenecks, bytes_between, levels
from fairlead.report.page_table import table
from fairlead.report.palette import ink_on, viridis
from fairlead.report.placement_view import rank_ranges, ranks_by_host
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import SECONDS, human
from fairlead.units import format_size

MOST_CHIPS = 16
"""Most ranks of a host that have a box each; of more their numbers are listed."""


def why_body(files: RunFiles) -> str:
    """HTML: tables and the picture; empty where network, traffic or a placement is missing."""
    network, traffic, after = files.network, files.traffic, files.after()
    if network is None or traffic is None or after is None or not _fits(network, after):
        return ""
    before = files.before()
    shown = [after] if before is None or before.method == after.method else [before, after]
    if not all(_fits(network, each) for each in shown):
        return ""
    racks = [rack for rack in racks_of(network) if rack]
    body = _load_table(
        "Bytes and time per level",
        shown,
        [levels(traffic, network, each, racks) for each in shown],
        "time, one message after another",
    )
    narrow = [bottlenecks(traffic, network, each) for each in shown]
    if narrow[0]:
        body += "<h3>Per bottleneck</h3>" + _load_table(
            "Bytes and time per bottleneck", shown, narrow, "time at its capacity"
        )
    # Without racks all hosts stand in one.
    all_hosts = racks or [list(range(network.num_hosts))]
    pictures = "".join(_picture(traffic, network, each, all_hosts) for each in shown)
    return f'{body}<div class="pictures">{pictures}</div>'


def cause(files: RunFiles) -> str | None:
    """What the placement changed on the slow levels, in a sentence; None where nothing is known."""
    network, traffic = files.network, files.traffic
    before, after = files.before(), files.after()
    if network is None or traffic is None or before is None or after is None:
        return None
    if before.method == after.method or not (_fits(network, before) and _fits(network, after)):
        return None
    racks = racks_of(network)
    if not racks:
        return None
    was, now = (
        next(load for load in levels(traffic, network, each, racks) if load.name == BETWEEN_RACKS)
        for each in (before, after)
    )
    return (
        f"{format_size(now.bytes)} cross between racks with {after.method}, "
        f"{format_size(was.bytes)} with {before.method}."
    )


def _fits(network: Network, placement: Placement) -> bool:
    return set(placement.host_names()) <= set(network.hosts)


def _load_table(
    caption: str, placements: Sequence[Placement], loads: Sequence[Sequence[Load]], what: str
) -> str:
    columns = [
        "where",
        *(f"bytes, {each.method}" for each in placements),
        *(f"{what}, {each.method}" for each in placements),
    ]
    rows = [
        [
            of_each[0].name,
            *(format_size(load.bytes) for load in of_each),
            *(_time(load) for load in of_each),
        ]
        for of_each in zip(*loads, strict=True)
    ]
    return table(caption, columns, rows)


def _time(load: Load) -> str:
    """The time; where communication inside hosts was not measured, none is known."""
    is_known = load.seconds > 0 or load.bytes == 0
    return human(load.seconds, SECONDS) if is_known else "not measured"


def _picture(
    traffic: Traffic, network: Network, placement: Placement, racks: Sequence[Sequence[int]]
) -> str:
    """The ranks on their hosts, hosts in their racks; a rank's colour follows its number."""
    ranks_of = dict(zip(placement.hosts, ranks_by_host(placement), strict=True))
    boxes = []
    for number, rack in enumerate(racks, 1):
        hosts = "".join(
            _host(network.hosts[host], ranks_of.get(network.hosts[host]), placement.num_ranks)
            for host in rack
        )
        name = f"rack {number}" if len(racks) > 1 else "all hosts"
        boxes.append(f'<div class="rack"><h4>{name}</h4>{hosts}</div>')
    crossing = bytes_between(traffic, network, placement, racks)
    np.fill_diagonal(crossing, 0)
    note = f"{format_size(float(crossing.sum()))} between racks" if len(racks) > 1 else ""
    heading = html.escape(f"Placed by {placement.method}")
    return (
        f'<figure class="placement"><figcaption><h3>{heading}</h3><p>{note}</p></figcaption>'
        f'<div class="racks">{"".join(boxes)}</div></figure>'
    )


def _host(name: str, ranks: npt.NDArray[np.int64] | None, num_ranks: int) -> str:
    listed = [] if ranks is None else ranks.tolist()
    if len(listed) > MOST_CHIPS:
        shown = html.escape(rank_ranges(listed))
    else:
        shown = "".join(_chip(rank, num_ranks) for rank in listed)
    return (
        f'<div class="host"><span class="name">{html.escape(name)}</span><span>{shown}</span></div>'
    )


def _chip(rank: int, num_ranks: int) -> str:
    color = viridis(rank / max(num_ranks - 1, 1))
    return f'<i style="background:rgb{color};color:{ink_on(color)}">{rank}</i>'
