# SPDX-License-Identifier: Apache-2.0
"""The variables with which any `mpirun` works inside a lab without further options."""

from __future__ import annotations

from pathlib import Path

from fairlead.lab.addresses import NETWORK

__all__ = ["lab_environment"]


def lab_environment(folder: Path) -> dict[str, str]:
    """Variables for the lab in `folder`."""
    return {
        "FAIRLEAD_LAB": folder.name,
        "FAIRLEAD_LAB_HOSTFILE": str(folder / "hostfile"),
        # Session folders are named by host and process id, which repeat from lab to lab.
        "TMPDIR": str(folder / "tmp"),
        **_open_mpi_4(str(folder / "agent")),
        **_open_mpi_5(str(folder / "agent")),
        **_mpich(str(folder / "agent")),
        **_intel_mpi(str(folder / "agent")),
    }


def _open_mpi_4(agent: str) -> dict[str, str]:
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": agent,
        # The head node starts all hosts itself: a tree would start them over the slow links.
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "OMPI_MCA_oob_tcp_if_include": str(NETWORK),
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,vader,self",
        "OMPI_MCA_btl_tcp_if_include": str(NETWORK),
        # All hosts share this machine's cores: ranks must yield and must not be bound.
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }


def _open_mpi_5(agent: str) -> dict[str, str]:
    return {
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_if_include": str(NETWORK),
        # Unbinding is enough. With the mapping policy ":oversubscribe", Open MPI 5 would ignore the
        # slots and start every rank on the first host.
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }


def _mpich(agent: str) -> dict[str, str]:
    return {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_IFACE": "eth0",
        # MPICH is built over UCX (Debian) or libfabric; both must use only the lab's interface.
        "UCX_NET_DEVICES": "eth0",
        "UCX_TLS": "tcp,self,sm",
        "FI_TCP_IFACE": "eth0",
        "FI_SOCKETS_IFACE": "eth0",
    }


def _intel_mpi(agent: str) -> dict[str, str]:
    return {
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent,
        "I_MPI_HYDRA_IFACE": "eth0",
        "I_MPI_OFI_PROVIDER": "tcp",
        # As for Open MPI: it would bind the ranks of all hosts to the same cores, and poll there.
        "I_MPI_PIN": "0",
        "I_MPI_THREAD_YIELD": "3",
        "I_MPI_THREAD_SLEEP": "0",
    }
