# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4: `mpirun` of the ORTE runtime."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import re
import socket
from pathlib import Path

from fairlead.act.launch import _openmpi
from fairlead.act.launch._placed_start import start_of_placement
from fairlead.act.launch._spec_checks import check_spec, write_once
from fairlead.act.launch.host_names import is_local_host
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.parameter_files import file_parameter
from fairlead.errors import LaunchError
from fairlead.model.placement import Placement

# "mpirun (Open MPI) 4.1.4"; "mpirun.openmpi (OpenRTE) 4.1.4" where the program has another name.
_BANNER = re.compile(r"\((?:Open MPI|OpenRTE)\) (4)\.(\d+)\.(\d+)")


@dataclasses.dataclass(frozen=True)
class OpenMpi4:
    """Open MPI 4.0 and 4.1; the traps named below were seen with 4.1.4."""

    path: Path
    version: tuple[int, ...]
    family: str = "openmpi"
    name: str = "Open MPI"
    abi: str = "openmpi-4"
    agent_variables: tuple[str, ...] = ("OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_rsh_agent")
    agent_options: tuple[str, ...] = ("plm_rsh_agent", "orte_rsh_agent")
    has_name_service: bool = True

    @classmethod
    def recognise(cls, path: Path, banner: str) -> OpenMpi4 | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(number) for number in found.groups())) if found else None

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _openmpi.HOST_OPTIONS)
        _openmpi.check_root(spec)
        _check_short_names(spec)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = start_of_placement(spec)
        hosts = _hosts(spec, work_dir)
        if spec.placement is not None:
            hosts += _openmpi.mapping_parts(self.path, "seq", "OMPI_MCA_", "openmpi")
        return _openmpi.command_line(self.path, spec, hosts, self._delimiter(spec))

    def _delimiter(self, spec: LaunchSpec) -> str:
        """What stands between two variables in a list; Open MPI 5.0.11 takes ';' alone."""
        name = "mca_base_env_list_delimiter"
        return (
            _openmpi.parameter(spec, name)
            or os.environ.get(f"OMPI_MCA_{name}")
            or file_parameter(name, self.path)
            or ";"
        )


def _check_short_names(spec: LaunchSpec) -> None:
    """Check that no two hosts have one name for Open MPI 4, which cuts names at the first dot."""
    variable = "OMPI_MCA_orte_keep_fqdn_hostnames"
    keeps = os.environ.get(variable) or _openmpi.parameter(spec, "orte_keep_fqdn_hostnames")
    hosts = spec.cluster.hosts if spec.cluster is not None else ()
    if keeps not in (None, "0", "false"):
        return
    host_of_name: dict[str, str] = {}
    for host in hosts:
        other = host_of_name.setdefault(_cut_name(host), host)
        if other != host:
            raise LaunchError(
                f"hosts {other!r} and {host!r} are one host to Open MPI 4, which cuts names at the "
                f"first dot; export {variable}=1"
            )


def _cut_name(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.split(".", maxsplit=1)[0]


def _hosts(spec: LaunchSpec, work_dir: Path) -> list[str]:
    # seq and not a rankfile, which binds every rank. A seq file may name hosts only: ranks on the
    # machine of mpirun are then bound as by default (core up to 2 ranks, else socket), and ranks on
    # other machines run unbound. With CPUs after the host all are bound to these.
    if spec.placement is not None:
        path = write_once(work_dir, "seq", _seq_lines(spec, spec.placement))
        return ["--hostfile", str(path), "--map-by", "seq"]
    return _openmpi.hostfile_options(spec, work_dir)


def _seq_lines(spec: LaunchSpec, placement: Placement) -> list[str]:
    # The allocation has mpirun's own machine by its host name only; under seq, "localhost" or an
    # address of it is "not in your allocation" (a plain hostfile may say so).
    own_name = socket.gethostname()
    spelling = {
        host: (own_name if is_local_host(host) else host) + _openmpi.login_of(spec, host)
        for host in set(placement.host_names())
    }
    cpus = [""] * placement.num_ranks if spec.cpus is None else [f" {x}" for x in spec.cpus.lists]
    return [
        spelling[host] + of_rank for host, of_rank in zip(placement.host_names(), cpus, strict=True)
    ]
