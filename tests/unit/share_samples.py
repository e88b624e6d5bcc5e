# SPDX-License-Identifier: Apache-2.0
"""Shares of a traced run, as ranks leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

OPERATIONS = ["allreduce", "bcast"]
RANK = "<f8,<u8,<u8,<u8,<u8,<u8"
PAIR = "<u4,<u4,<u8,<u8,<u8"


def share(
    rank: int,
    num_ranks: int,
    sent: dict[int, int],
    *,
    covers_s: float = 20.0,
    occasion: str = "interval",
    said_rank: int | None = None,
    **header: Any,
) -> bytes:
    """The file of a rank that has sent some bytes, in one message each, to other ranks."""
    rows = {
        "ranks": np.array([(covers_s, 0, 0, 0, 0, 0)], RANK),
        "sent": np.array([(rank, dst, 1, size, size) for dst, size in sorted(sent.items())], PAIR),
        "fetched": np.array([], PAIR),
        "exchanged": np.array([], PAIR),
        "collectives": np.array([(7, num_ranks, 0, -1, 8, 2, 0.5)], "<u8,<u4,<u4,<i8,<u8,<u8,<f8"),
        "communicators": np.array([(7, num_ranks)] if rank == 0 else [], "<u8,<u8"),
        "members": np.arange(num_ranks if rank == 0 else 0, dtype="<u4"),
    }
    fields = {
        "format": "fairlead-share",
        "version": 1,
        "mpi": "Open MPI v4.1.4",
        "rank": rank if said_rank is None else said_rank,
        "num_ranks": num_ranks,
        "number": 1,
        "occasion": occasion,
        "byte_order": "little",
        "operations": OPERATIONS,
        "num_rows": {name: len(table) for name, table in rows.items()},
        **header,
    }
    line = json.dumps(fields, separators=(",", ":")).encode() + b"  \n"
    return line + b"".join(table.tobytes() for table in rows.values())


def write_share(folder: Path, rank: int, *arguments: Any, **options: Any) -> Path:
    """Leave the share of a rank in a folder; as `share`."""
    file = folder / f"rank-{rank}.share"
    file.write_bytes(share(rank, *arguments, **options))
    return file
