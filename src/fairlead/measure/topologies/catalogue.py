# SPDX-License-Identifier: Apache-2.0
"""All kinds of topologies that can be imported, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.measure.topologies import (
    clouds,
    gemini,
    ibdiagnet,
    infiniband,
    kubernetes,
    lldp,
    slingshot,
    slurm,
    topograph,
    ufm,
)
from fairlead.model.topology import Topology


class Given(NamedTuple):
    """The files that a user gave.

    Attributes:
        file: The topology.
        nodes: Which host is where, or None.
        routes: The routes as the network has them, or None.
    """

    file: Path
    nodes: Path | None = None
    routes: Path | None = None


class Import(NamedTuple):
    """One form of topology.

    Attributes:
        read: Makes the topology.
        summary: What is read, in one line.
        uses: Which further files it has a use for.
    """

    read: Callable[[Given], Topology]
    summary: str
    uses: frozenset[str] = frozenset()


IMPORTS: dict[str, Import] = {
    "gemini": Import(
        lambda given: gemini.read(given.file, given.nodes, given.routes),
        "rtr --interconnect of a Cray Gemini; --nodes xtprocadmin or ldms_ls, --routes rtr "
        "--phys-routes",
        frozenset({"nodes", "routes"}),
    ),
    "infiniband": Import(
        lambda given: infiniband.read(given.file, given.routes),
        "ibnetdiscover; --routes the forwarding tables by ibroute",
        frozenset({"routes"}),
    ),
    "ibdiagnet": Import(
        lambda given: infiniband.read(given.file, given.routes, ibdiagnet.parse_tables),
        "ibdiagnet2.db_csv, of ibdiagnet or UFM; --routes the forwarding tables by ibroute",
        frozenset({"routes"}),
    ),
    "ufm": Import(
        lambda given: ufm.read(given.file, given.nodes),
        "links of NVIDIA UFM's REST API, /ufmRest/resources/links; --nodes its systems, "
        "/ufmRest/resources/systems",
        frozenset({"nodes"}),
    ),
    "slingshot": Import(
        lambda given: slingshot.read(given.file, given.nodes),
        "a dragonfly of HPE Slingshot, Shasta_system_hsn_pt_pt.csv of the fabric manager; --nodes "
        "lines of xname and host",
        frozenset({"nodes"}),
    ),
    "lldp": Import(
        lambda given: lldp.read(given.file, given.nodes),
        "an object of systems and what lldpctl -f json printed on each; --nodes lines of hosts",
        frozenset({"nodes"}),
    ),
    "kubernetes": Import(
        lambda given: kubernetes.read(given.file),
        "kubectl get nodes -o json: labels of topograph, clouds and Kueue's topologies",
    ),
    "topograph": Import(
        lambda given: topograph.read(given.file),
        "topograph's instances with their network_layers, or its models (switches, blocks)",
    ),
    "slurm": Import(
        lambda given: slurm.read(given.file),
        "topology.conf, topology.yaml or scontrol show topology; trees and blocks",
    ),
    "aws": Import(
        lambda given: clouds.read_aws(given.file, given.nodes),
        "aws ec2 describe-instance-topology; --nodes lines of instance and host",
        frozenset({"nodes"}),
    ),
    "gcp": Import(
        lambda given: clouds.read_gcp(given.file, given.nodes),
        "gcloud compute instances list --format json; --nodes lines of instance and host",
        frozenset({"nodes"}),
    ),
    "oci": Import(
        lambda given: clouds.read_oci(given.file, given.nodes),
        "an object of hosts and what http://169.254.169.254/opc/v2/host printed on each, or its "
        "rdmaTopologyData",
        frozenset({"nodes"}),
    ),
    "azure": Import(
        lambda given: clouds.read_azure(given.file, given.nodes),
        "an object of hosts and what http://169.254.169.254/metadata/instance printed on each, or "
        "its compute: placement groups and fault domains",
        frozenset({"nodes"}),
    ),
    "lab": Import(
        lambda given: read_lab(given.file),
        "a torus of fairlead lab that is up, by its name",
    ),
}
"""Each is a file or a function of one; a further one is a line here."""


def read_lab(name: Path) -> Topology:
    """The torus of a lab.

    Raises:
        InputError: It has none.
        LabError: It is not up.
    """
    from fairlead.lab import Lab  # noqa: PLC0415  A quarter of a second, for this alone.

    torus = Lab.attach(str(name)).topology().torus
    if torus is None:
        raise InputError(f"lab {str(name)!r}: has no torus")
    return torus


def import_topology(kind: str, given: Given) -> Topology:
    """Read a topology of a kind.

    Raises:
        InputError: The kind is unknown, a file is not of this kind, or has no use here; the
            message names file and line.
    """
    if kind not in IMPORTS:
        raise InputError(f"topology: unknown kind {kind!r}; there are {', '.join(IMPORTS)}")
    for name in ("nodes", "routes"):
        if getattr(given, name) is not None and name not in IMPORTS[kind].uses:
            raise InputError(f"{getattr(given, name)}: {kind} has no use for a file of {name}")
    return IMPORTS[kind].read(given)
