# SPDX-License-Identifier: Apache-2.0
"""The libraries of a program are listed, whatever their folders are called, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairlead.act.launch import program_mpi
from fairlead.act.linked_libraries import files_of_libraries, list_libraries


def test_a_folder_of_libraries_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ldd = tmp_path / "ldd"
    ldd.write_text(r"""#!/bin/sh
printf 'libmpi.so.40 => /gr\366\337e/libmpi.so.40 (0x1)\n'
""")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    folder = os.fsdecode(b"/gr\xf6\xdfe")
    assert list_libraries("/bin/sh") == f"libmpi.so.40 => {folder}/libmpi.so.40 (0x1)\n"


def test_without_ldd_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list_libraries("/bin/sh") == ""


def test_files_of_libraries_may_be_in_folders_with_blanks() -> None:
    listed = """\tlinux-vdso.so.1 (0x00007ffc3d5e2000)
\tlibmpi.so.40 => /opt/my mpi (new)/lib/libmpi.so.40 (0x00007f5e5c000000)
\tlibmissing.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f5e5c5f1000)
"""
    assert files_of_libraries(listed) == {
        "libmpi.so.40": Path("/opt/my mpi (new)/lib/libmpi.so.40")
    }


def test_the_mpi_of_a_program_is_found_in_a_folder_with_blanks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = f"\tlibmpi.so.40 => {tmp_path}/my mpi/libmpi.so.40 (0x00007f5e5c000000)\n"
    monkeypatch.setattr(program_mpi, "list_libraries", lambda _program: listed)
    asked: list[str] = []
    monkeypatch.setattr(
        program_mpi, "_banner", lambda library: asked.append(library) or "Open MPI v4.1.4, package"
    )
    found = program_mpi.mpi_of_program("sh")

    assert found is not None
    assert found.library == tmp_path / "my mpi" / "libmpi.so.40"
    assert asked == [str(found.library)]
