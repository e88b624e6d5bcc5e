# SPDX-License-Identifier: Apache-2.0
"""What one process inside prints is read: which MPI is there, and what does not load.

The loader's lines are those of Debian 12 and 11, with their addresses.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.containers.inside import read_look

OURS = Path("/in/ours.so")

LIBC = "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f7e061db000)\n"
OPEN_MPI_4 = (
    "\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x00007f7e063bd000)\n"
    "\tlibopen-rte.so.40 => /lib/x86_64-linux-gnu/libopen-rte.so.40 (0x00007f7e0611f000)\n"
    "\tlibopen-pal.so.40 => /lib/x86_64-linux-gnu/libopen-pal.so.40 (0x00007f7e06068000)\n"
)
OPEN_MPI_5 = (
    "\tlibmpi.so.40 => /opt/lib/libmpi.so.40 (0x00007f7e063bd000)\n"
    "\tlibopen-pal.so.80 => /opt/lib/libopen-pal.so.80 (0x00007f7e06068000)\n"
)
MPICH = "\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x00007f7e063bd000)\n"
ANY_MPICH = "\tlibmpi.so.12 => /opt/lib/libmpi.so.12 (0x00007f7e063bd000)\n"
LOADED = f"\t{OURS} (0x00007f3c05d17000)\n"


def look(program: str = "", ours: str = LOADED, **installed: str) -> str:
    """What is printed; the loader says nothing of an MPI that is not there."""
    names = {"openmpi": "libmpi.so.40", "any_mpich": "libmpi.so.12", "mpich": "libmpich.so.12"}
    found = "".join(
        f"fairlead-inside find {name}\n{installed.get(key, '')}{LIBC}"
        for key, name in names.items()
    )
    return (
        f"fairlead-inside program\n{program}{LIBC}"
        f"fairlead-inside try {OURS}\n{ours}{LIBC}{found}fairlead-inside end\n"
    )


@pytest.mark.parametrize(
    ("program", "abi"),
    [
        (OPEN_MPI_4, "openmpi-4"),
        (OPEN_MPI_5, "openmpi-5"),
        (MPICH, "mpich-libmpich.so.12"),
        (ANY_MPICH, "mpich-libmpi.so.12"),
    ],
)
def test_the_mpi_is_that_of_the_program(program: str, abi: str) -> None:
    assert read_look(look(program, openmpi=OPEN_MPI_4), [OURS], "openmpi-4").abi == abi


@pytest.mark.parametrize(
    ("installed", "abi"),
    [
        ({}, None),
        ({"openmpi": OPEN_MPI_5}, "openmpi-5"),
        ({"openmpi": OPEN_MPI_4, "mpich": MPICH}, "openmpi-4"),
        ({"any_mpich": ANY_MPICH, "mpich": MPICH}, None),
    ],
)
def test_a_script_loads_the_only_mpi_or_the_launchers(
    installed: dict[str, str], abi: str | None
) -> None:
    assert read_look(look(**installed), [OURS], "openmpi-4").abi == abi


OLD_LIBC = (
    "/bin/sh: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.36' not found (required by "
    f"{OURS})\n"
    "/bin/sh: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by "
    f"{OURS})\n"
)


@pytest.mark.parametrize(
    ("ours", "lack"),
    [
        (LOADED, ""),
        (OLD_LIBC + LOADED, "it needs GLIBC_2.34 and GLIBC_2.36 of the image's libraries"),
        ("fairlead-unreadable\n", "it is not visible inside"),
        ("", "it is not loaded"),
        (f"Error loading shared library {OURS}: Exec format error\n",
         f"Error loading shared library {OURS}: Exec format error"),
    ],
)  # fmt: skip
def test_what_does_not_load_is_named(ours: str, lack: str) -> None:
    inside = read_look(look(OPEN_MPI_4, ours), [OURS], "openmpi-4")

    assert inside.lacks == {OURS: lack}
    assert inside.sees_folder == (lack != "it is not visible inside")
