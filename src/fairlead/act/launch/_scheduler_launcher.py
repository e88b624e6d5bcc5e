# SPDX-License-Identifier: Apache-2.0
"""What launchers of schedulers have in common: they belong to no MPI, and start programs of any."""

from __future__ import annotations

from pathlib import Path

from fairlead.act.launch.program_mpi import ProgramMpi, find_installed_mpi, mpi_of_program
from fairlead.errors import LaunchError

__all__ = ["SchedulerLauncher", "choose_program_mpi"]


class SchedulerLauncher:
    """A launcher whose MPI is that of the program; it reads no variable of an MPI's own launcher.

    Attributes:
        mpi: The MPI of the program that is to run, or of this environment.
    """

    mpi: ProgramMpi

    @property
    def family(self) -> str:
        """Family of the program's MPI."""
        return self.mpi.family

    @property
    def version(self) -> tuple[int, ...]:
        """Version of the program's MPI."""
        return self.mpi.version

    @property
    def abi(self) -> str:
        """Binary interface of the program's MPI."""
        return self.mpi.abi

    @property
    def library_folder(self) -> Path | None:
        """The folder with the library of the program's MPI; None for one of the loader's."""
        return self.mpi.library.parent.resolve() if self.mpi.library.is_absolute() else None


def choose_program_mpi(path: Path, program: str | None) -> tuple[ProgramMpi, bool]:
    """The MPI of the program, or of this environment, and whether the program itself shows it.

    Args:
        path: The launcher.
        program: The program that is to run; None for the MPI of this environment.

    Raises:
        LaunchError: There is no MPI.
    """
    of_program = mpi_of_program(program) if program is not None else None
    mpi = of_program or find_installed_mpi()
    if mpi is None:
        raise LaunchError(
            f"{path}: starts programs of any MPI, and neither {program or 'a program'} nor a "
            "library that the loader finds shows which one; load the module of your MPI"
        )
    return mpi, of_program is not None
