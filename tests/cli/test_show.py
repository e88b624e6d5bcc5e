# SPDX-License-Identifier: Apache-2.0
"""`fairlead show` and `fairlead report` as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import fairlead as fl


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "cloud.net.npz"
    off_diagonal = 1 - np.eye(3)
    bandwidth = np.full((3, 3), 1e8)
    np.fill_diagonal(bandwidth, np.inf)
    fl.Network(["a", "b", "c"], 1e-4 * off_diagonal, bandwidth).save(path)
    return path


def fairlead(*arguments, cwd):
    command = [sys.executable, "-m", "fairlead", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_show_prints_the_network(network, tmp_path):
    done = fairlead("show", network, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "Network of 3 hosts: a, b, c" in done.stdout
    assert "100 MB/s" in done.stdout


def test_show_json_is_one_document(network, tmp_path):
    done = fairlead("show", network, "--json", cwd=tmp_path)

    assert json.loads(done.stdout)["latency_summary_s"]["max"] == pytest.approx(1e-4)


def test_numbers_that_json_has_not_are_null(tmp_path):
    origin = {"how": "given", "load": [float("nan"), 1.5], "most": {"wait_s": float("inf")}}
    hosts, none = ["a", "b"], np.zeros((2, 2))
    fl.Network(hosts, none, np.ones((2, 2)), origin=origin).save(tmp_path / "odd.net.npz")

    done = fairlead("show", "odd.net.npz", "--json", cwd=tmp_path)

    shown = json.loads(done.stdout)["origin"]
    assert shown == {"how": "given", "load": [None, 1.5], "most": {"wait_s": None}}


def test_a_device_gives_one_line(tmp_path):
    done = fairlead("show", "/dev/zero", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == "fairlead: /dev/zero: is a device, not a file\n"


def test_truncated_file_gives_one_line(network, tmp_path):
    network.write_bytes(network.read_bytes()[:100])

    done = fairlead("show", network, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"fairlead: {network}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["show", "report"])
def test_help_has_an_example(command, tmp_path):
    assert f"Example: fairlead {command} " in fairlead(command, "--help", cwd=tmp_path).stdout


def test_report_writes_a_page(network, tmp_path):
    done = fairlead("report", network, "-o", "page.html", "--json", cwd=tmp_path)

    assert json.loads(done.stdout)["sections"] == ["Network", "What was measured when"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_report_into_a_missing_folder_gives_one_line(network, tmp_path):
    done = fairlead("report", network, "-o", "no/where/page.html", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("fairlead: no/where/page.html: cannot be written")


def test_a_recording_is_shown_by_its_name(tmp_path):
    shown = fairlead("show", "cg.C.32", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Traffic of 32 ranks" in shown.stdout

    written = fairlead("report", "cg.C.32", "-o", "cg.html", cwd=tmp_path)
    assert written.returncode == 0
    assert "cg.html shows Traffic" in written.stderr
    assert (tmp_path / "cg.html").stat().st_size > 0


def test_a_file_named_like_a_recording_is_read_and_an_unknown_one_is_answered(network, tmp_path):
    network.rename(tmp_path / "cg.C.32")
    assert "Network of 3 hosts" in fairlead("show", "cg.C.32", cwd=tmp_path).stdout

    unknown = fairlead("show", "cg.C.33", cwd=tmp_path)
    assert unknown.returncode == 1
    assert "recording 'cg.C.33': there are bt.B.25, " in unknown.stderr


def test_a_network_is_held_against_a_declared_topology(tmp_path):
    # Host h1 stands in the other rack.
    measured = np.array([0, 1, 0, 0, 1, 1, 1, 1])
    is_near = measured[:, None] == measured
    latency_s, bandwidth_Bps = np.where(is_near, 5e-5, 2e-4), np.where(is_near, 1e9, 2e8)
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    hosts = [f"h{host}" for host in range(8)]
    fl.Network(hosts, latency_s, bandwidth_Bps).save(tmp_path / "cloud.net.npz")
    lines = [
        f"SwitchName=r{r} Nodes=h{4 * r},h{4 * r + 1},h{4 * r + 2},h{4 * r + 3}" for r in (0, 1)
    ]
    text = "\n".join([*lines, "SwitchName=core Switches=r0,r1"])
    (tmp_path / "topology.conf").write_text(text)
    fairlead("import", "slurm", "topology.conf", "-o", "site.topo.npz", cwd=tmp_path)

    said = fairlead("show", "cloud.net.npz", "--against", "site.topo.npz", cwd=tmp_path)
    facts = fairlead("show", "cloud.net.npz", "--against", "site.topo.npz", "--json", cwd=tmp_path)

    assert "h1 is declared " in " ".join(said.stdout.split())
    assert [each["host"] for each in json.loads(facts.stdout)["misplaced"]] == ["h1"]


def test_only_a_network_is_held_against_a_topology(tmp_path):
    done = fairlead("show", "cg.C.32", "--against", "site.topo.npz", cwd=tmp_path)

    assert done.returncode == 2
    assert "--against: needs a measured network" in " ".join(done.stderr.split())
