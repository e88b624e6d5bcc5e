# SPDX-License-Identifier: Apache-2.0
"""What every test with MPI programs needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracing import AS_ROOT


@pytest.fixture(autouse=True)
def allow_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """CI runs as root in a container, which Open MPI has to be told to accept."""
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)
    yield
