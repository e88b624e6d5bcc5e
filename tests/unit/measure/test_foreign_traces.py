# SPDX-License-Identifier: Apache-2.0
"""Traffic from OTF2, written by OTF2's own module, and mpiP's report, which is refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from otf2_calls import SYSTEM_PYTHON, has_otf2

from fairlead.errors import InputError
from fairlead.measure.traffic_files import load_traffic, otf2_traces
from fairlead.report.files import load_any

WRITER = """
import sys, otf2
from otf2 import CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as trace:
    define = trace.definitions
    node = define.system_tree_node("node")
    threads = []
    for rank in range(4):
        process = define.location_group(
            f"MPI Rank {rank}", system_tree_parent=node,
            location_group_type=LocationGroupType.PROCESS)
        threads.append(
            define.location("Master thread", group=process, type=LocationType.CPU_THREAD))
    # World ranks are the other way round.
    order = threads[::-1]
    define.group("MPI", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=order)
    def comm(name, ranks):
        group = define.group(
            name, group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks)
        return define.comm(name, group=group)
    world, odd = comm("world", [0, 1, 2, 3]), comm("odd", [3, 1])
    writers = [trace.event_writer_from_location(thread) for thread in order]
    send = dict(msg_tag=0)
    writers[0].mpi_send(1, receiver=1, communicator=world, msg_length=100, **send)
    writers[0].mpi_isend(2, receiver=1, communicator=world, msg_length=50, request_id=1, **send)
    # Rank 0 of `odd` is rank 3 of the world, and its rank 1 is rank 1.
    writers[3].mpi_send(3, receiver=1, communicator=odd, msg_length=7, **send)
    writers[1].mpi_send(4, receiver=0, communicator=odd, msg_length=9, **send)
    for writer in writers:
        writer.mpi_collective_begin(5)
        writer.mpi_collective_end(
            6, collective_op=CollectiveOp.ALLREDUCE, communicator=world, root=0,
            size_sent=8, size_received=8)
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    command = [SYSTEM_PYTHON, "-c", WRITER, str(tmp_path / "trace")]
    subprocess.run(command, check=True, capture_output=True)
    return tmp_path / "trace" / "traces.otf2"


@has_otf2
def test_messages_of_a_trace_are_added_up_in_world_ranks(trace: Path) -> None:
    traffic = load_traffic(trace)

    assert traffic.bytes.toarray().tolist() == [
        [0, 150, 0, 0],
        [0, 0, 0, 9],
        [0, 0, 0, 0],
        [0, 7, 0, 0],
    ]
    assert traffic.messages.toarray()[0, 1] == 2
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray()[0, 1] == 100
    assert traffic.origin["left_out"] == (
        "4 calls of allreduce, whose sizes can be read in several ways"
    )
    assert type(load_any(trace)) is type(traffic)


@has_otf2
def test_a_trace_is_also_named_by_its_folder(trace: Path) -> None:
    (trace.parent / "profile.cubex").write_bytes(b"of Score-P, too")

    assert load_traffic(trace.parent).bytes.sum() == load_traffic(trace).bytes.sum()
    assert load_any(trace.parent).origin["counted_by"] == "OTF2"


@has_otf2
def test_a_trace_that_is_cut_off_or_none_is_one_line(trace: Path, tmp_path: Path) -> None:
    definitions = trace.with_name("traces.def")
    definitions.write_bytes(definitions.read_bytes()[:100])
    other = tmp_path / "other.otf2"
    other.write_bytes(b"\x00\x01" * 500)

    for path in (trace, other):
        with pytest.raises(InputError, match=r"^\S+: cannot be read as OTF2: .+") as caught:
            load_traffic(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)
        assert re.search(r"cannot be read as OTF2: (\[OTF2\] |[A-Z])", str(caught.value))


def test_without_the_module_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.otf2").write_bytes(b"")
    monkeypatch.setattr(otf2_traces, "PYTHONS", ("/nowhere/python3",))

    with pytest.raises(InputError, match=r"python3-otf2\), which none of /nowhere/python3 has"):
        load_traffic(tmp_path / "t.otf2")


MPIP = """@ mpiP
@ Command : ./solver
@ Version : 3.5.0
---------------------------------------------------------------------------
@--- Callsite Message Sent statistics (all, sent bytes) -------------------
---------------------------------------------------------------------------
Name              Site Rank   Count       Max      Mean       Min       Sum
Send                 5    0      80      6000      6000      6000   4.8e+05
"""


@pytest.mark.parametrize("name", ["solver.4.1234.1.mpiP", "report.txt"])
def test_mpip_is_recognised_and_its_lack_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(MPIP)

    with pytest.raises(InputError, match="counts what each rank sends and not to whom"):
        load_traffic(tmp_path / name)
    with pytest.raises(InputError, match="counts what each rank sends and not to whom"):
        load_any(tmp_path / name)
