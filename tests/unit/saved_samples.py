# SPDX-License-Identifier: Apache-2.0
"""A network and a traffic whose files are tested, and such files with a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import fairlead as fl
from fairlead.files.archive import save_archive

NETWORK_FACTS = {
    **{"hosts": ["a", "b"], "origin": {}},
    **{"unreachable": {}, "flows": None, "launch_s": None},
}


def two_hosts() -> fl.Network:
    return fl.Network(["a", "b"], [[0, 1e-5], [2e-5, 0]], [[np.inf, 1e8], [2e8, np.inf]])


def three_ranks() -> fl.Traffic:
    return fl.Traffic(
        bytes=sp.csr_array(np.array([[0, 10, 0], [0, 0, 2.0**40], [5, 0, 0]])),
        messages=sp.csr_array(np.array([[0, 1, 0], [0, 0, 7], [5, 0, 0]])),
        exchange_bytes=sp.csr_array(np.array([[0, 0, 3], [0, 0, 0], [0, 0, 0]])),
        collectives=[
            fl.CollectiveCall("allreduce", 3, 8, 12, 0.25),
            fl.CollectiveCall("bcast", 2, 8, 12, 0.25, root=1, communicator=1),
        ],
        communicators=[np.array([0, 1, 2]), np.array([2, 0])],
        untraced=fl.Untraced(messages=2, bytes=10),
        run_time_s=1.5,
    )


def save_network(path: Path, arrays: dict[str, Any] | None = None, **meta: object) -> None:
    """The file of a network with other arrays or another header."""
    whole = {"latency_s": np.zeros((2, 2)), "bandwidth_Bps": np.full((2, 2), np.inf)}
    save_archive(path, "network", 2, {**NETWORK_FACTS, **meta}, {**whole, **(arrays or {})})


def save_traffic(path: Path, arrays: dict[str, Any] | None = None, **meta: object) -> None:
    """The file of `three_ranks` with other arrays or another header."""
    three_ranks().save(path)
    with np.load(path) as archive:
        whole = {name: archive[name] for name in archive.files}
    header = json.loads(str(whole.pop("meta")[()]))
    save_archive(path, "traffic", 2, {**header, **meta}, {**whole, **(arrays or {})})
