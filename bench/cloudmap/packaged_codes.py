# SPDX-License-Identifier: Apache-2.0
"""Codes as Debian packages them, with inputs made by their own tools."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from programs import Program

SILICON_FILE = Path(
    "/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"
)  # of the package quantum-espresso-data
SILICON = """
&control
  calculation = 'scf', pseudo_dir = './', outdir = './out', disk_io = 'none'
/
&system
  ibrav = 1, celldm(1) = 10.2, nat = 8, ntyp = 1, ecutwfc = 20.0
/
&electrons
  conv_thr = 1e-6
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.50 0.50 0.00
 Si 0.50 0.00 0.50
 Si 0.00 0.50 0.50
 Si 0.25 0.25 0.25
 Si 0.75 0.75 0.25
 Si 0.75 0.25 0.75
 Si 0.25 0.75 0.75
K_POINTS gamma
"""
WATER_TOPOLOGY = """
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
WATER_RUN = """
integrator = md
dt = 0.001
nsteps = 50
cutoff-scheme = Verlet
coulombtype = PME
"""


def packaged_codes(folder: Path, names: Iterable[str] | None = None) -> dict[str, Program]:
    """The installed ones of these names, or of all, with their inputs in a folder."""
    codes = {}
    for name in PACKAGED_CODES if names is None else names:
        packages, make = PACKAGED_CODES[name]
        try:
            codes[name] = make(folder)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error} (Debian, Ubuntu: {packages})", file=sys.stderr)
    return codes


def pt_scotch(folder: Path) -> Program:
    """Parts a mesh of 64,000 vertices."""
    graph = folder / "mesh.grf"
    made(["gmk_m3", "40", "40", "40", str(graph)], folder)
    command = (program("dgpart"), "32", graph.name, "parts.map", "-vt")
    return Program(command, r"^T\s+Mapping\s.*max=([0-9.]+)", inputs=(graph,))


def gromacs(folder: Path) -> Program:
    """50 steps of 7,000 molecules of water with particle-mesh Ewald."""
    (folder / "topol.top").write_text(WATER_TOPOLOGY)
    (folder / "md.mdp").write_text(WATER_RUN)
    made(["gmx", "solvate", "-cs", "spc216", "-box", "6", "6", "6", "-p", "topol.top"], folder)
    made(["gmx", "grompp", "-f", "md.mdp", "-c", "out.gro", "-p", "topol.top"], folder)
    command = (program("gmx_mpi"), "mdrun", "-ntomp", "1", "-noconfout", "-g", "md.log")
    pattern = r"^ +Time: +[0-9.]+ +([0-9.]+)"
    return Program(command, pattern, 16, (folder / "topol.tpr",), output="md.log")


def quantum_espresso(folder: Path) -> Program:
    """The ground state of eight silicon atoms by plane waves."""
    potential = folder / SILICON_FILE.stem
    potential.write_bytes(gzip.decompress(SILICON_FILE.read_bytes()))
    (folder / "silicon.in").write_text(SILICON)
    command = (program("pw.x"), "-in", "silicon.in")
    pattern = r"^ +PWSCF +:.*CPU +(?:([0-9]+)m *)?([0-9.]+)s WALL"
    return Program(command, pattern, 16, (potential, folder / "silicon.in"))


def program(name: str) -> str:
    """A name that is on the PATH."""
    if shutil.which(name) is None:
        raise FileNotFoundError(f"no {name} on the PATH")
    return name


def made(command: list[str], folder: Path) -> None:
    """Run a tool of a code."""
    program(command[0])
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


PACKAGED_CODES: dict[str, tuple[str, Callable[[Path], Program]]] = {
    "PT-Scotch": ("ptscotch and scotch", pt_scotch),
    "GROMACS": ("gromacs", gromacs),
    "Quantum ESPRESSO": ("quantum-espresso and quantum-espresso-data", quantum_espresso),
}
"""Debian's packages of each code, and what makes its inputs in a folder."""
