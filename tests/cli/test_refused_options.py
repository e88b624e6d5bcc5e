# SPDX-License-Identifier: Apache-2.0
"""An option that would do nothing together with another one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import fairlead as fl
from fairlead.cli import app


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    return " ".join(result.output.split())


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize(
    "option", [["--budget", "2s"], ["--contention"], ["--probe", "full"], ["--max-age", "1h"]]
)
def test_a_network_file_takes_no_option_of_the_probe(command: str, option: list[str]) -> None:
    said = refused(command, "-n", "2", "--network", "a.net.npz", *option, "--", "true")
    assert f"Invalid value for {option[0]}: does not go together with --network FILE" in said


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_network_measured_anew_takes_no_age(command: str) -> None:
    said = refused(command, "-n", "2", "--network", "probe:", "--max-age", "1h", "--", "true")
    assert "Invalid value for --max-age: does not go together with --network probe:" in said


def test_a_probe_of_all_pairs_takes_no_seed() -> None:
    assert "Invalid value for --seed: needs --sample" in refused(
        "probe", "--hostfile", "hosts", "--seed", "1"
    )


def test_without_relays_there_is_no_threshold_for_them() -> None:
    never = ("run", "-n", "2", "--relay", "never")
    said = refused(*never, "--relay-threshold", "1MiB", "--", "true")
    assert "Invalid value for --relay-threshold: does not go with --relay never" in said
    said = refused("run", "-n", "2", "--no-relay", "--relay-rule", "mcm", "--", "true")
    assert "Invalid value for --relay-rule: does not go with --relay never" in said


def test_relays_are_asked_for_by_one_of_three_words() -> None:
    said = refused("run", "-n", "2", "--relay=often", "--", "true")
    assert "unknown name 'often'; there are auto, never, always" in said


def test_zones_are_those_of_the_rule_mcm() -> None:
    said = refused("run", "-n", "2", "--relay", "--relay-zones", "2,4", "--", "true")
    assert "Invalid value for --relay-zones: needs --relay-rule mcm" in said
    for wrong in ("2", "4,2", "0.5,2", "a,b", "1,inf", "1,2,3"):
        said = refused("run", "-n", "2", "--relay", "--relay-zones", wrong, "--", "true")
        assert "expected MEDIUM,HIGH with 1 <= MEDIUM <= HIGH" in said


def test_what_is_reproducible_has_no_drift_to_look_for() -> None:
    said = refused("tune", "-n", "2", "--reproducible", "--max-drift", "0.2")
    assert "Invalid value for --max-drift: does not go together with --reproducible" in said


def test_without_drift_nothing_is_expected_of_times() -> None:
    said = refused("tune", "-n", "2", "--max-drift", "never", "--drift-from", "predicted")
    assert "Invalid value for --drift-from: does not go together with --max-drift never" in said


@pytest.mark.mpi
def test_a_timeout_that_no_launcher_can_keep_is_an_error(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    hosts = tmp_path_factory.mktemp("hosts") / "hosts"
    hosts.write_text("a\nb\n")
    result = CliRunner().invoke(app, ["probe", "--hostfile", str(hosts), "--timeout", "1ms"])
    assert "timeout_s: expected at least 1, got 0.001" in f"{result.output}{result.exception}"


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (["--dry-run"], "auto does not go together with --dry-run"),
        (["--traffic", "a.traffic.npz"], "auto does not go together with --traffic"),
    ],
)
def test_first_auto_is_refused_where_the_run_itself_is_not_traced(
    option: list[str], reason: str
) -> None:
    said = refused("run", "--first", "auto", *option, "-n", "2", "./solver")
    assert f"Invalid value for --first: {reason}" in said


@pytest.mark.parametrize("command", ["probe", "tune", "run", "compare"])
def test_outside_a_job_hosts_are_asked_for(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    program = ["true"] if command in {"run", "compare"} else []
    result = CliRunner().invoke(
        app, [command, "-n", "2", *program][: 1 if command == "probe" else None]
    )
    assert isinstance(result.exception, fl.InputError)
    assert "no hosts: give --hostfile FILE or -H h0:4,h1:4" in str(result.exception)
