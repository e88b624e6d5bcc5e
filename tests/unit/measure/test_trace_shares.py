# SPDX-License-Identifier: Apache-2.0
"""The shares of a traced run are read together; what is missing is named, what is wrong refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from share_samples import share, write_share

import fairlead as fl
from fairlead.measure.trace_shares import read_shares
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.coverage import Coverage
from fairlead.report.files import load_any
from fairlead.report.traffic_view import summary_lines

SENT: list[dict[int, int]] = [{1: 100, 2: 10}, {2: 200}, {0: 300}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Shares of three ranks, one after the other in time."""
    for rank, sent in enumerate(SENT):
        write_share(tmp_path, rank, 3, sent, covers_s=20.0 + rank)
    return tmp_path


def coverage_of(traffic: fl.Traffic) -> Coverage | None:
    return Coverage.of_origin(traffic.origin, traffic.num_ranks)


def test_the_ranks_shares_are_one_traffic(folder: Path) -> None:
    traffic = read_shares(folder)

    assert traffic.bytes.toarray().tolist() == [[0, 100, 10], [0, 0, 200], [300, 0, 0]]
    assert traffic.collectives == (("allreduce", 3, 8, 6, 1.5, None, 0),)
    assert [ranks.tolist() for ranks in traffic.communicators] == [[0, 1, 2]]
    assert traffic.run_time_s == 22.0
    assert coverage_of(traffic) == Coverage(3, (), 20.0, 22.0)


def test_shares_of_mpi_finalize_are_whole(folder: Path) -> None:
    for rank, sent in enumerate(SENT):
        write_share(folder, rank, 3, sent, occasion="finalize")

    assert coverage_of(read_shares(folder)) is None


@pytest.mark.parametrize("length", [0, 10, 200, -1])
def test_a_share_that_is_cut_off_is_missing(folder: Path, length: int) -> None:
    file = folder / "rank-1.share"
    file.write_bytes(file.read_bytes()[:length])

    traffic = read_shares(folder)

    assert traffic.bytes.toarray().tolist() == [[0, 100, 10], [0, 0, 0], [300, 0, 0]]
    coverage = coverage_of(traffic)
    assert coverage == Coverage(3, (1,), 20.0, 22.0)
    assert summary_lines(traffic)[-1] == (
        "partial: covers the first 20 s to 22 s of the run; 1 of 3 ranks left nothing: rank 1"
    )


def test_what_a_rank_is_writing_is_not_read(folder: Path) -> None:
    (folder / "rank-1.share.77.part").write_bytes(b"{")

    assert coverage_of(read_shares(folder)) == Coverage(3, (), 20.0, 22.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK and more\n", "not a share file"),
        (b'{"format":"fairlead-trace","version":3}\n', "not a share file"),
        (share(1, 3, {}, version=3), "version: Input should be 1"),
        (share(1, 3, {}, occasion="later"), "occasion: Input should be"),
        (share(1, 3, {}, more=1), "more: Extra inputs"),
        (share(2, 3, {}), "rank: 2 of 3 is not the one of its name"),
        (share(1, 1, {}), "rank: 1 of 1 is not the one of its name"),
        (share(1, 10**9, {}), "num_ranks: Input should be less"),
        (share(1, 3, {5: 1}), "sent: row 2: dst: impossible value"),
        (share(1, 3, {}, covers_s=-1), "ranks: row 1: run_time_s: impossible value"),
        (share(0, 3, {2: 5}, said_rank=1), "sent: src: has rows of another rank than 1"),
    ],
)
def test_a_file_that_is_no_share_of_its_rank_is_refused(
    folder: Path, content: bytes, message: str
) -> None:
    (folder / "rank-1.share").write_bytes(content)

    with pytest.raises(fl.InputError, match=message):
        read_shares(folder)


@pytest.mark.parametrize(
    ("num_ranks", "header"),
    [(4, {}), (3, {"mpi": "MPICH 4.0"}), (3, {"operations": ["allreduce"]})],
)
def test_shares_of_different_programs_are_refused(
    folder: Path, num_ranks: int, header: dict[str, Any]
) -> None:
    write_share(folder, 1, num_ranks, {}, **header)

    field = next(iter(header), "num_ranks")
    with pytest.raises(fl.InputError, match=rf"rank-1\.share: {field}: is of another program"):
        read_shares(folder)


def test_an_empty_folder_has_no_trace(tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="no rank has left a share"):
        read_shares(tmp_path)


def test_the_folder_is_read_wherever_a_traffic_is(folder: Path) -> None:
    for load in (load_traffic, load_any):
        traffic = load(folder)
        assert isinstance(traffic, fl.Traffic)
        assert traffic.bytes.sum() == 610


def test_a_saved_traffic_stays_partial(folder: Path, tmp_path: Path) -> None:
    read_shares(folder).save(tmp_path / "a.traffic.npz")

    assert coverage_of(fl.Traffic.load(tmp_path / "a.traffic.npz")) == Coverage(3, (), 20.0, 22.0)
