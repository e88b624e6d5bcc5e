# SPDX-License-Identifier: Apache-2.0
"""One-sided calls of OTF2 traces, as Score-P writes those of MPI (SCOREP_Mpi_C_Rma.c)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from otf2_calls import SCORE_P, calls, has_otf2, read

pytestmark = has_otf2


def one_sided(kind: str, rank: int, remote: int = 0, **further: Any) -> dict[str, Any]:
    content = {"communicator": "window", "one_sided": kind, "rank": rank, "remote": remote}
    return {**content, **further}


WINDOW = {"window": [3, 1, 0]}


def test_what_is_put_and_got_has_the_direction_of_its_data(tmp_path: Path) -> None:
    events = [
        # To position 0 of the window's ranks, which is world rank 3.
        one_sided("put", 1, 0, bytes=70),
        one_sided("put", 1, 0, bytes=30),
        one_sided("get", 1, 2, bytes=9),
    ]
    traffic = read(tmp_path, 4, events, communicators=WINDOW, creator=SCORE_P)

    assert traffic.bytes.toarray()[1].tolist() == [0, 0, 0, 100]
    assert traffic.bytes.toarray()[0].tolist() == [0, 9, 0, 0]
    assert traffic.messages.toarray()[1, 3] == 2
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray()[1, 3] == 70


def test_an_atomic_call_may_send_both_ways(tmp_path: Path) -> None:
    events = [
        one_sided("atomic", 0, 1, sizes=(8, 0)),
        one_sided("atomic", 0, 1, sizes=(8, 16)),
    ]
    traffic = read(tmp_path, 4, events, communicators=WINDOW, creator=SCORE_P)

    assert traffic.bytes.toarray()[0, 1] == 16 and traffic.bytes.toarray()[1, 0] == 16
    assert traffic.messages.toarray()[0, 1] == 2 and traffic.messages.toarray()[1, 0] == 1


def test_copies_to_a_device_are_no_messages(tmp_path: Path) -> None:
    device = one_sided("put", 1, 0, bytes=70, communicator="device")
    traffic = read(tmp_path, 4, [device], communicators={"device": [0, 1]}, creator=SCORE_P)

    assert traffic.bytes.nnz == 0 and traffic.untraced.messages == 0


def test_a_target_that_the_trace_does_not_name_is_counted_as_lost(tmp_path: Path) -> None:
    events = [one_sided("put", 1, 7, bytes=70)]
    traffic = read(tmp_path, 4, events, communicators=WINDOW, creator=SCORE_P)

    assert (traffic.untraced.messages, traffic.untraced.bytes) == (1, 70)


def test_making_a_window_is_not_named_and_a_fence_is(tmp_path: Path) -> None:
    events = [
        one_sided("collective", 0, operation="create_handle"),
        one_sided("collective", 1, operation="destroy_handle"),
        one_sided("collective", 1, operation="barrier"),
    ]
    traffic = read(tmp_path, 4, events, communicators=WINDOW, creator=SCORE_P)

    assert traffic.origin["left_out"] == "1 call of barrier, recorded as one-sided"


def test_partitioned_messages_of_which_a_trace_has_only_the_function_are_named(
    tmp_path: Path,
) -> None:
    events = calls("barrier", {0: (0, 0)}, region="MPI_Psend_init", is_region_only=True)
    traffic = read(tmp_path, 2, events, creator=SCORE_P)

    assert traffic.origin["left_out"] == "1 call of psend_init, whose starts are not recorded"
