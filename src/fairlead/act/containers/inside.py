# SPDX-License-Identifier: Apache-2.0
"""Looks into a container by one process without MPI: which MPI is inside, which libraries load."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.containers.container import Bind, Container
from fairlead.act.launch import Launcher, LaunchSpec, environment_of_tools, run
from fairlead.act.launch.mpi_library import find_standard_abi
from fairlead.act.launch.process import LaunchTimeoutError
from fairlead.act.preload import has_separator
from fairlead.errors import LaunchError

__all__ = ["Inside", "look_inside", "read_look"]

TIMEOUT_S = 120.0
"""Guards against a hang; unpacking an image of some GB takes a minute."""

MPI_LIBRARIES = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12")
"""Sonames of the MPIs that there are parts for."""

_MARK = "fairlead-inside"

# By the image's own loader, ld.so(8): `--list` names what it would load, and starts nothing.
# Arguments: a mark, the program, libraries to try, "--", and sonames to look for. The loader of
# another word length refuses the program. A script has no libraries, so /bin/sh takes its place.
_LOOK = rf"""
LC_ALL=C; export LC_ALL; unset LD_PRELOAD
program=$(command -v -- "$1"); shift
[ -n "$program" ] || {{ echo "{_MARK} no program"; exit; }}
for loader in /lib64/ld*.so.? /lib/ld*.so.? /lib/*/ld*.so.?; do
  [ -x "$loader" ] || continue
  for listed in "$program" /bin/sh; do
    "$loader" --list "$listed" >/dev/null 2>&1 && break 2
    listed=
  done
done
[ -n "$listed" ] || {{ echo "{_MARK} no loader"; exit; }}
echo "{_MARK} program"; [ "$listed" = "$program" ] && "$loader" --list "$listed" 2>&1
while [ "$1" != -- ]; do
  echo "{_MARK} try $1"; [ -r "$1" ] || echo "fairlead-unreadable"
  LD_PRELOAD=$1 "$loader" --list "$listed" 2>&1; shift
done
shift
for name in "$@"; do
  echo "{_MARK} find $name"; LD_PRELOAD=$name "$loader" --list "$listed" 2>&1
done
echo "{_MARK} end"
"""

_INVISIBLE = "it is not visible inside"

_SECTION = re.compile(rf"^{_MARK} (program|try|find|end|no)(?: (.*))?$")
_LACK = re.compile(r"version `(\S+)' not found")


@dataclasses.dataclass(frozen=True)
class Inside:
    """What was seen inside.

    Attributes:
        abi: Binary interface of the MPI that the program loads; None where that is not known.
        lacks: Why a library does not load, by its path inside; empty where it does.
    """

    abi: str | None
    lacks: Mapping[Path, str]

    @property
    def sees_folder(self) -> bool:
        """Whether any of our files is visible."""
        return any(lack != _INVISIBLE for lack in self.lacks.values())


def look_inside(
    launcher: Launcher,
    spec: LaunchSpec,
    container: Container,
    bind: Bind,
    *,
    libraries: Sequence[Path],
    work_dir: Path,
) -> Inside:
    """Start one process inside, where and as the launcher starts a rank.

    Args:
        launcher: The user's launcher.
        spec: How the program is started.
        container: What the program starts.
        bind: How our folder gets in.
        libraries: Libraries in that folder, by their paths inside.
        work_dir: Folder for the launcher's files.

    Raises:
        LaunchError: The process did not start, or saw no program or no loader of the GNU C
            library; or the loader would not accept the libraries' paths.
    """
    if has_separator(bind.target):
        raise LaunchError(f"{bind.target}: the loader takes no path with a blank or ':'")
    program = container.command[0] if container.command else "/bin/sh"
    paths = [str(path) for path in libraries]
    command = ["/bin/sh", "-c", _LOOK, "sh", program, *paths, "--", *MPI_LIBRARIES]
    started = container.start(bind, command, {})
    one = dataclasses.replace(
        spec, program=started.program, num_ranks=1, env={**spec.env, **started.env}
    )
    try:
        command = launcher.prepare_command(one, work_dir)
        finished = run(command, env=environment_of_tools(), capture=True, timeout_s=TIMEOUT_S)
    except LaunchTimeoutError as error:
        raise LaunchError(f"one process inside has not ended after {TIMEOUT_S:g} s") from error
    if "end" not in (sections := _sections(finished.stdout)):
        raise LaunchError(_reason_of_end(sections, program, finished.stderr, finished.returncode))
    return read_look(finished.stdout, libraries, launcher.abi)


def read_look(output: str, libraries: Sequence[Path], launchers_abi: str) -> Inside:
    """What the process has seen.

    Args:
        output: What it printed, to its end.
        libraries: The libraries that it tried.
        launchers_abi: The MPI of a program that loads one of several MPIs itself.
    """
    sections = _sections(output)
    installed = [name for name in MPI_LIBRARIES if f"{name} =>" in sections[f"find {name}"]]
    abis = [_abi_of(sections[f"find {name}"]) for name in installed]
    abi = _abi_of(sections["program"]) or _choose_abi(abis, launchers_abi)
    return Inside(abi, {path: _lack(path, sections[f"try {path}"]) for path in libraries})


def _sections(output: str) -> dict[str, str]:
    """What the process printed, by its marks."""
    found: dict[str, str] = {}
    current = ""
    for line in output.splitlines():
        if mark := _SECTION.match(line):
            current = " ".join(word for word in mark.groups() if word)
            found[current] = ""
        elif current:
            found[current] += f"{line}\n"
    return found


def _reason_of_end(sections: Mapping[str, str], program: str, errors: str, returncode: int) -> str:
    if "no program" in sections:
        return f"{program} is no program inside"
    if "no loader" in sections:
        return "it has no loader of the GNU C library inside"
    lines = [line.strip() for line in errors.splitlines() if re.search(r"\w", line)]
    return lines[0] if lines else f"it ended with exit code {returncode}"


def _abi_of(listed: str) -> str | None:
    """The interface of the MPI among the libraries that the loader lists."""
    if "libmpi.so.40 " in listed:
        # Both have one soname; the layer below has not.
        return "openmpi-5" if "libopen-pal.so.80 " in listed else "openmpi-4"
    for name in ("libmpi.so.12", "libmpich.so.12"):
        if f"{name} " in listed:
            return f"mpich-{name}"
    return find_standard_abi(listed)


def _choose_abi(abis: Sequence[str | None], launchers: str) -> str | None:
    """The MPI of a program that loads it itself: the only one inside, or else the launcher's."""
    return launchers if launchers in abis else abis[0] if len(abis) == 1 else None


def _lack(path: Path, listed: str) -> str:
    """Why the loader did not load a library."""
    if "fairlead-unreadable" in listed:
        return _INVISIBLE
    if missing := _LACK.findall(listed):
        return f"it needs {' and '.join(sorted(set(missing)))} of the image's libraries"
    problems = [line for line in listed.splitlines() if "error" in line.lower()]
    return problems[0].strip() if problems else "" if str(path) in listed else "it is not loaded"
