# SPDX-License-Identifier: Apache-2.0
"""MCM's path table of earlier runs: "saved in a path table for its posterior usage" (section 2).

A table belongs to the network on which it was found: where that is measured again, as where it has
drifted, the next run begins with the new network's own table.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pydantic

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.run_directory import cache_folder
from fairlead.measure.profile_cache import with_folder
from fairlead.model.network import Network
from fairlead.model.path_table import PATH_USES, PathTable
from fairlead.watch.relay_traffic import OfProcess, of_processes

__all__ = ["KeptPaths", "recall_paths", "remember_paths", "with_kept_paths"]

_Natural = Annotated[int, pydantic.Field(ge=0)]
_Positive = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]
_Path = tuple[int, ...]


class _KeptUse(pydantic.BaseModel, extra="forbid"):
    path: Annotated[tuple[_Natural, ...], pydantic.Field(min_length=2)]
    use: Literal["found", "open", "standard"]


class _KeptLink(pydantic.BaseModel, extra="forbid"):
    src: _Natural
    dst: _Natural
    segment_s: _Positive


class _File(pydantic.BaseModel, extra="forbid"):
    kind: Literal["paths"]
    version: Literal[1]
    uses: tuple[_KeptUse, ...]
    links: tuple[_KeptLink, ...]


@dataclasses.dataclass(frozen=True)
class KeptPaths:
    """What is known of paths.

    Attributes:
        use_of_path: One of PATH_USES, by the indices of the hosts on the path.
        segment_s_of_link: What a segment took, by the indices of two hosts.
    """

    use_of_path: dict[_Path, str]
    segment_s_of_link: dict[tuple[int, int], float]


def recall_paths(network: Network) -> KeptPaths | None:
    """The table of earlier runs on this network; None without one."""
    try:
        found = read_json(_file(network), _File)
    except InputError:
        return None  # Missing; or a damaged file of our own, which the run writes again.
    return KeptPaths(
        {each.path: each.use for each in found.uses},
        {(each.src, each.dst): each.segment_s for each in found.links},
    )


def remember_paths(network: Network, folder: Path) -> None:
    """Keep what the processes of a run have left, together with what earlier runs have.

    Args:
        network: Network of the run.
        folder: Folder of the run.

    Raises:
        InputError: The cache cannot be written.
    """
    processes = [each for each in of_processes(folder, network.num_hosts) if each.table]
    if not processes:
        return
    earlier = recall_paths(network) or KeptPaths({}, {})
    uses, links = _uses(processes), _links(processes)
    pairs = {(path[0], path[-1]) for path in uses}
    uses |= {
        path: use for path, use in earlier.use_of_path.items() if (path[0], path[-1]) not in pairs
    }
    links = earlier.segment_s_of_link | links
    document = {
        "kind": "paths",
        "version": 1,
        "uses": [{"path": path, "use": use} for path, use in sorted(uses.items())],
        "links": [
            {"src": src, "dst": dst, "segment_s": time_s}
            for (src, dst), time_s in sorted(links.items())
        ],
    }
    write_text(with_folder(_file(network)), json.dumps(document))


def with_kept_paths(table: PathTable, kept: KeptPaths) -> PathTable:
    """A table that begins as earlier runs have left it; paths that it has not are left out."""
    paths = tuple(
        dataclasses.replace(path, use=kept.use_of_path.get((path.src, *path.hops)))
        for path in table.paths
    )
    segment_s = [list(row) for row in table.segment_s]
    for (src, dst), time_s in kept.segment_s_of_link.items():
        if max(src, dst) < len(segment_s):
            segment_s[src][dst] = time_s
    return dataclasses.replace(table, paths=paths, segment_s=tuple(map(tuple, segment_s)))


def _uses(processes: Iterable[OfProcess]) -> dict[_Path, str]:
    """That of the most advanced process; of several standard paths of a pair the most frequent."""
    uses: dict[_Path, str] = {}
    standard: dict[tuple[int, int], Counter[_Path]] = {}
    for process in processes:
        for each in process.table:
            path = (process.src, *each.hops)
            uses[path] = max(uses.get(path, "found"), each.use, key=PATH_USES.index)
            if each.use == "standard":
                standard.setdefault((path[0], path[-1]), Counter())[path] += 1
    for counts in standard.values():
        chosen, _ = counts.most_common(1)[0]
        uses |= dict.fromkeys(counts, "open") | {chosen: "standard"}
    return uses


def _links(processes: Iterable[OfProcess]) -> dict[tuple[int, int], float]:
    """The mean of the processes."""
    times_s: dict[tuple[int, int], list[float]] = {}
    for process in processes:
        for link in process.links:
            times_s.setdefault((link.src, link.dst), []).append(link.segment_s)
    return {pair: float(np.mean(times)) for pair, times in times_s.items()}


def _file(network: Network) -> Path:
    content = hashlib.sha256(json.dumps(list(network.hosts)).encode())
    content.update(network.latency_s.tobytes() + network.bandwidth_Bps.tobytes())
    return cache_folder() / "paths" / f"{content.hexdigest()[:24]}.json"
