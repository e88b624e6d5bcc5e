# SPDX-License-Identifier: Apache-2.0
"""A file is written whole or not at all, wherever it goes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from saved_samples import two_hosts

import fairlead as fl
from fairlead.files.archive import write_text

FILL_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
import numpy as np
import fairlead as fl
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "small", folder], check=True)
values = np.random.default_rng(0).uniform(1, 2, (100, 100))
try:
    fl.Network([f"h{i}" for i in range(100)], values, values).save(folder / "a.net.npz")
except fl.InputError as error:
    print(error, "left:", [path.name for path in folder.iterdir()])
"""


def test_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    command = ["unshare", "--user", "--map-root-user", "--mount"]
    finished = subprocess.run(
        [*command, sys.executable, "-c", FILL_A_SMALL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a.net.npz: cannot be written: No space left on device" in finished.stdout
    assert finished.stdout.strip().endswith("left: []")


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()), daemon=True)
    reader.start()

    two_hosts().save(path)

    reader.join()
    assert path.is_fifo()
    (tmp_path / "copy.net.npz").write_bytes(received[0])
    assert fl.Network.load(tmp_path / "copy.net.npz").hosts == ("a", "b")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy.net.npz", "pipe"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_replaced(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    link.symlink_to(target)
    if exists:
        target.write_text("old")

    write_text(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_name_that_is_not_utf_8_is_written_as_errors_show_it(tmp_path: Path) -> None:
    name = os.fsdecode(b"gr\xf6\xdfe")
    write_text(tmp_path / "page.html", f"program: {name}, größe")
    assert (tmp_path / "page.html").read_text("utf-8") == r"program: gr\udcf6\udcdfe, größe"
