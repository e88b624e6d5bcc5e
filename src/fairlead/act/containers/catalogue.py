# SPDX-License-Identifier: Apache-2.0
"""All container runtimes that are recognised."""

from __future__ import annotations

from collections.abc import Sequence

from fairlead.act.containers.apptainer import Apptainer
from fairlead.act.containers.bubblewrap import Bubblewrap
from fairlead.act.containers.charliecloud import Charliecloud
from fairlead.act.containers.container import Container
from fairlead.act.containers.enroot import Enroot
from fairlead.act.containers.podman import Podman

__all__ = ["RUNTIMES", "container_of"]

RUNTIMES = (Apptainer, Bubblewrap, Charliecloud, Enroot, Podman)


def container_of(program: Sequence[str]) -> Container | None:
    """The container that a program and its arguments start; None where they start none."""
    found = (runtime.recognise(program) for runtime in RUNTIMES if program)
    return next((container for container in found if container is not None), None)
