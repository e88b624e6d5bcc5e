# SPDX-License-Identifier: Apache-2.0
"""The network of a command that does not start the program itself."""

from __future__ import annotations

import contextlib

from fairlead.act.launch import detect
from fairlead.cli.output import TerminalNarrator
from fairlead.measure.network_sources import Measuring, network_from, network_source
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network


def network_named(
    text: str, cluster: Cluster | None, mpirun: str | None = None
) -> Network | HostTree:
    """The network, or the tree, of the source that the user named.

    Args:
        text: A name, as `fairlead.measure.network_sources` takes it.
        cluster: The hosts; None for all of a source that is not measured.
        mpirun: The launcher if the source is measured; None looks for it.

    Raises:
        Error: The file is not usable, or the hosts could not be measured.
    """
    with contextlib.ExitStack() as stack:
        measuring = Measuring(
            program=lambda: stack.enter_context(ProbeProgram(detect(mpirun))),
            narrator=TerminalNarrator(),
            keeps_profiles=False,
        )
        return network_from(network_source(text, measuring), cluster)
