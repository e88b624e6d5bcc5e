# SPDX-License-Identifier: Apache-2.0
"""Recorded traffic of the NAS Parallel Benchmarks that comes with Fairlead."""

from __future__ import annotations

import fairlead as fl
from fairlead.simulation.recordings import load_recording, recording_names


def names() -> list[str]:
    """All recordings, for example "cg.C.32"."""
    return recording_names()


def load(name: str) -> fl.Traffic:
    """One recording; "cg.C.32" is CG, class C, on 32 ranks."""
    return load_recording(name).traffic
