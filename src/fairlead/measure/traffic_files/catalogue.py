# SPDX-License-Identifier: Apache-2.0
"""All forms in which traffic is read, each recognised by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairlead.measure.traffic_files.csv_matrix import read_csv
from fairlead.measure.traffic_files.open_mpi_monitoring import read_monitoring
from fairlead.model.traffic import Traffic

__all__ = ["FORMS", "load_traffic"]


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


FORMS = (
    Form("a CSV file", lambda path: path.suffix == ".csv", read_csv),
    Form(
        "Open MPI's monitoring, a NAME.RANK.prof or their folder",
        lambda path: path.suffix == ".prof" or path.is_dir(),
        read_monitoring,
    ),
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
