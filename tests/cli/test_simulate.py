# SPDX-License-Identifier: Apache-2.0
"""`fairlead simulate`: tables and JSON, and what it says when it cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import fairlead as fl
from fairlead.cli import app
from fairlead.decide.jobs import JOB_METHODS
from fairlead.simulation import RATE_PER
from fairlead.simulation.run import OPTION_VALUES

SYNT = ("simulate", "Synt_workload_4", "--scale", "0.01")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_table_has_a_row_for_each_method_and_names_the_scale() -> None:
    said = run("simulate", "Synt_workload_4", "--scale", "0.001", "--methods", "all")
    assert said.exit_code == 0, said.output
    head, *rows = said.stdout.splitlines()[: 1 + len(JOB_METHODS)]
    assert re.split("  +", head) == ["method", "waiting time", "finish time", "total finish time"]
    assert [row.split()[0] for row in rows] == list(JOB_METHODS)
    assert "scale 0.001" in said.stdout


def test_lines_name_the_server_with_most_waiting_or_say_there_is_none(
    tmp_path: Path,
) -> None:
    job = '[[jobs]]\npattern = "linear"\nprocesses = 2\nmessage = "1KB"\nrate = 1\ncount = 9\n'
    (tmp_path / "calm.toml").write_text(job)
    assert (
        "cyclic: no message waits"
        in run("simulate", str(tmp_path / "calm.toml"), "--methods=cyclic").stdout.splitlines()
    )
    assert "cyclic: most waiting at node" in run(*SYNT, "--methods=cyclic").stdout


def test_servers_are_shown_on_demand_the_worst_first() -> None:
    said = run(*SYNT, "--methods=blocked,spread", "--servers=3")
    assert said.exit_code == 0, said.output
    rows = [line.split() for line in said.stdout.splitlines()[5:11]]
    assert [row[0] for row in rows] == ["blocked"] * 3 + ["spread"] * 3
    (result,) = json.loads(run(*SYNT, "--methods=blocked", "--json").stdout)
    worst = max(result["servers"], key=lambda server: server["waiting_time_s"])
    assert rows[0][1:6] == [
        worst["name"],
        str(worst["num_messages"]),
        f"{worst['offered_ratio']:.0%}",
        f"{worst['utilisation_ratio']:.0%}",
        str(worst["longest_queue"]),
    ]


def test_overloaded_servers_are_named_on_stderr() -> None:
    said = run(*SYNT, "--methods", "blocked")
    assert "blocked: node1.nic.send is overloaded: offered 302% of its capacity" in said.stderr


def test_json_holds_what_the_api_gives() -> None:
    said = run(*SYNT, "--methods", "cyclic,spread", "--nic", "shared", "--json")
    results = json.loads(said.stdout)
    assert [result["method"] for result in results] == ["cyclic", "spread"]
    workload = fl.Workload.load("Synt_workload_4")
    expected = fl.simulate(
        workload, fl.place_jobs(workload, "spread"), fl.SimulationOptions(nic="shared"), scale=0.01
    )
    assert results[1]["waiting_time_s"] == expected.waiting_time_s
    assert results[1]["options"]["nic"] == "shared"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods=best"], "unknown name 'best'; there are blocked"),
        (["--methods=spread, spread"], "'spread' is named twice"),
        (["--methods="], "unknown name ''; there are blocked"),
        (["--placement=a.json", "--placement=a.json"], "a file is named twice"),
        (["--nic=both"], "unknown name 'both'; there are separate, shared, send_only"),
        (["--forwarding=fast"], "unknown name 'fast'; there are store_and_forward, cut_through"),
        (["--arrivals=late"], "unknown name 'late'; there are periodic, random_phase, poisson"),
        (["--loop=x"], "unknown name 'x'; there are open, closed"),
        (["--rate-per=job"], "unknown name 'job'; there are pair, process"),
        (["--scale=0"], "expected a number > 0, got '0'"),
        (["--scale=inf"], "expected a number > 0, got 'inf'"),
        (["--scale=5"], "expected a part, at most 1, got '5'"),
        (["--compute-mops=fast"], "expected a number > 0, got 'fast'"),
        (["--methods=optimize", "--time-limit=soon"], "duration 'soon': expected a number"),
        (["--methods=optimize", "--time-limit=0s"], "must be > 0, got '0s'"),
        (["--methods=spread", "--time-limit=1s"], "needs the method optimize"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_allowed(arguments: list[str], said: str) -> None:
    result = run(*SYNT, *arguments)
    assert result.exit_code == 2
    # The message stands in a frame, its lines broken.
    assert said.replace(" ", "") in re.sub(r"\s", "", result.stderr)


def test_help_lists_the_words_of_each_option() -> None:
    help_text = re.sub(r"\s", "", run("simulate", "--help").stdout)
    for words in (*OPTION_VALUES.values(), RATE_PER):
        assert f":{','.join(words)}." in help_text


def test_the_users_own_placements_are_shown_next_to_the_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fl.Traffic(1e6 * (1 - np.eye(2)), 10 * (1 - np.eye(2)), run_time_s=1).save("a.traffic.npz")
    Path("jobs.toml").write_text(
        "[machine]\nnodes = 2\nsockets = 1\ncores = 2\n"
        '[[jobs]]\ntraffic = "a.traffic.npz"\n[[jobs]]\ntraffic = "a.traffic.npz"\n'
    )
    Path("two.toml").write_text('[[jobs]]\ntraffic = "a.traffic.npz"\n' * 2)
    Path("mine.json").write_text("[[0, 2], [1, 3]]")
    mapped = run("jobs", "map", "two.toml", "--cluster=h0:2,h1:2", "--method=cyclic", "-o", "out")
    assert mapped.exit_code == 0, mapped.output

    said = run(
        *("simulate", "jobs.toml", "--methods=cyclic", "--json"),
        *("--placement=out/jobs.json", "--placement=mine.json"),
    )

    cyclic, recorded, mine = json.loads(said.stdout)
    assert (recorded["method"], mine["method"]) == ("out/jobs.json", "mine.json")
    assert cyclic["servers"] == recorded["servers"] == mine["servers"]
    assert cyclic["waiting_time_s"] > 0


def test_tables_fit_eighty_columns_with_any_number_of_placements(tmp_path: Path) -> None:
    (tmp_path / "jobs.toml").write_text(
        "[machine]\nnodes = 2\nsockets = 1\ncores = 2\n[[jobs]]\n"
        'pattern = "all_to_all"\nprocesses = 4\nmessage = "64MB"\nrate = 9999\ncount = 99\n'
    )
    files = [tmp_path / f"a-placement-of-{'very-' * 5}long-name-{n}.json" for n in range(3)]
    for file in files:
        file.write_text("[[0, 1, 2, 3]]")
    given = [f"--placement={file}" for file in files]
    arguments = ["simulate", str(tmp_path / "jobs.toml"), "--servers=2", *given]

    said = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})

    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    tables = lines[: next(i for i, line in enumerate(lines) if "most waiting at" in line)]
    assert max(map(len, tables)) <= 80
    assert not any("…" in line for line in tables)
    folded = "".join(line.split()[0] for line in tables if line[:1].strip())
    assert all(folded.count(str(file)) == 3 for file in files)  # Once for its times.
    assert "over 1000 times" in "".join(tables)


def test_placement_that_does_not_fit_is_refused_before_anything_is_placed(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("[[0, 1]]")
    said = run(*SYNT, "--placement", str(file))
    assert isinstance(said.exception, fl.ShapeError)
    assert f"placement '{file}': has [2] ranks in its jobs" in str(said.exception)


def test_what_decides_the_result_is_printed_with_it() -> None:
    arguments = ("simulate", "Real_workload_4", "--methods=cyclic", "--scale=0.01")
    changed = (*arguments, "--rate-per=process", "--compute-mops=2000", "--seed=3")

    assert run(*arguments).stdout.splitlines()[-1].endswith("loop open")
    heading = run(*changed).stdout.splitlines()[-1]
    assert heading.endswith("loop open, seed 3, rate per process; compute 2000 Mop/s")
    (result,) = json.loads(run(*changed, "--json").stdout)
    assert result["machine"]["compute_Mops"] == 2000
    assert result["machine"]["nic_Bps"] == 1e9
    assert (result["rate_per"], result["options"]["seed"]) == ("process", 3)


def test_machine_of_a_file_stands_for_the_workloads(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text('[machine]\nnodes = 24\nnic = "10GB/s"\ncompute_Mops = 500\n')
    arguments = ("simulate", "Real_workload_4", "--scale=0.01", "--methods=spread", "--json")
    (by_default,) = json.loads(run(*arguments).stdout)
    (result,) = json.loads(run(*arguments, "--machine", str(file)).stdout)
    assert (result["machine"]["nodes"], result["machine"]["nic_Bps"]) == (24, 1e10)
    # Cores five times as fast, which recordings take their rates from.
    assert result["finish_time_s"] == pytest.approx(by_default["finish_time_s"] / 5, rel=0.01)


def test_machine_that_is_too_small_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text("[machine]\nnodes = 1\n")
    said = run(*SYNT, "--machine", str(file))
    assert isinstance(said.exception, fl.TopologyError)
    assert "192 processes do not fit on 16 free cores" in str(said.exception)


def test_rates_per_process_and_compute_speed_reach_the_workload() -> None:
    def waited(*arguments: str) -> float:
        return json.loads(run(*arguments, "--methods=cyclic", "--json").stdout)[0]["waiting_time_s"]

    assert waited(*SYNT) != waited(*SYNT, "--rate-per=process")
    real = ("simulate", "Real_workload_4", "--scale", "0.01")
    assert waited(*real) != waited(*real, "--compute-mops=2000")


@pytest.mark.parametrize("command", [SYNT, ("jobs", "map", "a", "--cluster=h0:2"), ("map",)])
def test_a_seed_that_no_method_could_take_is_wrong_usage(command: tuple[str, ...]) -> None:
    result = run(*command, "--seed", str(10**26))
    assert result.exit_code == 2
    assert "--seed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("simulate", "nothing"), "workload 'nothing': neither a file nor one of"),
        ((*SYNT, "--machine", "gone.toml"), "gone.toml: no such file"),
        (("simulate", "."), ".: cannot be read: Is a directory"),
    ],
)
def test_trouble_is_an_error_that_names_the_value(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, fl.InputError)
    assert said in str(result.exception)
