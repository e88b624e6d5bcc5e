# SPDX-License-Identifier: Apache-2.0
"""The page of the C API: the header itself, whose comments are its documentation."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
# C API

What a program may call itself, from C, C++ or Fortran by `bind(c)`: the header `fairlead.h`.
`fairlead mpi list` prints the folder ROOT of each MPI that Fairlead is built for.

    mpicc solver.c -IROOT/include -LROOT/lib -lfairlead -Wl,-rpath,ROOT/lib

[Move tasks of a running program](../howto/remap.md) has an example.
"""


def c_header_page(header: Path) -> str:
    """The page, with the whole header."""
    return f"{HEAD}\n```c\n{header.read_text(encoding='utf-8')}```\n"
