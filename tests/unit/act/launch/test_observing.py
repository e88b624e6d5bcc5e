# SPDX-License-Identifier: Apache-2.0
"""What a launcher that starts no ranks says last is reported as a whole sentence."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fairlead.act.launch import LaunchSpec, observe_ranks
from fairlead.act.launch.mpich import Mpich
from fairlead.errors import LaunchError

# The end of mpirun's message of Open MPI 5.0.11 where hosts have too few slots.
TOO_FEW_SLOTS = """\
    processing unit, use the
--use-hwthread-cpus option.

Alternatively, you can use the --map-by :OVERSUBSCRIBE option to ignore the
number of available slots when deciding the number of processes to
launch.
--------------------------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        (
            TOO_FEW_SLOTS,
            "Alternatively, you can use the --map-by :OVERSUBSCRIBE option to ignore the number of "
            "available slots when deciding the number of processes to launch.",
        ),
        ("[a] one\n[a] main (mpiexec.c:127): error parsing parameters\n", "[a] main (mpiexec.c"),
        ("use the\n--use-hwthread-cpus option.\n", "use the --use-hwthread-cpus option."),
        ("one:\n\n   h3\n", "h3"),
        ("", "the launcher ended with exit code 3"),
    ],
)
def test_the_last_sentence_is_reported(tmp_path: Path, said: str, reported: str) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\nprintf %s {shlex.quote(said)} >&2\nexit 3\n")
    launcher.chmod(0o755)
    with pytest.raises(LaunchError) as error:
        observe_ranks(Mpich(launcher, (4, 0, 2), abi="x"), LaunchSpec(("true",), 2), tmp_path)
    assert str(error.value).startswith(reported)
