# SPDX-License-Identifier: Apache-2.0
"""What every test with MPI programs needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracing import AS_ROOT


@pytest.fixture(autouse=True, scope="module")
def allow_root() -> Iterator[None]:
    """CI runs as root in a container, which Open MPI has to be told to accept.

    For the whole module, because the fixtures of a module start programs too.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in AS_ROOT.items():
            patch.setenv(name, value)
        yield
