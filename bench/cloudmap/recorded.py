# SPDX-License-Identifier: Apache-2.0
"""Recorded traffic of the NAS Parallel Benchmarks (see npb/README.md) as `Traffic`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import fairlead as fl

FOLDER = Path(__file__).with_name("npb")


def names() -> list[str]:
    """All recordings, for example "cg.C.32"."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def load(name: str) -> fl.Traffic:
    """One recording; "cg.C.32" is CG, class C, on 32 ranks."""
    num_ranks = int(name.rsplit(".", 1)[1])
    sent = {kind: np.zeros((3, num_ranks, num_ranks)) for kind in ("p2p", "alltoall")}
    with (FOLDER / f"{name}.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            for plane, field in enumerate(("bytes", "messages", "max_message_bytes")):
                sent[row["kind"]][plane, int(row["src"]), int(row["dst"])] = float(row[field])
    exchange = dict(
        zip(
            ("exchange_bytes", "exchange_messages", "exchange_max_message_bytes"),
            sent["alltoall"],
            strict=True,
        )
    )
    bytes_, messages, largest = sent["p2p"]
    return fl.Traffic(bytes_, messages, largest, **exchange, origin={"how": name})
