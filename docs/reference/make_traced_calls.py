# SPDX-License-Identifier: Apache-2.0
"""Writes traced-calls*.md from the table of calls: `python docs/reference/make_traced_calls.py`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
INTERCEPT = ROOT / "mpi" / "intercept"
FOLDER = ROOT / "docs" / "reference"

MEANINGS = {
    "sent": "one message to `dest`, counted when the call succeeded",
    "will_send": "one message to `dest` at each start of the request",
    "started": "counts what the started persistent requests stand for",
    "aborting": "before the call each rank that makes it writes its share of the trace",
    "forget_communicator": "the handle may come back for another communicator",
    "forget_request": "the handle may come back for another request",
    "put": "the data, from the origin to the target",
    "fetched": "the data, from the target to the origin",
    "fetched_and_put": "the operand to the target (none with MPI_NO_OP), the result to the origin",
    "swapped": "one element to the target, one to the origin",
    "shared_memory": "a window whose loads and stores are not seen",
    "spawned": "processes whose own messages are not seen",
    "forget_window": "the handle may come back for another window",
    "nothing": "0 bytes",
    "broadcast": "the buffer, on every rank",
    "reduce": "the send buffer",
    "reduce_to": "the send buffer",
    "gather": "the send buffer (at the root with MPI_IN_PLACE: its own part)",
    "gather_v": "the send buffer (at the root with MPI_IN_PLACE: its own part)",
    "scatter": "the part of one rank, at the root too",
    "scatter_v": "the rank's own part, at the root too",
    "allgather": "the send buffer (with MPI_IN_PLACE: the rank's own part)",
    "allgather_v": "the send buffer (with MPI_IN_PLACE: the rank's own part)",
    "reduce_scatter": "the send buffer",
    "reduce_scatter_block": "the send buffer",
    "alltoall": "the send buffer; per pair: each part except the rank's own",
    "alltoall_v": "the send buffer; per pair: each part except the rank's own and empty ones",
    "alltoall_w": "the send buffer; per pair: each part except the rank's own and empty ones",
    "neighbor_allgather": "the send buffer; per pair: all of it to each out-neighbour",
    "neighbor_alltoall": "the send buffer; per pair: the part of each out-neighbour",
    "neighbor_alltoall_v": "the send buffer; per pair: the part of each out-neighbour",
    "neighbor_alltoall_w": "the send buffer; per pair: the part of each out-neighbour",
    "Init": "tracing and features begin when the call has succeeded",
    "Init_thread": "tracing and features begin when the call has succeeded",
    "Finalize": "the counters are gathered and written, then the call is made",
}
HANDLED = {
    "collectives": "follows its planned schedule, where the plan has a rule for it",
    "reorder": "with `reorder=1`: ranks placed by weighted edges, in a grid to its neighbours",
    "relay": "a large message may go by way of other hosts",
    "freeing": "meanwhile delete callbacks may communicate, and collectives are the MPI's own",
}
LEFT_TO_THE_MPI = "the MPI carries the message, but for strings of 23 bytes"
KEPT_MODES = ("Bsend", "Ssend", "Ibsend", "Issend", "Bsend_init", "Ssend_init")
"""What a rendezvous header in their place would not keep."""
SECTIONS = {
    "lifecycle": "Begin and end",
    "counted": "Messages and requests",
    "collective": "What one rank hands to one call",
    "collective_init": "Persistent collectives: the same, counted at each start",
    "released": "Handles that die",
    "ending": "Calls that end the program",
    "unobserved": "Not counted",
}
GENERATED = """
Generated from `calls.def` and `handlers.def` in `mpi/intercept/table/` by
`docs/reference/make_traced_calls.py`; do not edit. `_c` stands for the variant with counts of type
`MPI_Count`, which is taken too, where the MPI has it.
"""
HEAD = (
    """# Traced calls

The preload library takes these calls; `fairlead trace` counts them. Collectives have
[a page of their own](traced-collectives.md).
"""
    + GENERATED
    + """
Bytes are payload: count times the size of the datatype. Messages, and what one-sided calls put and
get, go to the matrices `bytes`, `messages` and `max_message_bytes`.
"""
)
HEAD_OF_COLLECTIVES = (
    """# Traced collectives

Every collective has a row in the table of collective calls. What the exchanges (alltoall,
neighbourhood collectives) hand from rank to rank goes to the matrices `exchange_*`; messages are
among the [traced calls](traced-calls.md).
"""
    + GENERATED
)
PAGES = {
    "traced-calls.md": (HEAD, ("lifecycle", "counted", "released", "ending", "unobserved")),
    "traced-collectives.md": (HEAD_OF_COLLECTIVES, ("collective", "collective_init")),
}
"""Head of each page, and the kinds of rows that it has."""


class Row(NamedTuple):
    """One row of the table, without the prefix MPI_."""

    name: str
    kind: str  # the first word of what is observed
    meaning: str  # "" where nothing is
    feature: str  # that handles the call, or ""


def rows(mpi4_requests: bool, large_counts: bool) -> list[Row]:
    """All rows for an MPI with these features, in the order of the table."""
    features = [
        f"-DFAIRLEAD_MPI4_REQUESTS={int(mpi4_requests)}",
        f"-DFAIRLEAD_LARGE_COUNTS={int(large_counts)}",
        "-DFAIRLEAD_SPAWNING=1",
    ]
    handlers = preprocessed(
        "#define FEATURE(feature)\n"
        "#define HANDLER(feature, call) @feature|call@\n"
        '#include "table/handlers.def"\n',
        *features,
    )
    feature_of_call = {call: feature for feature, call in re.findall(r"@(\w+)\|(\w+)@", handlers)}
    # The arguments' own macros are expanded before the row is printed, hence two steps.
    calls = preprocessed(
        "#define ROW(name, parameters, arguments, observe) @name|observe@\n"
        "#define CALL(...) ROW(__VA_ARGS__)\n"
        "#define LIFECYCLE(name) @name|lifecycle(name())@\n"
        '#include "table/calls.def"\n',
        *features,
    )
    found = re.findall(r"@\s*(\w+)\s*\|\s*(\w+)(?:\s*\([^()]*?(\w+)\s*\()?[^@]*@", calls)
    return [Row(*row, feature_of_call.get(row[0], "")) for row in found]


def preprocessed(source: str, *options: str) -> str:
    """The text after the preprocessor of C++, with the library's folder to include from."""
    command = ["c++", "-E", "-P", "-xc++", f"-I{INTERCEPT}", *options, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def described(row: Row) -> str:
    """What becomes of a call, in words."""
    words = [MEANINGS[row.meaning]] if row.meaning else []
    if row.name in KEPT_MODES:
        words.append(LEFT_TO_THE_MPI)
    elif row.feature:
        words.append(HANDLED[row.feature])
    return "; ".join(words or ["left to the MPI"])


def pages() -> dict[Path, str]:
    """All pages."""
    everywhere = {row.name for row in rows(False, False)}
    with_requests = {row.name for row in rows(True, False)}
    all_rows = rows(True, True)
    names = {row.name for row in all_rows}
    shown = [
        row for row in all_rows if not (row.name.endswith("_c") and row.name[:-2] in with_requests)
    ]
    texts = {}
    for file, (head, kinds) in PAGES.items():
        parts = [head]
        for kind in kinds:
            parts.append(f"\n## {SECTIONS[kind]}\n\n| call | needs | meaning |\n|---|---|---|\n")
            for row in shown:
                if row.kind == kind:
                    needs = "" if row.name in everywhere else "MPI 4.0"
                    name = f"`MPI_{row.name}`" + (", `_c`" if f"{row.name}_c" in names else "")
                    parts.append(f"| {name} | {needs} | {described(row)} |\n")
        texts[FOLDER / file] = "".join(parts)
    return texts


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
