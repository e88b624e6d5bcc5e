# SPDX-License-Identifier: Apache-2.0
"""A probe that fails says why, in the launcher's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairlead.act.launch import Finished
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.errors import ProbeError
from fairlead.measure.probe import probe
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.cluster import Cluster

# What Open MPI 4.1.4 said when $TMPDIR was full, without the paragraphs in the middle.
FULL = """\
[node:7] PMIX ERROR: OUT-OF-RESOURCE in file dstore_segment.c at line 208
[node:7] PMIX ERROR: OUT-OF-RESOURCE in file dstore_segment.c at line 208
--------------------------------------------------------------------------
It looks like MPI_INIT failed for some reason; your parallel process is
likely to abort.  There are many reasons that a parallel process can
fail during MPI_INIT; some of which are due to configuration or environment
problems.
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[18276,1],1]
  Exit code:    1
--------------------------------------------------------------------------
"""


# What it printed where docker0 had one address on each host.
DOCKER = """\
--------------------------------------------------------------------------
WARNING: Open MPI accepted a TCP connection from what appears to be a
another Open MPI process but cannot find a corresponding process
entry for that peer.

This attempted connection will be ignored; your MPI job may or may not
continue properly.
--------------------------------------------------------------------------
"""


class Failing(ProbeProgram):
    """All hosts answer, and the program ends with these words."""

    def __init__(self, stderr: str) -> None:
        super().__init__(OpenMpi4(Path("mpirun"), (4, 1, 4)))
        self._stderr = stderr

    def require_built(self) -> None:
        pass

    def unreachable_hosts(self, cluster: Cluster, timeout_s: float = 10.0) -> dict[str, str]:
        del cluster, timeout_s
        return {}

    def order(self, *_all: Any, **_more: Any) -> Finished:
        return Finished(1, 0.1, "", self._stderr)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            FULL,
            "OUT-OF-RESOURCE in file dstore_segment.c at line 208 It looks like MPI_INIT failed",
        ),
        (
            "connect failed\nfairlead-probe: error mpirun did not end within 2 s and was stopped\n",
            "code 1: mpirun did not end within",
        ),
        (
            DOCKER,
            "code 1: WARNING: Open MPI accepted a TCP connection from what appears to be a another",
        ),
        (DOCKER, "--launcher-args '--mca btl_tcp_if_include NETWORK/BITS'"),
        ("one\ntwo\n", ": one two"),
        ("", ": no message"),
    ],
    ids=["full disk", "timeout", "whole paragraph", "remedy", "other", "silence"],
)
def test_the_reason_is_named(stderr: str, said: str) -> None:
    program = Failing(stderr)

    with pytest.raises(ProbeError) as caught:
        probe(program.launcher, Cluster(("a", "b"), (1, 1)), program=program)

    assert "mpirun ended with exit code 1: " in str(caught.value)
    assert said in str(caught.value)
