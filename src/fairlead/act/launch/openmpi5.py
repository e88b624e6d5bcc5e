# SPDX-License-Identifier: Apache-2.0
"""Open MPI 5: `mpirun` of the PRRTE runtime."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from fairlead.act.launch import _openmpi
from fairlead.act.launch._placed_start import start_of_placement
from fairlead.act.launch._spec_checks import check_spec, option_names, slots_per_host, write_once
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.errors import LaunchError

_BANNER = re.compile(r"\(Open MPI\) ([5-9])\.(\d+)\.(\d+)")

_BINDING_VARIABLES = (
    "PRTE_MCA_hwloc_default_binding_policy",
    "PRTE_MCA_rmaps_default_mapping_policy",
    "OMPI_MCA_hwloc_base_binding_policy",
    "OMPI_MCA_rmaps_base_mapping_policy",
)


@dataclasses.dataclass(frozen=True)
class OpenMpi5:
    """Open MPI 5.0; the traps named below were seen with 5.0.11."""

    path: Path
    version: tuple[int, ...]
    family: str = "openmpi"
    name: str = "Open MPI"
    abi: str = "openmpi-5"
    agent_variables: tuple[str, ...] = ("PRTE_MCA_plm_ssh_agent",)
    agent_options: tuple[str, ...] = ("plm_ssh_agent", "plm_rsh_agent")
    has_name_service: bool = True

    @classmethod
    def recognise(cls, path: Path, banner: str) -> OpenMpi5 | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(number) for number in found.groups())) if found else None

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _openmpi.HOST_OPTIONS)
        _openmpi.check_root(spec)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = start_of_placement(spec)
        _check_file_names(work_dir)
        hosts = _hosts(spec, work_dir)
        if spec.placement is not None:
            hosts += _openmpi.mapping_parts(self.path, "seq,rank_file", "PRTE_MCA_", "prte")
        return _openmpi.command_line(self.path, spec, hosts)


def _check_file_names(work_dir: Path) -> None:
    # --hostfile takes a list with commas, --map-by qualifiers with colons; neither can be quoted.
    path = str(work_dir.absolute())
    if "," in path or ":" in path:
        raise LaunchError(
            f"Open MPI 5 cannot read files in a folder whose name holds ',' or ':': {path}"
        )


def _hosts(spec: LaunchSpec, work_dir: Path) -> list[str]:
    if spec.placement is None:
        return _openmpi.hostfile_options(spec, work_dir)
    # A seq file alone crashes mpirun (rc 139): the hostfile has to be there as well, and its slots
    # are enforced.
    hostfile = write_once(work_dir, "hosts", _openmpi.hostfile_lines(spec))
    if spec.cpus is not None:
        lines = [
            f"rank {rank}={host} slot={cpus}"
            for rank, (host, cpus) in enumerate(
                zip(spec.placement.host_names(), spec.cpus.lists, strict=True)
            )
        ]
        ranks = write_once(work_dir, "ranks", lines)
        # Where a variable says not to bind, a rankfile alone does not.
        return [
            *("--hostfile", str(hostfile), "--map-by", f"rankfile:file={ranks}"),
            *("--bind-to", "core"),
        ]
    path = write_once(work_dir, "seq", spec.placement.host_names())
    overload = ":oversubscribe" if _needs_overload(spec) else ""
    return ["--hostfile", str(hostfile), "--map-by", f"seq:file={path}{overload}"]


def _needs_overload(spec: LaunchSpec) -> bool:
    # With more ranks on a host than cores, and without an option for binding, a seq placement
    # starts NO rank, and mpirun exits with 0. `oversubscribe` starts them, unbound; with the
    # user's own --bind-to it changes nothing. It is used only in this case, so that other ranks
    # stay bound as by default. The cores of other hosts are not known here; this machine's number
    # is used for them.
    is_chosen = "bind-to" in option_names(spec.launcher_args) or _openmpi.must_unbind(spec)
    if is_chosen or any(name in os.environ for name in _BINDING_VARIABLES):
        return False
    assert spec.placement is not None
    most = max(len(spec.placement.ranks_on(host)) for host in slots_per_host(spec))
    return most > len(os.sched_getaffinity(0))
