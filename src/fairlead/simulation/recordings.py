# SPDX-License-Identifier: Apache-2.0
"""Recorded traffic of the NAS Parallel Benchmarks that comes with Fairlead (npb/README.md)."""

from __future__ import annotations

import csv
import dataclasses
import functools

import numpy as np

from fairlead.errors import InputError
from fairlead.files.package_folders import data_folder
from fairlead.model.traffic import Traffic

__all__ = ["Recording", "load_recording", "recording_names"]

_FOLDER = data_folder("simulation/npb")


@dataclasses.dataclass(frozen=True, eq=False)
class Recording:
    """The traffic of one benchmark, and how much it computed.

    Attributes:
        traffic: Point-to-point messages and exchange patterns; the run time is not known.
        mop: Million operations of the whole run, all ranks together.
    """

    traffic: Traffic
    mop: float


def recording_names() -> list[str]:
    """All recordings, for example "cg.C.32": benchmark, class, number of ranks."""
    return sorted(_index())


@functools.cache
def load_recording(name: str) -> Recording:
    """One recording; "cg.C.32" is CG, class C, on 32 ranks.

    Raises:
        InputError: There is no such recording, or its file does not agree with the index.
    """
    if name not in _index():
        raise InputError(f"recording {name!r}: there are {', '.join(recording_names())}")
    entry = _index()[name]
    num_ranks = int(name.rsplit(".", 1)[1])
    sent = {kind: np.zeros((3, num_ranks, num_ranks)) for kind in ("p2p", "alltoall")}
    with (_FOLDER / f"{name}.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            for plane, field in enumerate(("bytes", "messages", "max_message_bytes")):
                sent[row["kind"]][plane, int(row["src"]), int(row["dst"])] = float(row[field])
    _check_sums(name, entry, sum(planes.sum(axis=(1, 2)) for planes in sent.values()))
    p2p, exchange = sent["p2p"], sent["alltoall"]
    traffic = Traffic(
        bytes=p2p[0],
        messages=p2p[1],
        max_message_bytes=p2p[2],
        exchange_bytes=exchange[0],
        exchange_messages=exchange[1],
        exchange_max_message_bytes=exchange[2],
        origin={"how": name},
    )
    return Recording(traffic, entry["mop"])


@functools.cache
def _index() -> dict[str, dict[str, float]]:
    """Facts about each recording: `mop`, and the sums that its file must have."""
    with (_FOLDER / "index.csv").open(newline="") as stream:
        return {
            row.pop("name"): {field: float(value) for field, value in row.items()}
            for row in csv.DictReader(stream)
        }


def _check_sums(name: str, entry: dict[str, float], sums: np.ndarray | int) -> None:
    found = np.asarray(sums)
    for field, value in (("bytes", found[0]), ("messages", found[1])):
        if value != entry[field]:
            raise InputError(
                f"recording {name}: {value:.0f} {field}, but the index says {entry[field]:.0f}"
            )
