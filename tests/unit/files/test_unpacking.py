# SPDX-License-Identifier: Apache-2.0
"""An archive that would fill the memory is refused before it is unpacked."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from saved_samples import NETWORK_FACTS, save_network, save_traffic, three_ranks

import fairlead as fl
from fairlead.files.archive import save_archive
from fairlead.files.archive_arrays import ArchiveArrays

MANY = 2**23


def test_an_unknown_array_is_refused_and_not_unpacked(tmp_path: Path) -> None:
    save_network(tmp_path / "a.npz", {"more": np.zeros(MANY)})
    with pytest.raises(fl.InputError, match=r"a\.npz: more: is no array of a network file"):
        without_unpacking(lambda: fl.Network.load(tmp_path / "a.npz"))


def test_an_array_of_another_shape_is_refused_and_not_unpacked(tmp_path: Path) -> None:
    save_network(tmp_path / "a.npz", {"latency_s": np.zeros((2**11, 2**12))})
    with pytest.raises(
        fl.InputError, match=r"latency_s: expected shape \(2, 2\), got \(2048, 4096"
    ):
        without_unpacking(lambda: fl.Network.load(tmp_path / "a.npz"))


def test_more_entries_than_a_traffic_has_pairs_are_not_unpacked(tmp_path: Path) -> None:
    arrays = {"bytes.data": np.zeros(MANY), "bytes.indptr": np.array([0, MANY, MANY, MANY])}
    save_traffic(tmp_path / "a.npz", arrays)
    with pytest.raises(fl.InputError, match=r"bytes\.indptr: is not a row index of its data"):
        without_unpacking(lambda: fl.Traffic.load(tmp_path / "a.npz"))


def test_an_array_that_claims_more_than_it_has_is_refused(tmp_path: Path) -> None:
    # 2**40 numbers by the header of the array, none behind it.
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**20, 2**20)}
    )
    save_archive(tmp_path / "a.npz", "network", 2, NETWORK_FACTS, {})
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("latency_s.npy", header.getvalue())
    with pytest.raises(fl.InputError, match=r"latency_s: is damaged: .* claims 8796093022208 b"):
        without_unpacking(lambda: fl.Network.load(tmp_path / "a.npz"))


def test_an_archive_that_unpacks_to_more_than_the_bound_is_refused(tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    with pytest.raises(fl.InputError, match=rf"its arrays take more than {unpacked - 1} bytes"):
        ArchiveArrays(tmp_path / "a.npz", most_bytes=unpacked - 1)


def without_unpacking(load: Callable[[], object]) -> None:
    """Fails where loading takes an eighth of the memory of MANY numbers."""
    tracemalloc.start()
    try:
        load()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MANY
