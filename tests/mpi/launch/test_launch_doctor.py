# SPDX-License-Identifier: Apache-2.0
"""`fairlead doctor` with each launcher, on hosts that can be reached, and one that cannot."""

from __future__ import annotations

import json

import pytest
from launchers import MPIS
from typer.testing import CliRunner

from fairlead.cli import app

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("mpi", MPIS)
def test_a_set_up_that_works_passes(mpi: str, invented_hosts: None) -> None:
    words = ["doctor", "--json", "-H", "alpha:1,beta:1", "--mpirun", MPIS[mpi].mpirun]
    done = CliRunner().invoke(app, words)
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert checks["hosts"]["found"] == "2 with 2 slots, as given"
    assert checks["installation on hosts"]["state"] == "ok"
    assert checks["ranks"]["found"].startswith("2 without -n: ")


def test_the_options_of_a_run_are_taken_and_its_ranks_tried(invented_hosts: None) -> None:
    words = ["doctor", "--json", "-H", "alpha:1,beta:1", "--mpirun", MPIS["openmpi-4"].mpirun]
    fits = CliRunner().invoke(app, [*words, "-np", "2", "--bind-to", "none"])
    too_many = CliRunner().invoke(app, [*words, "-n", "3", "--bind-to", "none"])
    assert json.loads(fits.stdout)[-1]["found"].startswith("2 as asked for: ")
    last = json.loads(too_many.stdout)[-1]
    assert (too_many.exit_code, last["name"], last["state"]) == (1, "ranks", "failed")
    assert last["remedy"].startswith("try the launcher")


def test_a_host_that_does_not_answer_fails(invented_hosts: None) -> None:
    words = ["doctor", "--json", "-H", "alpha:1,down1:1", "--mpirun", MPIS["mpich-4"].mpirun]
    done = CliRunner().invoke(app, words)
    last = json.loads(done.stdout)[-1]
    assert done.exit_code == 1
    assert (last["name"], last["state"]) == ("reach", "failed")
    assert "down1: ssh: connect to host down1 port 22: No route to host" in last["found"]
