# SPDX-License-Identifier: Apache-2.0
"""Writes traced-calls.md from the table of calls: `python docs/reference/make_traced_calls.py`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "mpi" / "intercept" / "table" / "calls.def"
PAGE = ROOT / "docs" / "reference" / "traced-calls.md"

MEANINGS = {
    "sent": "one message to `dest`, counted when the call succeeded",
    "will_send": "one message to `dest` at each start of the request",
    "started": "counts what the started persistent requests stand for",
    "forget_communicator": "the handle may come back for another communicator",
    "forget_request": "the handle may come back for another request",
    "nothing": "0 bytes",
    "broadcast": "the buffer, on every rank",
    "reduce": "the send buffer",
    "reduce_to": "the send buffer",
    "gather": "the send buffer (at the root with MPI_IN_PLACE: its own part)",
    "gather_v": "the send buffer (at the root with MPI_IN_PLACE: its own part)",
    "scatter": "the part of one rank, at the root too",
    "scatter_v": "the own part, at the root too",
    "allgather": "the send buffer (with MPI_IN_PLACE: the own part)",
    "allgather_v": "the send buffer (with MPI_IN_PLACE: the own part)",
    "reduce_scatter": "the send buffer",
    "reduce_scatter_block": "the send buffer",
    "alltoall": "the send buffer; per pair: each part but the own",
    "alltoall_v": "the send buffer; per pair: each part but the own and empty ones",
    "alltoall_w": "the send buffer; per pair: each part but the own and empty ones",
    "neighbor_allgather": "the send buffer; per pair: all of it to each out-neighbour",
    "neighbor_alltoall": "the send buffer; per pair: the part of each out-neighbour",
    "neighbor_alltoall_v": "the send buffer; per pair: the part of each out-neighbour",
    "neighbor_alltoall_w": "the send buffer; per pair: the part of each out-neighbour",
    "cart_create": "with `reorder=1`: ranks placed, neighbours in the grid being the edges",
    "dist_graph_create": "with `reorder=1`: ranks placed by the edges and their weights",
    "dist_graph_create_adjacent": "with `reorder=1`: ranks placed by the edges and their weights",
    "Init": "tracing and reordering begin when the call has succeeded",
    "Init_thread": "tracing and reordering begin when the call has succeeded",
    "Finalize": "the counters are gathered and written, then the call is made",
}
SECTIONS = {
    "LIFECYCLE": "Begin and end",
    "CALL": "Messages and requests",
    "COLLECTIVE_CALL": "Collectives: what one rank hands to one call",
    "COLLECTIVE_INIT": "Persistent collectives: the same, counted at each start",
    "RELEASE": "Handles that die",
    "TOPOLOGY": "Topologies: placed by the plan, not counted",
}
HEAD = """# Traced calls

Generated from `mpi/intercept/table/calls.def` by `docs/reference/make_traced_calls.py`; do not
edit.

The preload library takes these calls; `fairlead trace` counts them. Bytes are payload: count times
the size of the datatype. Messages go to the matrices `bytes`, `messages` and `max_message_bytes`;
what the exchanges (alltoall, neighbourhood collectives) hand from rank to rank goes to the matrices
`exchange_*`; every collective also has a row in the table of collective calls.
"""


class Row(NamedTuple):
    """One row of the table, without the prefix MPI_."""

    kind: str
    name: str
    meaning: str


def rows(mpi4_requests: bool, large_counts: bool) -> list[Row]:
    """All rows for an MPI with these features, in the order of the table."""
    pattern = {
        "LIFECYCLE(name)": "name|name",
        "RELEASE(name, p, a, meaning)": "name|meaning",
        "TOPOLOGY(name, p, a, meaning)": "name|meaning",
        "CALL(name, p, a, meaning)": "name|meaning",
        "COLLECTIVE_CALL(name, p, a, comm, meaning)": "name|meaning",
        "COLLECTIVE_INIT(name, p, a, comm, request, meaning)": "name|meaning",
    }
    # The arguments' own macros are expanded before the row is printed, hence two steps.
    source = "".join(
        f"#define ROW_{head} @{head.split('(')[0]}|{body}@\n"
        f"#define {head.split('(')[0]}(...) ROW_{head.split('(')[0]}(__VA_ARGS__)\n"
        for head, body in pattern.items()
    )
    features = [
        f"-DFAIRLEAD_MPI4_REQUESTS={int(mpi4_requests)}",
        f"-DFAIRLEAD_LARGE_COUNTS={int(large_counts)}",
    ]
    done = subprocess.run(
        ["c++", "-E", "-P", "-xc++", *features, "-"],
        input=f'{source}#include "{TABLE}"\n',
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"@\s*(\w+)\s*\|\s*(\w+)\s*\|\s*(\w+)[^@]*@", done.stdout)
    return [Row(*row) for row in found]


def page() -> str:
    """The whole page."""
    everywhere = {row.name for row in rows(False, False)}
    with_requests = {row.name for row in rows(True, False)}
    parts = [HEAD]
    all_rows = rows(True, True)
    for kind, title in SECTIONS.items():
        parts.append(f"\n## {title}\n\n| call | needs | meaning |\n|---|---|---|\n")
        for row in all_rows:
            if row.kind == kind and not (
                row.name.endswith("_c") and row.name[:-2] in with_requests
            ):
                needs = "" if row.name in everywhere else "MPI 4.0"
                both = f"{row.name}_c" in {other.name for other in all_rows}
                name = f"`MPI_{row.name}`" + (", `_c`" if both else "")
                parts.append(f"| {name} | {needs} | {MEANINGS[row.meaning]} |\n")
    parts.append(
        "\n`_c`: the variant with counts of type `MPI_Count` is traced too, where the MPI has it.\n"
    )
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
