# SPDX-License-Identifier: Apache-2.0
"""The MPIs that Fairlead is built for: in the terminal, and as facts for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlead.act.mpi_builds import MpiBuild, mpi_title


def facts(build: MpiBuild) -> dict[str, Any]:
    """One build as plain values."""
    return {
        "abi": build.abi,
        "family": build.family,
        "version": ".".join(map(str, build.version)),
        "wrapper": str(build.wrapper),
        "root": str(build.root),
        "is_current": build.is_current(),
    }


def lines(builds: Sequence[MpiBuild]) -> list[str]:
    """A line for each build."""
    if not builds:
        return ["none; build for yours by: fairlead mpi add --mpicxx PATH"]
    return [_line(build) for build in builds]


def _line(build: MpiBuild) -> str:
    note = "" if build.is_current() else " (by another version of Fairlead: build it again)"
    return f"{build.abi:22} {mpi_title(build.family, build.version):18} {build.root}{note}"
