# SPDX-License-Identifier: Apache-2.0
"""`fairlead advise` from files to words, and what it says when it cannot."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fairlead as fl
from fairlead import cli
from fairlead.files.run_directory import NETWORK, TRAFFIC, RunDirectory

HOSTS = [f"h{host}" for host in range(6)]
SPEC = ",".join(f"{host}:2" for host in HOSTS)


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six hosts of which h1 is slow both ways; eight ranks in a ring."""
    monkeypatch.chdir(tmp_path)
    bandwidth_Bps = np.full((6, 6), 1e8)
    bandwidth_Bps[1, :] = bandwidth_Bps[:, 1] = 1e7
    np.fill_diagonal(bandwidth_Bps, np.inf)
    fl.Network(HOSTS, np.where(np.eye(6), 0, 1e-4), bandwidth_Bps).save("cloud.net.npz")
    successor = np.roll(np.eye(8), 1, axis=1)
    fl.Traffic(successor * 1e8, successor, run_time_s=60.0).save("app.traffic.npz")
    return tmp_path


@pytest.fixture
def advise(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command in this process; its words without line breaks."""

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["fairlead", "advise", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capsys.readouterr()
        return Said(int(left.value.code or 0), " ".join(out.split()), err)

    return run


FILES = ("cloud.net.npz", "--traffic=app.traffic.npz", f"--cluster={SPEC}")


def test_a_network_alone_names_the_bad_host_and_its_pairs(advise) -> None:
    said = advise("cloud.net.npz")

    assert said.code == 0, said.err
    assert "h1 is a bad host" in said.out
    assert (
        "it sends 10.0 times slower than usual: 10 MB/s, the typical pair 100 MB/s; "
        "5 of 5 pairs show it h1 -> h0 10 MB/s, h1 -> h2 10 MB/s"
    ) in said.out
    assert "it receives 10.0 times slower" in said.out
    assert "hosts are enough" not in said.out


def test_with_traffic_it_says_how_many_hosts_are_enough(advise) -> None:
    said = advise(*FILES, "--prices=0.5", "--wanted-time=1h")

    assert said.code == 0, said.err
    assert "4 of 6 hosts are enough: " in said.out
    assert "Cheapest within 1 h a run: " in said.out
    assert "No bottlenecks that pairs share were measured" in said.out


def test_leaving_out_a_used_bad_host_is_said_to_help(advise) -> None:
    said = advise(*FILES, "--method=blocked")
    assert (
        "Leaving out h1 should help: the network's busiest part is 10.00 times as fast "
        "(10.00 to 10.00), all bytes in turn "
    ) in said.out
    assert not re.search("[a-z]_s", said.out)


def test_json_holds_the_whole_advice(advise, capsys) -> None:
    said = advise(*FILES, "--prices=0.5", "--json")

    result = json.loads(said.out)
    assert [bad["host"] for bad in result["bad_hosts"]] == ["h1"]
    symptom = result["bad_hosts"][0]["symptoms"][0]
    assert (symptom["quantity"], symptom["direction"]) == ("bandwidth_Bps", "out")
    assert len(symptom["pairs"]) == 5
    assert [len(choice["hosts"]) for choice in result["choice"]["best_of_size"]] == [4, 5, 6]
    wanted = result["choice"]["wanted"]
    assert wanted["price_per_run"] == pytest.approx(
        0.5 * len(wanted["hosts"]) * wanted["predicted_time_s"] / 3600
    )
    assert set(wanted["host_of_rank"]) <= set(wanted["hosts"])
    assert json.loads(advise("cloud.net.npz", "--json").out)["choice"] is None


def test_a_run_directory_holds_all_inputs(advise, folder: Path) -> None:
    directory = RunDirectory(folder / "run")
    fl.Network.load("cloud.net.npz").save(directory.file(NETWORK))
    fl.Traffic.load("app.traffic.npz").save(directory.file(TRAFFIC))
    directory.record("network", {"hosts": HOSTS, "slots": [2] * 6, "probe_s": 1.0})

    assert advise("run", "--json").out == advise(*FILES, "--json").out
    smaller = json.loads(advise("run", "--cluster=h0:4,h2:4,h3:4", "--json").out)
    assert smaller["hosts"] == ["h0", "h2", "h3"]


def test_options_reach_the_choice(advise) -> None:
    def hosts_of(*options: str) -> list[str]:
        said = advise(*FILES, "--method=random", "--json", *options)
        return json.loads(said.out)["choice"]["all_hosts"]["host_of_rank"]

    assert hosts_of("--seed=1") != hosts_of("--seed=2")
    assert advise(*FILES, "--objective=worst").code == 2
    assert advise(*FILES, "--metric=hops").code == 2
    assert advise(*FILES, "--metric=messages").code == 0
    said = advise(*FILES, "--method=random", "--metric=messages")
    assert said.code == 2
    assert "--metric: has no effect here" in said.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["missing.net.npz"], "missing.net.npz: no such file"),
        (["."], ".: not a run folder: it has no network.net.npz"),
        ([*FILES, "--wanted-time=0s"], "wanted time: must be finite and > 0 s, got 0.0"),
        ([*FILES, "--wanted-time=1ms"], "the best takes"),
        ([*FILES, "--prices=h0=-1"], "prices: host 'h0': must be finite and >= 0, got -1.0"),
        ([*FILES, "--prices=nan"], "got nan"),
        ([*FILES, "--prices=h9=1"], "prices: unknown host 'h9'; there are h0, h1"),
        ([*FILES[:2], "--cluster=h0:2,h1:2"], "8 ranks do not fit: 2 hosts have 4 slots"),
        ([*FILES[:2], "--cluster=h0:8,"], "one host leaves nothing to choose"),
        ([*FILES[:2], "--cluster=h0:8,h7:8"], "host 'h7' is not in cloud.net.npz"),
    ],
)
def test_trouble_is_one_line(advise, arguments: list[str], problem: str) -> None:
    said = advise(*arguments)

    assert said.code == 1
    assert problem in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_an_unmeasured_pair_is_refused_but_shown(advise) -> None:
    network = fl.Network.load("cloud.net.npz")
    network.bandwidth_Bps[2, 3] = np.nan
    network.save("cloud.net.npz")

    said = advise(*FILES)

    assert said.code == 1
    assert "h2 -> h3 was not measured" in said.err
    assert "1 of the pairs were not measured" in advise("cloud.net.npz").out


RUN = '"kind": "run", "started": "2024-01-31T00:00:00+00:00"'


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("", "damaged or truncated JSON"),
        ("{}", "kind: Field required"),
        (f'{{{RUN}, "steps": []}}', "steps: do not hold hosts and slots of the run"),
        (f'{{{RUN}, "steps": [{{"step": "network"}}]}}', "hosts: Field required"),
    ],
)
def test_a_damaged_record_is_named(advise, folder: Path, record: str, problem: str) -> None:
    (folder / "cloud.net.npz").rename(folder / NETWORK)
    (folder / "run.json").write_text(record)
    said = advise(".")
    assert said.code == 1
    assert f"run.json: {problem}" in said.err


def test_traffic_without_a_cluster_is_wrong_usage(advise) -> None:
    assert advise(*FILES[:2]).code == 2
    assert advise(*FILES, "--wanted-time=soon").code == 2


@pytest.mark.parametrize(
    "option",
    [
        *("--prices=1", "--wanted-time=1s", "--method=scotch", "--metric=bytes"),
        *("--objective=sum", "--seed=1", f"--cluster={SPEC}"),
    ],
)
def test_what_only_a_traffic_has_a_use_for_is_refused_without_one(advise, option: str) -> None:
    said = advise("cloud.net.npz", option)
    assert (said.code, said.out) == (2, "")
    assert f"{option.partition('=')[0]}: needs --traffic" in said.err


def test_measuring_now_needs_hosts(advise) -> None:
    said = advise("probe:")
    assert said.code == 1
    assert "which hosts are to be measured is not said" in said.err


def test_a_declared_tree_is_refused_since_it_has_no_rates(advise, folder: Path) -> None:
    (folder / "racks.toml").write_text(
        'beyond = 2\nlevels = [{ cost = 1, groups = { r = ["h[0-5]"] } }]\n'
    )
    said = advise("racks.toml", *FILES[1:])
    assert said.code == 1
    assert "racks.toml: a host tree has costs but no rates" in said.err
