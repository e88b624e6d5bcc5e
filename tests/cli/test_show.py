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
