# SPDX-License-Identifier: Apache-2.0
"""Any Fairlead file, recognised by its content and not by its name."""

from __future__ import annotations

import re
import reprlib
from pathlib import Path
from typing import Any, Protocol

from fairlead.errors import InputError
from fairlead.files.archive_arrays import ArchiveArrays
from fairlead.files.json_files import parse_json
from fairlead.files.run_directory import COMPARISON, HISTORY, PLACEMENT
from fairlead.files.whole_file import read_bytes
from fairlead.flows.compare.comparison import Comparison
from fairlead.measure.trace_shares import are_shares
from fairlead.measure.traffic_files import load_traffic
from fairlead.measure.traffic_files.catalogue import is_otf2
from fairlead.measure.traffic_files.intel_aps import is_aps
from fairlead.measure.traffic_files.mpip import is_mpip
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.topology import Topology
from fairlead.model.traffic import Traffic
from fairlead.simulation import JobsRecord
from fairlead.simulation.jobs_record import JOBS
from fairlead.simulation.recordings import load_recording
from fairlead.watch.history import History

Content = Network | Topology | Traffic | Placement | Comparison | JobsRecord | History


class _Loader(Protocol):
    def load(self, path: Path | str) -> Any: ...


KINDS: dict[str, _Loader] = {
    "network": Network,
    "topology": Topology,
    "traffic": Traffic,
    "placement": Placement,
    "comparison": Comparison,
    "jobs-placement": JobsRecord,
    "history": History,
}

OUTCOMES = (JOBS, COMPARISON, HISTORY, PLACEMENT)
"""Files of a run's folder with its results, the most informative first."""

_RECORDING = re.compile(r"[a-z]{2}\.[A-Z]\.[0-9]+")

_ZIP_START = b"PK"


def load_any(path: Path) -> Content:
    """Read a network, topology, traffic, placement, comparison or history, or several placed jobs.

    Args:
        path: The file, or a run's folder, for the first of `OUTCOMES` in it, or a folder of a
            traced run's shares, or the name of a recorded benchmark, for example "cg.C.32".

    Raises:
        InputError: The file is missing, damaged, or none of these.
    """
    if _RECORDING.fullmatch(str(path)) and not path.exists():
        return load_recording(str(path)).traffic
    is_foreign = path.suffix in {".csv", ".prof"} or is_mpip(path) or is_aps(path)
    if is_foreign or is_otf2(path) or are_shares(path):
        return load_traffic(path)
    path = next((path / name for name in OUTCOMES if (path / name).is_file()), path)
    kind = _kind(path)
    if not isinstance(kind, str) or kind not in KINDS:
        allowed = ", ".join(KINDS)
        raise InputError(f"{path}: kind: expected one of {allowed}, got {reprlib.repr(kind)}")
    content: Content = KINDS[kind].load(path)
    return content


def _kind(path: Path) -> object:
    data = read_bytes(path)
    if data.startswith(_ZIP_START):
        return ArchiveArrays(path).header().get("kind")
    if data.lstrip()[:1] != b"{":
        raise InputError(f"{path}: neither a NumPy archive nor JSON: not a Fairlead file")
    return parse_json(data, dict[str, Any], path).get("kind")
