# SPDX-License-Identifier: Apache-2.0
"""Latencies that were measured elsewhere are returned as their file has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.watch.oracle.latencies import LatencyFile


def write(path: Path, latency_s: float, mtime_s: float) -> None:
    latencies_s = np.array([[0.0, latency_s], [latency_s, 0.0]])
    fl.Network(("a", "b"), latencies_s, np.array([[np.inf, 1e9], [1e9, np.inf]])).save(path)
    os.utime(path, (mtime_s, mtime_s))


def test_file_is_read_again_when_it_was_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "now.net.npz"
    write(file, 1e-3, mtime_s=1)
    latencies = LatencyFile(file, report=lambda line: None)

    write(file, 2e-3, mtime_s=2)

    assert latencies().latency_s[0, 1] == 2e-3


def test_damaged_file_is_reported_once_and_the_network_before_it_stays(tmp_path: Path) -> None:
    file, lines = tmp_path / "now.net.npz", list[str]()
    write(file, 1e-3, mtime_s=1)
    latencies = LatencyFile(file, report=lines.append)

    file.write_bytes(b"half of it")
    networks = [latencies(), latencies()]

    assert [network.latency_s[0, 1] for network in networks] == [1e-3, 1e-3]
    assert len(lines) == 1
    assert lines[0].startswith(f"{file}: ")
    write(file, 3e-3, mtime_s=3)
    assert latencies().latency_s[0, 1] == 3e-3
    assert lines[1:] == [f"{file}: can be read again"]
