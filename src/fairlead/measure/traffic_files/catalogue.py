# SPDX-License-Identifier: Apache-2.0
"""All forms in which traffic is read, each recognised by its name or its first line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairlead.measure.trace_shares import are_shares, read_shares
from fairlead.measure.traffic_files.csv_matrix import read_csv
from fairlead.measure.traffic_files.intel_aps import is_aps, read_aps
from fairlead.measure.traffic_files.mpip import is_mpip, read_mpip
from fairlead.measure.traffic_files.open_mpi_monitoring import read_monitoring
from fairlead.measure.traffic_files.otf2_traces import read_otf2
from fairlead.model.traffic import Traffic

__all__ = ["FORMS", "is_otf2", "load_traffic"]


ANCHOR = "traces.otf2"
"""Name of a trace's file in the folder of an experiment of Score-P."""


class Form(NamedTuple):
    """A form of files.

    Attributes:
        name: For messages and help.
        is_form: Whether a path is of this form.
        read: Reads it.
    """

    name: str
    is_form: Callable[[Path], bool]
    read: Callable[[Path], Traffic]


def is_otf2(path: Path) -> bool:
    """By its name, or that of the file in its folder."""
    return path.suffix == ".otf2" or (path / ANCHOR).is_file()


def _read_otf2(path: Path) -> Traffic:
    return read_otf2(path / ANCHOR if path.is_dir() else path)


FORMS = (
    Form("a CSV file", lambda path: path.suffix == ".csv", read_csv),
    Form("a folder of a traced run's shares", are_shares, read_shares),
    Form("an OTF2 trace, traces.otf2 or its folder", is_otf2, _read_otf2),
    Form(
        "Open MPI's monitoring, a NAME.RANK.prof or their folder",
        lambda path: path.suffix == ".prof" or path.is_dir(),
        read_monitoring,
    ),
    Form("the chart of Intel's aps-report -x", is_aps, read_aps),
    Form("mpiP's report, which has no partners", is_mpip, read_mpip),
)


def load_traffic(path: Path) -> Traffic:
    """Read traffic in the form that the path's name shows, by default our own.

    Raises:
        InputError: It cannot be read, or something in it is impossible; the message names file and
            line or field.
    """
    for form in FORMS:
        if form.is_form(path):
            return form.read(path)
    return Traffic.load(path)
