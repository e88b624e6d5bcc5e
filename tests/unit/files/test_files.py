# SPDX-License-Identifier: Apache-2.0
"""Networks, traffic and placements: what is saved is what is loaded, and nothing else is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fairlead as fl
from fairlead.files.archive import save_archive, write_text
from fairlead.files.archive_arrays import ArchiveArrays
from fairlead.flows.comparison import PredictedCost
from fairlead.report import load_any

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def two_hosts() -> fl.Network:
    return fl.Network(["a", "b"], [[0, 1e-5], [2e-5, 0]], [[np.inf, 1e8], [2e8, np.inf]])


CALLED = fl.CollectiveCall("allreduce", 3, 8, 12, 0.25)


def three_ranks() -> fl.Traffic:
    return fl.Traffic(
        bytes=sp.csr_array(np.array([[0, 10, 0], [0, 0, 2.0**40], [5, 0, 0]])),
        messages=sp.csr_array(np.array([[0, 1, 0], [0, 0, 7], [5, 0, 0]])),
        exchange_bytes=sp.csr_array(np.array([[0, 0, 3], [0, 0, 0], [0, 0, 0]])),
        collectives=[CALLED, fl.CollectiveCall("bcast", 2, 8, 12, 0.25, root=1, communicator=1)],
        communicators=[np.array([0, 1, 2]), np.array([2, 0])],
        uncounted=fl.Uncounted(messages=2, bytes=10),
        run_time_s=1.5,
    )


@st.composite
def networks(draw: st.DrawFn) -> fl.Network:
    num_hosts = draw(st.integers(1, 6))
    square = (num_hosts, num_hosts)
    numbers = st.floats(1e-9, 1e12) | st.just(float("nan"))
    latency_s = draw(hnp.arrays(np.float64, square, elements=numbers))
    bandwidth_Bps = draw(hnp.arrays(np.float64, square, elements=numbers))
    hosts = draw(st.lists(st.text(min_size=1), min_size=num_hosts, max_size=num_hosts, unique=True))
    capacity_Bps = draw(hnp.arrays(np.float64, (num_hosts,), elements=numbers))
    return fl.Network(
        hosts,
        latency_s,
        bandwidth_Bps,
        samples=np.ones(square),
        nic_out_Bps=capacity_Bps,
        groups=draw(st.lists(bottleneck_groups(num_hosts), max_size=3)) if num_hosts > 1 else [],
    )


@st.composite
def bottleneck_groups(draw: st.DrawFn, num_hosts: int) -> fl.BottleneckGroup:
    host = st.integers(0, num_hosts - 1)
    pair = st.tuples(host, host).filter(lambda ends: ends[0] != ends[1])
    return fl.BottleneckGroup(
        pairs=np.array(draw(st.lists(pair, min_size=1, unique=True))),
        capacity_Bps=draw(st.floats(1, 1e12)),
        confidence_ratio=draw(st.floats(0, 1)),
    )


@same_folder
@given(network=networks())
def test_network_survives_its_file(network: fl.Network, tmp_path: Path) -> None:
    network.save(tmp_path / "a.net.npz")
    loaded = fl.Network.load(tmp_path / "a.net.npz")
    assert loaded.hosts == network.hosts
    np.testing.assert_array_equal(loaded.latency_s, network.latency_s)
    np.testing.assert_array_equal(loaded.bandwidth_Bps, network.bandwidth_Bps)
    np.testing.assert_array_equal(loaded.samples, network.samples)
    np.testing.assert_array_equal(loaded.nic_out_Bps, network.nic_out_Bps)
    assert loaded.nic_in_Bps is None
    assert [shape_of(group) for group in loaded.groups] == [
        shape_of(group) for group in network.groups
    ]


def shape_of(group: fl.BottleneckGroup) -> tuple[object, ...]:
    return group.pairs.tolist(), group.capacity_Bps, group.confidence_ratio


@same_folder
@given(dense=hnp.arrays(np.float64, (4, 4), elements=st.floats(0, 2.0**60)))
def test_traffic_survives_its_file(dense: np.ndarray, tmp_path: Path) -> None:
    fl.Traffic(bytes=dense, messages=dense > 0).save(tmp_path / "a.traffic.npz")
    loaded = fl.Traffic.load(tmp_path / "a.traffic.npz")
    np.testing.assert_array_equal(loaded.bytes.toarray(), dense)
    np.testing.assert_array_equal(loaded.messages.toarray(), dense > 0)


def test_traffic_file_keeps_collectives_and_run_time(tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.traffic.npz")
    loaded = fl.Traffic.load(tmp_path / "a.traffic.npz")
    assert loaded.collectives == three_ranks().collectives
    assert [ranks.tolist() for ranks in loaded.communicators] == [[0, 1, 2], [2, 0]]
    assert loaded.uncounted == fl.Uncounted(messages=2, bytes=10)
    assert loaded.run_time_s == 1.5
    assert loaded.exchange_bytes[0, 2] == 3


@same_folder
@given(hosts=st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_placement_survives_its_file(hosts: list[int], tmp_path: Path) -> None:
    placement = fl.Placement(["a", "b", "c", "d"], np.array(hosts), "scotch", {"seed": 1})
    placement.save(tmp_path / "p.json")
    loaded = fl.Placement.load(tmp_path / "p.json")
    assert loaded.host_names() == placement.host_names()
    assert (loaded.method, loaded.origin) == ("scotch", {"seed": 1})


def test_total_adds_exchange_to_point_to_point() -> None:
    total = three_ranks().total
    assert total.bytes.toarray().tolist() == [[0, 10, 3], [0, 0, 2.0**40], [5, 0, 0]]


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


def test_foreign_numpy_archive_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", latency_s=np.zeros((2, 2)))
    with pytest.raises(fl.InputError, match="not a Fairlead file"):
        fl.Network.load(tmp_path / "a.npz")


def test_older_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    save_archive(tmp_path / "a.npz", "network", 1, {}, {})
    with pytest.raises(fl.InputError, match=r"meta\.version: expected 2, got 1; make"):
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


MANY = 2**23


def network_arrays() -> dict[str, np.ndarray]:
    return {"latency_s": np.zeros((2, 2)), "bandwidth_Bps": np.full((2, 2), np.inf)}


def test_an_unknown_array_is_refused_and_not_unpacked(tmp_path: Path) -> None:
    meta = {"hosts": ["a", "b"], "origin": {}}
    arrays = {**network_arrays(), "more": np.zeros(MANY)}
    save_archive(tmp_path / "a.npz", "network", 2, meta, arrays)
    with pytest.raises(fl.InputError, match=r"a\.npz: more: is no array of a network file"):
        without_unpacking(lambda: fl.Network.load(tmp_path / "a.npz"))


def test_an_array_of_another_shape_is_refused_and_not_unpacked(tmp_path: Path) -> None:
    meta = {"hosts": ["a", "b"], "origin": {}}
    arrays = {**network_arrays(), "latency_s": np.zeros((2**11, 2**12))}
    save_archive(tmp_path / "a.npz", "network", 2, meta, arrays)
    with pytest.raises(
        fl.InputError, match=r"latency_s: expected shape \(2, 2\), got \(2048, 4096"
    ):
        without_unpacking(lambda: fl.Network.load(tmp_path / "a.npz"))


def test_more_entries_than_a_traffic_has_pairs_are_not_unpacked(tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= {"bytes.data": np.zeros(MANY), "bytes.indptr": np.array([0, MANY, MANY, MANY])}
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    with pytest.raises(fl.InputError, match=r"bytes\.indptr: is not a row index of its data"):
        without_unpacking(lambda: fl.Traffic.load(tmp_path / "a.npz"))


def test_an_array_that_claims_more_than_it_has_is_refused(tmp_path: Path) -> None:
    # 2**40 numbers by the header of the array, none behind it.
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**20, 2**20)}
    )
    save_archive(tmp_path / "a.npz", "network", 2, {"hosts": ["a"], "origin": {}}, {})
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


@pytest.mark.parametrize("load", [fl.Network.load, fl.Traffic.load, fl.Placement.load, load_any])
def test_a_device_that_never_ends_is_refused(load) -> None:
    with pytest.raises(fl.InputError, match="/dev/zero: is a device, not a file"):
        load(Path("/dev/zero"))


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


@pytest.mark.parametrize("times_s", [(1e308, 1e308), (5e-324, 1e-323), (1e300, 1e-300)])
def test_a_comparison_with_impossible_times_is_refused(times_s: tuple, tmp_path: Path) -> None:
    runs = {
        "hosts": ["a"],
        "host_of_rank": [0],
        "times_s": times_s,
        "predicted": dict.fromkeys(PredictedCost.model_fields, 1.0),
    }
    document = {
        **{"kind": "comparison", "version": 2, "methods": {"launcher": runs}, "program": ["cg"]},
        **{"num_ranks": 1, "repeats": 2, "hosts": ["a"], "mpi": "", "when": "2026-01-01T00:00:00Z"},
    }
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(fl.InputError, match=r"c\.json: methods\.launcher\.times_s\[[01]\]: Input"):
        load_any(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("latency_s", [[0, -1], [1, 0]], "latency_s"),
        ("latency_s", [[0, 1]], "latency_s"),
        ("bandwidth_Bps", [[np.inf, 0], [1, np.inf]], "bandwidth_Bps"),
        ("latency_low_s", [[0, -1], [1, 0]], "latency_low_s: every value must be >= 0"),
        ("bandwidth_high_Bps", [[0, -1], [1, 0]], "bandwidth_high_Bps: every value must be >= 0"),
        ("samples", [[0, -1], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, np.nan], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, 1e300], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, 1.5], [1, 0]], "samples: every value must be a whole number"),
    ],
)
def test_impossible_value_in_file_is_named(field, value, problem, tmp_path: Path) -> None:
    arrays = {"latency_s": np.zeros((2, 2)), "bandwidth_Bps": np.full((2, 2), np.inf)}
    meta = {"hosts": ["a", "b"], "origin": {}}
    save_archive(tmp_path / "a.npz", "network", 2, meta, {**arrays, field: np.array(value)})
    with pytest.raises(fl.InputError, match=rf"a\.npz: .*{problem}"):
        fl.Network.load(tmp_path / "a.npz")


def test_an_interval_the_wrong_way_round_is_refused() -> None:
    low, high = np.full((2, 2), 2.0), np.full((2, 2), 1.0)
    with pytest.raises(fl.InputError, match="latency_low_s: a value is above that of latency_high"):
        fl.Network(["a", "b"], low, low, latency_low_s=low, latency_high_s=high)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": True}, r"meta\.version: expected 2, got True"),
        ({"hosts": "ab"}, r"meta\.hosts: expected a list, got 'ab'"),
        ({"unreachable": 5}, r"meta\.unreachable: expected an object, got 5"),
        ({"unreachable": {"b": 5}}, r"meta\.unreachable\.b: expected a reason in words, got 5"),
        ({"flows": 7}, r"meta\.flows: expected an object, got 7"),
        ({"flows": {"is_complete": 1}}, r"meta\.flows\.is_complete: expected true or false, got 1"),
        ({"flows": {"is_complete": True, "error": 1}}, r"meta\.flows\.error: expected text"),
        ({"launch_s": "1"}, r"meta\.launch_s: expected a number or null, got '1'"),
        ({"launch_s": -1}, r"launch_s: must be finite and >= 0, got -1"),
        ({"launch_s": 10**400}, r"meta\.launch_s: "),
    ],
)
def test_impossible_header_of_a_network_is_named(change, problem, tmp_path: Path) -> None:
    arrays = {"latency_s": np.zeros((2, 2)), "bandwidth_Bps": np.full((2, 2), np.inf)}
    meta = {"hosts": ["a", "b"], "origin": {}, **change}
    save_archive(tmp_path / "a.npz", "network", 2, meta, arrays)
    with pytest.raises(fl.InputError, match=rf"a\.npz: (network: )?{problem}"):
        fl.Network.load(tmp_path / "a.npz")


def test_a_network_keeps_hosts_without_an_answer_and_incomplete_parts(tmp_path: Path) -> None:
    pair = np.ones((2, 2))
    flows = fl.FlowsSummary(is_complete=False, error="a host was lost")
    saved = fl.Network(
        ["a", "b"], pair, pair, flows=flows, unreachable={"c": "no answer"}, launch_s=1.5
    )
    saved.save(tmp_path / "a.net.npz")

    loaded = fl.Network.load(tmp_path / "a.net.npz")

    assert (loaded.flows, loaded.unreachable, loaded.launch_s) == (flows, {"c": "no answer"}, 1.5)


CALL = {"operation": "bcast", "communicator_size": 3, "message_bytes": 8, "calls": 1, "seconds": 0}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"run_time_s": -4}, "run_time_s: must be finite and >= 0"),
        ({"num_ranks": -2}, r"meta\.num_ranks: must be >= 1"),
        ({"collectives": [CALL | {"message_bytes": -8}]}, "collectives: numbers must be finite"),
        ({"collectives": [CALL | {"communicator_size": -1}]}, "collectives: numbers must be"),
        ({"uncounted": 7}, r"meta\.uncounted: is not a table of counts"),
        ({"uncounted": {"messages": "7"}}, r"meta\.uncounted: is not a table of counts"),
        ({"uncounted": {"messages": -1}}, r"meta\.uncounted: expected counts >= 0"),
        ({"collectives": [CALL | {"seconds": float("nan")}]}, "collectives: numbers must be"),
        ({"collectives": [CALL | {"calls": 1.5}]}, "expected a whole number, got 1.5"),
        ({"collectives": [CALL | {"seconds": 10**400}]}, r"meta\.collectives: is not a table"),
        ({"collectives": [CALL | {"calls": 2**64}]}, r"collectives: .* below 2\*\*64"),
        ({"collectives": [CALL | {"message_bytes": 10**400}]}, r"collectives: .* below 2\*\*64"),
        ({"collectives": [CALL | {"root": 3}]}, "collectives: root: no rank of the communicator"),
        ({"collectives": [CALL | {"root": "0"}]}, "expected a whole number, got '0'"),
        ({"collectives": [CALL | {"communicator": 1}]}, "communicator: none of this size"),
        ({"collectives": [CALL | {"communicator": 2}]}, "communicator: none of this size"),
        ({"collectives": [CALL | {"communicator": -1}]}, "communicator: none of this size"),
        ({"run_time_s": 10**400}, "run_time_s: must be finite and >= 0, or nan, got inf"),
    ],
)
def test_impossible_header_of_a_traffic_is_named(change, problem, tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "meta"}
        meta = json.loads(str(archive["meta"][()]))
    save_archive(tmp_path / "a.npz", "traffic", 2, {**meta, **change}, arrays)
    with pytest.raises(fl.InputError, match=rf"a\.npz: .*{problem}"):
        fl.Traffic.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("bytes.indptr", [0, np.nan, 2, 3], "expected whole numbers, got float64"),
        ("bytes.indptr", [0, 1.5, 2, 3], "expected whole numbers, got float64"),
        ("bytes.indptr", np.array([0, 3, 2, 3], dtype=np.uint64), "is not a row index"),
        ("bytes.indices", [1, 2.5, 0], "expected whole numbers, got float64"),
        ("communicators.indptr", [0, 4, 3], "is not an index of its members"),
        ("communicators.indptr", np.zeros(0, int), "is not an index of its members"),
        ("communicators.members", [0, 1, 2, 2], "expected shape"),
    ],
)
def test_impossible_index_in_a_traffic_is_named(field, value, problem, tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    np.savez(tmp_path / "a.npz", **(arrays | {field: np.array(value)}))
    with pytest.raises(fl.InputError, match=rf"a\.npz: {field}: {problem}"):
        fl.Traffic.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "network"}, "kind"),
        ({"hosts": ["a", "a"]}, "hosts: 'a' is named twice"),
        ({"host_of_rank": [0, 10**23]}, "host_of_rank: a number is far above the 2 hosts"),
        ({"version": 0}, "version"),
        ({"host_of_rank": "ab"}, "host_of_rank"),
        ({"host_of_rank": [0, 9]}, "rank 1 is on host 9"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_placement_file_is_refused(change, field, tmp_path: Path) -> None:
    record = json.loads(fl.Placement(["a", "b"], np.array([0, 1])).to_json())
    (tmp_path / "p.json").write_text(json.dumps({**record, **change}))
    with pytest.raises(fl.InputError, match=field):
        fl.Placement.load(tmp_path / "p.json")


FILL_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
import numpy as np
import fairlead as fl
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "small", folder], check=True)
values = np.random.default_rng(0).uniform(1, 2, (100, 100))
try:
    fl.Network([f"h{i}" for i in range(100)], values, values).save(folder / "a.net.npz")
except fl.InputError as error:
    print(error, "left:", [path.name for path in folder.iterdir()])
"""


def test_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    command = ["unshare", "--user", "--map-root-user", "--mount"]
    finished = subprocess.run(
        [*command, sys.executable, "-c", FILL_A_SMALL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a.net.npz: cannot be written: No space left on device" in finished.stdout
    assert finished.stdout.strip().endswith("left: []")


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()), daemon=True)
    reader.start()

    two_hosts().save(path)

    reader.join()
    assert path.is_fifo()
    (tmp_path / "copy.net.npz").write_bytes(received[0])
    assert fl.Network.load(tmp_path / "copy.net.npz").hosts == ("a", "b")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy.net.npz", "pipe"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_replaced(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    link.symlink_to(target)
    if exists:
        target.write_text("old")

    write_text(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"
