# SPDX-License-Identifier: Apache-2.0
"""Variables by which launchers and MPIs choose hosts, places of ranks, and networks."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

__all__ = ["launcher_variables", "network_variables"]

_LAUNCHERS = re.compile(r"(OMPI|PRTE|PMIX)_MCA_|HYDRA_|MPIR_CVAR_|I_MPI_|SLURM_")

# Interfaces, transports and devices of Open MPI, UCX, libfabric, PSM, MPICH and Intel MPI.
_NETWORKS = re.compile(
    r"(OMPI|PRTE)_MCA_(btl|oob|pml|mtl|opal_|osc|smsc)|PMIX_MCA_ptl|FI_|UCX_|PSM[23]_|HYDRA_IFACE|"
    r"MPICH_|MPIR_CVAR_(CH[34]|OFI|UCX|NEMESIS)|"
    r"I_MPI_(FABRICS|OFI|HYDRA_IFACE|NETMASK|TCP_NETMASK|MULTIRAIL|SHM)"
)


def launcher_variables(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """What a launcher's choice of hosts and places can depend on, sorted by name."""
    return _match(_LAUNCHERS, environment)


def network_variables(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """What an MPI's choice of a network can depend on, sorted by name."""
    return _match(_NETWORKS, environment)


def _match(pattern: re.Pattern[str], environment: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(item for item in environment.items() if pattern.match(item[0]))
