# SPDX-License-Identifier: Apache-2.0
"""Damages samples of other tools' files, by a fixed seed: cut off, flipped, other values."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

__all__ = ["damaged"]

NUMBER, TEXT = re.compile(rb"\d+"), re.compile(rb'"[^"]*"')
NUMBERS = (b"-1", b"0", b"9" * 26, b"1e400", b"null", b"nan", b"[]", b"1.5", b"", "²".encode())
TEXTS = (b"1", b"null", b"[]", b"{}", b'""', b"true", b'"\\ud800"', b'"\\u0000"', b'"a\\nb"')


def damaged(sample: bytes, number: int, seed: int) -> Iterator[bytes]:
    """So many damaged copies; every third is damaged twice."""
    draw = random.Random(seed)
    for index in range(number):
        once = _damage(sample, draw)
        yield _damage(once, draw) if index % 3 == 0 else once


def _damage(sample: bytes, draw: random.Random) -> bytes:
    data = bytearray(sample or b" ")
    at = draw.randrange(len(data))
    end = at + draw.randrange(1, 40)
    kind = draw.randrange(8)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        data[at] ^= 1 << draw.randrange(8)
    elif kind == 2:
        del data[at:end]
    elif kind == 3:
        data[at:at] = data[at:end]
    elif kind in {4, 5}:
        pattern, others = ((NUMBER, NUMBERS), (TEXT, TEXTS))[kind - 4]
        if found := [*pattern.finditer(data)]:
            one = draw.choice(found)
            data[one.start() : one.end()] = draw.choice(others)
    else:
        lines = bytes(data).split(b"\n")
        if kind == 6:
            draw.shuffle(lines)
        else:
            lines.pop(draw.randrange(len(lines)))
        data = bytearray(b"\n".join(lines))
    return bytes(data)
