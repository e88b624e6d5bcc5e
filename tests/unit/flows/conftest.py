# SPDX-License-Identifier: Apache-2.0
"""What several tests of flows begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from prepare_world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)
