# SPDX-License-Identifier: Apache-2.0
"""What Open MPI's own monitoring has counted: `--mca pml_monitoring_filename NAME`.

Each rank writes NAME.RANK.prof. Lines E are the program's messages, lines I those that the MPI
sends inside of collectives; lines C count the same collectives once more, and are left out. Lines S
are what a rank puts into another's window, lines R what it gets from there.

Source: ompi/mca/common/monitoring/README of Open MPI 4.1.4; tried with pml_monitoring_enable 2.
test/monitoring/monitoring_test.c has an example with windows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.traffic_files.rank_matrix import MAX_RANKS, RankMatrix, traffic_of
from fairlead.model.traffic import Traffic

__all__ = ["read_monitoring"]

_KINDS = frozenset("EISR")
_PATH = re.compile(r"(.*)\.(\d{1,7})\.prof", re.ASCII)
_LINE = re.compile(
    r"([EISR])\t(\d{1,7})\t(\d{1,7})\t(\d{1,18}) bytes\t(\d{1,18}) msgs sent", re.ASCII
)


def read_monitoring(path: Path) -> Traffic:
    """Read the files of all ranks.

    Args:
        path: The file of one rank, or a folder with those of one job.

    Raises:
        InputError: A rank's file is missing or cannot be read, or a line is not understood.
    """
    files = _files(path)
    sent = {kind: RankMatrix() for kind in ("E", "I", "S")}
    for rank, file in enumerate(files):
        for number, line in enumerate(read_lines(file, "ascii"), 1):
            if line[:1] not in _KINDS:
                continue
            found = _LINE.match(line)
            if found is None:
                raise InputError(f"{file}:{number}: expected 'E SRC DST N bytes M msgs sent'")
            kind, *numbers = found.groups()
            src, dst, sent_bytes, messages = map(int, numbers)
            if max(src, dst) >= len(files):
                raise InputError(
                    f"{file}:{number}: rank {max(src, dst)}, but there are files of {len(files)} "
                    "ranks; name the folder with those of all ranks"
                )
            if src != rank:
                raise InputError(f"{file}:{number}: is of rank {src}, in the file of rank {rank}")
            if kind == "R":
                kind, src, dst = "S", dst, src
            sent[kind].add(src, dst, sent_bytes, messages, -(-sent_bytes // max(messages, 1)))
    origin = {"how": "given", "file": str(path), "counted_by": "Open MPI's monitoring"}
    # Windows that send by messages (osc/pt2pt) may be counted among the messages, too.
    if not sent["E"].holds(sent["S"], sent["I"]):
        sent["E"].add_all(sent["S"])
    elif sent["S"].num_ranks:
        origin["left_out"] = "one-sided messages, which the others seem to hold"
    return traffic_of(sent["E"], sent["I"], len(files), origin)


def _files(path: Path) -> Sequence[Path]:
    """The files of all ranks, in the order of the ranks."""
    folder = path if path.is_dir() else path.parent
    found = {
        (match[1], int(match[2])): file
        for file in folder.glob("*.prof")
        if (match := _PATH.fullmatch(file.name))
    }
    names = {name for name, _ in found}
    if not path.is_dir():
        own = _PATH.fullmatch(path.name)
        if own is None:
            raise InputError(f"{path}: expected a name of the form NAME.RANK.prof")
        names = {own[1]}
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "none"
        raise InputError(f"{path}: files NAME.RANK.prof of one job are needed; names: {listed}")
    (name,) = names
    ranks = sorted(rank for of, rank in found if of == name)
    if not ranks or ranks != list(range(len(ranks))) or len(ranks) > MAX_RANKS:
        gap = next((rank for rank in range(len(ranks) + 1) if rank not in ranks), 0)
        raise InputError(f"{folder}: {name}.{gap}.prof is missing")
    return [found[name, rank] for rank in ranks]
