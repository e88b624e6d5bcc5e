# SPDX-License-Identifier: Apache-2.0
"""The libraries of a program are listed, whatever their folders are called, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairlead.act.linked_libraries import list_libraries


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
