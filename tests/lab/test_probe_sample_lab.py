# SPDX-License-Identifier: Apache-2.0
"""A sample of the pairs of an emulated cloud shows its racks."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from busy_machine import measured_until

from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

ENV = {
    **os.environ,
    "FAIRLEAD_MPIRUN": "mpirun.openmpi",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

# Rates low enough that two processes on a busy machine with two cores can keep up with them.
RACKS = Scenario.model_validate(
    {
        "name": "sampled",
        "hosts": 14,
        "nic": "400Mbit/s",
        "order_seed": 7,
        "racks": {"count": 2, "uplink": "8Mbit/s"},
    }
)


def test_hidden_racks_show_in_the_pairs_that_were_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "cloud.net.npz"
    with Lab.up(RACKS) as lab:
        shaped_Bps = lab.shaped_Bps()

        def estimates() -> tuple[np.ndarray, np.ndarray]:
            """Estimated rates of the pairs inside racks, and of those between them."""
            words = ["probe", "--hostfile", str(lab.hostfile), "-o", str(path), "--json"]
            done = lab.run(
                [sys.executable, "-m", "fairlead", *words, "--sample-ratio", "0.5"],
                env=ENV, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            network = Network.load(path)
            estimated = network.is_estimated()
            # Half of 91 pairs were measured; both directions of the others are estimates.
            assert json.loads(done.stdout)["origin"]["sample"]["measured_pairs"] == 46
            assert np.count_nonzero(estimated) == 2 * 45
            is_near = shaped_Bps > 25e6
            rates_Bps = network.bandwidth_Bps
            return rates_Bps[estimated & is_near], rates_Bps[estimated & (shaped_Bps < 25e6)]

        near, far = measured_until(
            lambda found: has_gap(*found) and share_on_right_side(*found) > 0.9, estimates
        )

    assert has_gap(near, far)
    assert share_on_right_side(near, far) > 0.9


def has_gap(near: np.ndarray, far: np.ndarray) -> bool:
    return bool(np.median(near) > 2 * np.median(far))


def share_on_right_side(near: np.ndarray, far: np.ndarray) -> float:
    """Part of the pairs that are on the right side of the gap's middle."""
    middle = np.sqrt(np.median(near) * np.median(far))
    return float(np.mean(np.concatenate([near > middle, far < middle])))
