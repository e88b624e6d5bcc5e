# SPDX-License-Identifier: Apache-2.0
"""copy_output(): output goes to every place at once, and not to closed ones."""

from __future__ import annotations

import os
import threading

from fairlead.act.launch import copy_output


def test_half_a_line_arrives_before_its_end() -> None:
    seen, place = os.pipe()
    with copy_output([place]) as into:
        os.write(into, b"half")
        assert os.read(seen, 10) == b"half"
        os.write(into, b" whole\n")
        assert os.read(seen, 10) == b" whole\n"
    os.close(place)
    os.close(seen)


def test_every_place_gets_all_and_lines_are_heard_whole() -> None:
    (seen, place), (other_seen, other) = os.pipe(), os.pipe()
    lines: list[bytes] = []
    with copy_output([place, other], lines.append) as into:
        for part in (b"a\nb", b"c\n", b"\xff end"):
            os.write(into, part)
    assert os.read(seen, 100) == os.read(other_seen, 100) == b"a\nbc\n\xff end"
    assert lines == [b"a\n", b"bc\n", b"\xff end"]
    for end in (seen, place, other_seen, other):
        os.close(end)


def test_a_place_without_a_reader_blocks_no_other() -> None:
    gone, place = os.pipe()
    os.close(gone)
    seen, other = os.pipe()
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.extend(iter(lambda: os.read(seen, 1 << 16), b"")))
    reader.start()
    with copy_output([place, other]) as into:
        for _ in range(100):
            os.write(into, b"x" * 10_000)
    os.close(other)
    reader.join()
    assert sum(map(len, read)) == 1_000_000
    for end in (seen, place):
        os.close(end)
