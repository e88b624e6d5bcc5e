# SPDX-License-Identifier: Apache-2.0
"""How the ranks that srun starts find each other: which of its `--mpi` types fits an MPI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch.process import run
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.errors import LaunchError

__all__ = ["choose_mpi_type", "fitting_mpi_type"]

_ANSWER_S = 20.0

# Open MPI 5 knows PMIx alone, Open MPI 4 was often built with PMI-2 as well. MPICH's own client
# speaks PMI-1, which Slurm's plugin for PMI-2 answers, too.
_FITTING = {"openmpi": ("pmix", "pmi2"), "mpich": ("pmi2", "pmix"), "intel": ("pmi2",)}

_DEFAULT = re.compile(r"^MpiDefault\s*=\s*(\S+)", re.MULTILINE)


def choose_mpi_type(srun: Path, mpi: ProgramMpi, is_of_program: bool) -> str | None:
    """The type that is asked for; None where the site's default is kept.

    Args:
        srun: The launcher.
        mpi: The MPI of the program.
        is_of_program: Whether the program itself shows it. A script may start any other one.
    """
    default = _DEFAULT.search(_output([str(srun.with_name("scontrol")), "show", "config"]))
    offered = re.findall(r"\w+", _output([str(srun), "--mpi=list"]))
    return fitting_mpi_type(mpi, is_of_program, default[1] if default else "none", offered)


def fitting_mpi_type(
    mpi: ProgramMpi, is_of_program: bool, default: str, offered: Sequence[str]
) -> str | None:
    """As `choose_mpi_type`, from Slurm's default type and those that it offers."""
    fitting = [name for name in _FITTING[mpi.family] if name in offered]
    if mpi.family == "openmpi" and mpi.version[:1] >= (5,):
        fitting = [name for name in fitting if name == "pmix"]
    # "pmix_v4" is one of pmix; Cray MPICH has a type of its own, which its sites have as default.
    is_fit = any(default.startswith(name) for name in fitting) or mpi.family != "openmpi"
    if default != "none" and (is_fit or not is_of_program):
        return None
    return fitting[0] if fitting else None


def _output(command: Sequence[str]) -> str:
    """What it prints on both streams: where the types are listed differs among versions."""
    try:
        answer = run(command, capture=True, timeout_s=_ANSWER_S)
    except LaunchError:
        return ""
    return answer.stdout + answer.stderr
