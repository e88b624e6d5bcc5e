# SPDX-License-Identifier: Apache-2.0
"""The path table of a run is shown as it was written, without its key."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from fairlead.act.plan.relay import RouterPlace, new_key, write_relay_plan
from fairlead.decide.host_paths import path_table
from fairlead.errors import InputError
from fairlead.flows.relay.status import relay_status
from fairlead.model.network import Network
from fairlead.report import relay_view


@pytest.fixture
def key() -> str:
    return new_key()


@pytest.fixture
def run(tmp_path: Path, key: str) -> Path:
    rates = np.array([[np.inf, 1e7, 1e8], [1e8, np.inf, 1e8], [1e8, 1e8, np.inf]])
    network = Network(("a", "b", "c"), np.where(np.eye(3), 0.0, 1e-4), rates)
    places = [RouterPlace(host, "10.0.0.1", 1, f"{tmp_path}/{host}/router") for host in "abc"]
    write_relay_plan(tmp_path / "plan", network, path_table(network), places, key)
    return tmp_path


def test_status_has_the_paths_of_the_plan(run: Path, key: str) -> None:
    status = relay_status(run)

    assert (status.threshold_bytes, status.rule) == (65536, "trials")
    assert [path.hops for path in status.table.between(0, 1)] == [(1,), (2, 1)]
    assert status.counters == (None, None, None)
    facts = relay_view.facts(status)
    assert ["a", "c", "b"] in [path["path"] for path in facts["routes"]]
    assert key not in json.dumps(facts)


def test_status_is_shown_with_the_names_of_hosts(run: Path) -> None:
    console = Console(width=100, record=True)

    console.print(relay_view.view(relay_status(run)))

    text = console.export_text()
    assert "a → c → b" in text
    assert "not running here" in text


def test_status_tells_what_each_path_carried(run: Path) -> None:
    assert {path["carried_bytes"] for path in relay_view.facts(relay_status(run))["routes"]} == {
        None
    }
    learned = {"latency_s": 2e-4, "rate_Bps": 5e7}
    paths = [{"hops": [2, 1], "bytes": 3 * 2**20, **learned}]
    left = {"src": 0, "by_mpi": [{"dst": 1, "bytes": 2**20}], "paths": paths}
    (run / "relay-0.json").write_text(json.dumps(left))
    console = Console(width=100, record=True)

    facts = relay_view.facts(relay_status(run))
    console.print(relay_view.view(relay_status(run)))

    sizes = {tuple(path["path"]): path["carried_bytes"] for path in facts["routes"]}
    assert sizes.pop(("a", "c", "b")) == 3 * 2**20
    assert set(sizes.values()) == {0}
    assert facts["by_mpi_bytes"] == 2**20
    assert [path["learned"] for path in facts["routes"] if path["learned"]] == [learned]
    text = console.export_text()
    assert "routers carried 3 MiB of 4 MiB" in text
    (row,) = [line for line in text.splitlines() if line.startswith("│ a → c → b")]
    assert [cell.strip() for cell in row.split("│")[-4:-1]] == ["3 MiB", "200 µs", "50 MB/s"]


def test_a_run_without_relays_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no relays"):
        relay_status(tmp_path)


def test_a_damaged_plan_is_named(run: Path) -> None:
    file = run / "plan" / "relay.json"
    document = json.loads(file.read_text())
    del document["routes"]
    file.write_text(json.dumps(document))

    with pytest.raises(InputError, match=r"relay\.json"):
        relay_status(run)


@pytest.mark.parametrize("hops", [[], [7], [-1]])
def test_a_path_that_is_none_is_refused_with_its_file(run: Path, hops: list[int]) -> None:
    file = run / "plan" / "relay.json"
    document = json.loads(file.read_text())
    document["routes"][0]["hops"] = hops
    file.write_text(json.dumps(document))

    with pytest.raises(InputError, match=r"relay\.json.*: path \[0"):
        relay_status(run)
