# SPDX-License-Identifier: Apache-2.0
"""What is no whole file of the wanted kind is refused, and the message names it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_samples import three_ranks, two_hosts

import fairlead as fl
from fairlead.files.archive import save_archive
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import Topology
from fairlead.report.files import load_any

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.mark.parametrize("load", [fl.Network.load, fl.Traffic.load, fl.Placement.load])
def test_missing_file_is_named(load, tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match=r"gone\.file: no such file"):
        load(tmp_path / "gone.file")


@pytest.mark.parametrize("keep_ratio", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_network_file_is_refused(keep_ratio: float, tmp_path: Path) -> None:
    path = tmp_path / "a.net.npz"
    two_hosts().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep_ratio)])
    with pytest.raises(fl.InputError, match=r"a\.net\.npz"):
        fl.Network.load(path)


@same_folder
@given(position=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_damaged_network_file_is_refused_or_unchanged(
    position: float, flip: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.net.npz"
    two_hosts().save(path)
    data = bytearray(path.read_bytes())
    data[int(position * len(data))] ^= flip
    path.write_bytes(data)
    try:
        loaded = fl.Network.load(path)
    except fl.InputError as error:
        assert "a.net.npz" in str(error)
    else:  # A byte that carries no data, for example the file's time inside the archive.
        np.testing.assert_array_equal(loaded.latency_s, two_hosts().latency_s)


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.npz")
    with pytest.raises(fl.InputError, match=r"meta\.kind: expected a network file, got 'traffic'"):
        fl.Network.load(tmp_path / "a.npz")


@pytest.mark.parametrize("kind", [[], {}, ["network"], 3, None, True, "x" * 10_000])
def test_a_kind_that_is_no_name_is_refused(kind: object, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"kind": kind}))
    save_archive(tmp_path / "a.npz", "network", 2, {"kind": kind}, {})
    for name in ("a.json", "a.npz"):
        with pytest.raises(
            fl.InputError, match=rf"{name}: kind: expected one of network"
        ) as caught:
            load_any(tmp_path / name)
        assert len(str(caught.value)) < 500


def test_foreign_numpy_archive_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", latency_s=np.zeros((2, 2)))
    with pytest.raises(fl.InputError, match="not a Fairlead file"):
        fl.Network.load(tmp_path / "a.npz")


def test_older_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    save_archive(tmp_path / "a.npz", "network", 1, {}, {})
    with pytest.raises(fl.InputError, match=r"meta\.version: expected 2 or 3, got 1; make"):
        fl.Network.load(tmp_path / "a.npz")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", meta=np.array({"format": "fairlead"}, dtype=object))
    with pytest.raises(fl.InputError, match="holds Python objects, which Fairlead never") as caught:
        fl.Network.load(tmp_path / "a.npz")
    assert "allow_pickle" not in str(caught.value)


def test_numpys_advice_on_foreign_files_is_not_passed_on(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("neither zip nor npy")
    with pytest.raises(fl.InputError, match="damaged or not a NumPy archive") as caught:
        fl.Network.load(tmp_path / "a.npz")
    assert "allow_pickle" not in str(caught.value)


@pytest.mark.parametrize("load", [fl.Network.load, fl.Traffic.load, fl.Placement.load, load_any])
def test_a_device_that_never_ends_is_refused(load) -> None:
    with pytest.raises(fl.InputError, match="/dev/zero: is a device, not a file"):
        load(Path("/dev/zero"))


@pytest.mark.parametrize("routes", [None, 3, ["torus"]])
def test_routes_of_a_topology_that_are_no_text_are_refused(routes: object, tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "golden" / "oracle" / "slurm" / "topology_tree.conf"
    import_topology("slurm", Given(golden)).save(tmp_path / "a.topo.npz")
    with np.load(tmp_path / "a.topo.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "meta"}
        meta = json.loads(str(archive["meta"][()]))
    save_archive(
        tmp_path / "a.topo.npz", "topology", meta["version"], meta | {"routes": routes}, arrays
    )
    with pytest.raises(fl.InputError, match=r"a\.topo\.npz: meta\.routes: expected text"):
        Topology.load(tmp_path / "a.topo.npz")
