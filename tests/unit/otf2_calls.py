# SPDX-License-Identifier: Apache-2.0
"""Traces of OTF2 for tests, which list their calls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairlead.measure.traffic_files import load_traffic
from fairlead.model.traffic import Traffic

SCORE_P = "Score-P 8.4"
SYSTEM_PYTHON = "/usr/bin/python3"
NO_ROOT = 2**32 - 1
"""What OTF2 calls COLLECTIVE_ROOT_NONE."""

has_otf2 = pytest.mark.skipif(
    not Path(SYSTEM_PYTHON).exists()
    or subprocess.run(
        [SYSTEM_PYTHON, "-c", "import otf2"], check=False, capture_output=True
    ).returncode,
    reason="python3-otf2 is not installed",
)

Call = dict[str, Any]
"""A call of one rank, or a message to `receiver`."""


def calls(
    operation: str | int,
    sizes: Mapping[int, tuple[int, int]],
    *,
    communicator: str = "world",
    root: int = NO_ROOT,
    region: str | None = None,
    is_blocking: bool = True,
    is_region_only: bool = False,
    is_unwound: bool = False,
) -> list[Call]:
    """One collective call: bytes that each world rank sent and received, as the trace has them.

    With `is_region_only` the trace has that the function was entered and left, and no more;
    with `is_unwound` it has it as by unwinding of the stack.
    """
    return [
        {
            "rank": rank,
            "operation": operation,
            "communicator": communicator,
            "root": root,
            "sizes": sent_and_received,
            "region": region,
            "is_blocking": is_blocking,
            "is_region_only": is_region_only,
            "is_unwound": is_unwound,
        }
        for rank, sent_and_received in sizes.items()
    ]


def write_trace(
    folder: Path,
    num_ranks: int,
    events: Sequence[Call],
    communicators: Mapping[str, object] | None = None,
    creator: str = "",
    grids: Sequence[tuple[str, Sequence[int]]] = (),
) -> Path:
    """Write a trace.

    Args:
        folder: To write it to.
        num_ranks: World ranks.
        events: What all ranks do, in their order.
        communicators: World ranks of each by name, in addition to "world"; two lists for one
            between two groups, "self" for MPI_COMM_SELF.
        creator: What the tool that writes it calls itself.
        grids: A communicator's name and the sides of its grid; negative where not periodic.

    Returns:
        Its anchor file.
    """
    content = {
        "num_ranks": num_ranks,
        "events": list(events),
        "communicators": {"world": list(range(num_ranks)), **(communicators or {})},
        "creator": creator,
        "grids": list(grids),
    }
    program = Path(__file__).with_name("otf2_writer.py")
    subprocess.run(
        [SYSTEM_PYTHON, str(program), str(folder / "trace")],
        input=json.dumps(content),
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / "trace" / "traces.otf2"


def same(num_ranks: int, sent: int, received: int) -> dict[int, tuple[int, int]]:
    return dict.fromkeys(range(num_ranks), (sent, received))


def rows(traffic: Traffic) -> list[tuple[str, int, int, int, int | None]]:
    """Operation, ranks, bytes, calls and root, in order."""
    return sorted(
        (call.operation, call.communicator_size, call.message_bytes, call.calls, call.root)
        for call in traffic.collectives
    )


def read(folder: Path, num_ranks: int, events: list[Call], **options: object) -> Traffic:
    return load_traffic(write_trace(folder, num_ranks, events, **options))  # type: ignore[arg-type]


MANY_PARTS = calls("bcast", {0: (400, 100), 1: (0, 100), 2: (0, 100), 3: (0, 100)}, root=0)
"""A broadcast of 100 bytes, counted a part for each rank."""

ONCE_SCANNED = calls("scan", same(4, 8, 8))
"""Scans of 8 bytes, counted by their arguments."""
