# SPDX-License-Identifier: Apache-2.0
"""Traffic from CSV files and from Open MPI's monitoring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fairlead as fl
from fairlead.cli import app
from fairlead.measure.traffic_files import csv_lines, load_traffic
from fairlead.simulation.recordings import load_recording


def test_a_csv_file_has_what_its_rows_add_up_to(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("src, dst,bytes,messages\n0,2,10,3\n0,2,5,\n2,1,7,1\n")
    traffic = load_traffic(file)
    assert traffic.bytes.toarray().tolist() == [[0, 0, 15], [0, 0, 0], [0, 7, 0]]
    assert traffic.messages.toarray().tolist() == [[0, 0, 4], [0, 0, 0], [0, 1, 0]]
    # Three messages of 10 bytes have one of at least 4.
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray()[0, 2] == 5


@pytest.mark.parametrize("name", ["cg.B.16", "ft.B.16"])
def test_what_is_shown_as_csv_is_read_back(name: str, tmp_path: Path) -> None:
    recorded = load_recording(name).traffic
    file = tmp_path / "a.csv"
    done = CliRunner().invoke(app, ["show", name, "--csv"])
    file.write_text(done.stdout)
    assert done.stdout.splitlines() == list(csv_lines(recorded))
    found = load_traffic(file)
    for plane in ("bytes", "messages", "max_message_bytes", "exchange_bytes", "exchange_messages"):
        assert np.array_equal(
            getattr(found, plane).toarray(), getattr(recorded, plane).toarray()
        ), plane


def test_only_traffic_is_shown_as_csv(tmp_path: Path) -> None:
    placement = tmp_path / "p.json"
    fl.Placement(["a"], [0], "given").save(placement)
    done = CliRunner().invoke(app, ["show", str(placement), "--csv"])
    assert done.exit_code == 2
    assert "only a traffic is shown so" in done.output


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ":1: no column src"),
        ("src,dst\n", ":1: no column bytes"),
        ("src,dst,bytes\n", ": has no rows"),
        ("src,dst,bytes\n0,1,x\n", ":2: bytes: expected a whole number"),
        ("src,dst,bytes\n0,-1,3\n", ":2: dst: expected a whole number"),
        ("src,dst,bytes\n0,1000000,3\n", ":2: dst: expected a whole number from 0 to 999999"),
        ("src,dst,bytes\n0,1,99999999999999999999\n", ":2: bytes: expected"),
        ("src,dst,bytes\n0\n", ":2: dst: expected"),
        ("src,dst,bytes,kind\n0,1,3,rma\n", ":2: kind 'rma': expected p2p or alltoall"),
        ("src,dst,bytes\n0,1,\u0663\n", ":2: bytes: expected"),
        # A thousand with a comma is not one byte.
        ("src,dst,bytes\n0,1,5\n1,0,1,000\n", ":3: has more values than the heading has"),
        ("src,dst,bytes,bytes\n0,1,5,6\n", ":1: column bytes is there twice"),
    ],
)
def test_a_csv_file_of_another_form_is_refused_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(fl.InputError) as refused:
        load_traffic(file)
    assert f"{file}{problem}" in str(refused.value)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"src,dst,bytes\n\xff\n")
    with pytest.raises(fl.InputError, match=r"a\.csv:2: is not text in utf-8"):
        load_traffic(file)


# Two ranks of a job; the lines are those that Open MPI 4.1.4 writes.
BUCKETS = ",".join(["0"] * 65)
MONITORED = (
    "# POINT TO POINT\n"
    f"E\t0\t1\t100000 bytes\t100 msgs sent\t{BUCKETS}\n"
    f"I\t0\t1\t1040 bytes\t7 msgs sent\t{BUCKETS}\n"
    "# OSC\n# COLLECTIVES\nC\t0\t1\t1040 bytes\t7 msgs sent\n"
    "D\tMPI_COMM_WORLD\tprocs: 0,1\nO2A\t0\t3000 bytes\t1 msgs sent\n",
    "# POINT TO POINT\nE\t1\t0\t8 bytes\t1 msgs sent\n# OSC\n# COLLECTIVES\n",
)


def monitored(folder: Path) -> Path:
    for rank, text in enumerate(MONITORED):
        (folder / f"cm.{rank}.prof").write_text(text)
    return folder


@pytest.mark.parametrize("name", ["", "cm.0.prof", "cm.1.prof"])
def test_monitoring_counts_what_is_inside_collectives_once(tmp_path: Path, name: str) -> None:
    traffic = load_traffic(monitored(tmp_path) / name)
    assert traffic.bytes.toarray().tolist() == [[0, 100000], [8, 0]]
    assert traffic.messages.toarray().tolist() == [[0, 100], [1, 0]]
    assert traffic.exchange_bytes is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 1040], [0, 0]]


# Lines of rank 1 in Open MPI's own monitoring_test.c: it gets 40960 bytes from 0, and puts as many
# to 2.
WITH_WINDOWS = (
    "# POINT TO POINT\nE\t1\t2\t104 bytes\t26 msgs sent\nI\t1\t0\t140 bytes\t27 msgs sent\n"
    "I\t1\t2\t2068 bytes\t1 msgs sent\n# OSC\nS\t1\t0\t0 bytes\t1 msgs sent\n"
    "R\t1\t0\t40960 bytes\t1 msgs sent\nS\t1\t2\t40960 bytes\t1 msgs sent\n# COLLECTIVES\n"
)


def with_windows(folder: Path, lines: str = WITH_WINDOWS) -> fl.Traffic:
    for rank, text in enumerate(("", lines, "")):
        (folder / f"cm.{rank}.prof").write_text(text)
    return load_traffic(folder)


def test_what_is_put_and_got_counts_by_the_direction_of_its_data(tmp_path: Path) -> None:
    traffic = with_windows(tmp_path)

    assert traffic.bytes.toarray().tolist() == [[0, 40960, 0], [0, 0, 104 + 40960], [0, 0, 0]]
    assert "left_out" not in traffic.origin


def test_blank_lines_of_monitoring_are_passed_over(tmp_path: Path) -> None:
    traffic = with_windows(tmp_path, f"\n{WITH_WINDOWS}\n\n")

    assert traffic.bytes.toarray().tolist() == [[0, 40960, 0], [0, 0, 104 + 40960], [0, 0, 0]]


def test_windows_by_messages_are_counted_once(tmp_path: Path) -> None:
    lines = WITH_WINDOWS.replace("104 bytes", "41064 bytes").replace("R\t1\t0\t40960", "R\t1\t0\t0")
    traffic = with_windows(tmp_path, lines)

    assert traffic.bytes.toarray().tolist() == [[0, 0, 0], [0, 0, 41064], [0, 0, 0]]
    assert traffic.origin["left_out"].startswith("one-sided messages")


def test_line_of_another_rank_is_named(tmp_path: Path) -> None:
    monitored(tmp_path)
    (tmp_path / "cm.0.prof").write_text(MONITORED[1])

    with pytest.raises(fl.InputError, match=r"cm\.0\.prof:2: is of rank 1, in the file of rank 0"):
        load_traffic(tmp_path)


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    monitored(tmp_path)
    (tmp_path / "cm.0.prof").unlink()
    with pytest.raises(fl.InputError, match=r"cm\.0\.prof is missing"):
        load_traffic(tmp_path / "cm.1.prof")
    (tmp_path / "cm.1.prof").rename(tmp_path / "cm.0.prof")
    (tmp_path / "cm.0.prof").write_text(MONITORED[0])
    with pytest.raises(fl.InputError, match="rank 1, but there are files of 1 ranks"):
        load_traffic(tmp_path)


def test_files_of_two_jobs_and_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="names: none"):
        load_traffic(tmp_path)
    monitored(tmp_path)
    (tmp_path / "other.0.prof").write_text("")
    with pytest.raises(fl.InputError, match="names: cm, other"):
        load_traffic(tmp_path)


@pytest.mark.parametrize("text", ["E\t0\tx\n", "I\t0\t1\t-5 bytes\t1 msgs sent\n", "E 0 1 2 3\n"])
def test_a_line_of_another_form_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "cm.0.prof").write_text("# POINT TO POINT\n" + text)
    with pytest.raises(fl.InputError, match=r"cm\.0\.prof:2: expected 'E SRC DST"):
        load_traffic(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", b"src,dst,bytes\n0,1,\xff\n", r"t.csv:2: is not text in utf-8"),
        ("t.csv", b"src,dst,bytes\n" + b"0" * 70_000, r"t.csv:2: is longer than 65536 bytes"),
        ("t.0.prof", b"\x80\x02c\n", r"t.0.prof:1: is not text in ascii"),
    ],
)
def test_what_is_no_text_is_refused_by_its_line(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(fl.InputError, match=problem):
        load_traffic(tmp_path / name)
