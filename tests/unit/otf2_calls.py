# SPDX-License-Identifier: Apache-2.0
"""Traces of OTF2 for tests, which list their calls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

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
) -> list[Call]:
    """One collective call: bytes that each world rank sent and received, as the trace has them."""
    return [
        {
            "rank": rank,
            "operation": operation,
            "communicator": communicator,
            "root": root,
            "sizes": sent_and_received,
            "region": region,
            "is_blocking": is_blocking,
        }
        for rank, sent_and_received in sizes.items()
    ]


def write_trace(
    folder: Path,
    num_ranks: int,
    events: Sequence[Call],
    communicators: Mapping[str, object] | None = None,
    creator: str = "",
) -> Path:
    """Write a trace.

    Args:
        folder: To write it to.
        num_ranks: World ranks.
        events: What all ranks do, in their order.
        communicators: World ranks of each by name, in addition to "world"; two lists for one
            between two groups, "self" for MPI_COMM_SELF.
        creator: What the tool that writes it calls itself.

    Returns:
        Its anchor file.
    """
    content = {
        "num_ranks": num_ranks,
        "events": list(events),
        "communicators": {"world": list(range(num_ranks)), **(communicators or {})},
        "creator": creator,
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
