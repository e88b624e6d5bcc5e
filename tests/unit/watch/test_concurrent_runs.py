# SPDX-License-Identifier: Apache-2.0
"""Runs of one user at the same time know of one another, where they have a host in common."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path

import pytest

from fairlead.watch.concurrent_runs import announce_run


@pytest.fixture(autouse=True)
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "fairlead" / "running"


def leave_file(running: Path, **changed: object) -> Path:
    """As a run leaves it that was killed, or that goes on elsewhere."""
    running.mkdir(parents=True, exist_ok=True)
    facts = {
        "machine": os.uname().nodename, "pid": 2**22 + 1, "started": 5, "hosts": ["a"],
        "cloud": "[]", "program": "other",
    }  # fmt: skip
    path = running / "1.json"
    path.write_text(json.dumps(facts | changed))
    return path


def test_both_know_of_the_other_also_when_it_has_ended(running: Path) -> None:
    with announce_run(["a", "b"], "long") as long:
        assert not long.has_met()
        with announce_run(["b", "c"], "short") as short:
            assert short.others() == ["long"]
        assert long.others() == []
        assert long.has_met()
    assert list(running.iterdir()) == []


@pytest.mark.parametrize(("hosts", "cloud"), [(["c"], []), (["a"], ["another lab", 1])])
def test_runs_on_other_hosts_do_not_matter(hosts: list[str], cloud: list[object]) -> None:
    with announce_run(["a", "b"], "one") as one, announce_run(hosts, "other", cloud) as other:
        assert (one.others(), other.others()) == ([], [])
        assert not one.has_met()


def test_a_run_that_was_killed_does_not_count(running: Path) -> None:
    leave_file(running)
    with announce_run(["a"], "own") as own:
        assert own.others() == []


@pytest.mark.parametrize("elsewhere", [{"machine": "elsewhere"}, {"pid_namespace": "pid:[1]"}])
def test_a_run_from_another_machine_or_container_counts_while_it_touches_its_file(
    running: Path, elsewhere: dict[str, str]
) -> None:
    path = leave_file(running, **elsewhere)
    with announce_run(["a"], "own") as own:
        assert own.others() == ["other"]
        os.utime(path, (1e9, 1e9))
        assert own.others() == []
    with announce_run(["a"], "own"):
        assert not path.exists()


def test_what_is_damaged_or_of_another_version_does_not_count(running: Path) -> None:
    leave_file(running, machine="elsewhere", version=9)
    (running / "2.json").write_text("{")
    with announce_run(["a"], "own") as own:
        assert own.others() == []


def test_a_store_that_cannot_be_used_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "fairlead").write_text("no folder")
    with announce_run(["a"], "own") as own:
        assert not own.has_met()


def test_what_was_met_and_has_ended_can_be_forgotten() -> None:
    with announce_run(["a"], "long") as long, announce_run(["a"], "other") as other:
        with announce_run(["a"], "short") as short:
            short.others()
        assert other.others() == ["long"]
        long.forget_ended()
        assert long.has_met()
        other.forget_ended()
        assert other.has_met()
    with announce_run(["a"], "long") as long:
        with announce_run(["a"], "short") as short:
            short.others()
        assert long.has_met()
        long.forget_ended()
        assert not long.has_met()


def test_a_program_whose_name_is_not_utf_8_is_seen_by_others() -> None:
    with announce_run(["a"], os.fsdecode(b"gr\xf6\xdfe")), announce_run(["a"], "own") as own:
        assert own.others() == [r"gr\udcf6\udcdfe"]


def test_a_run_of_days_keeps_its_marks(running: Path) -> None:
    with announce_run(["a"], "long") as long:
        with announce_run(["a"], "short") as short:
            short.others()
        (marks,) = running.glob("*.met")
        os.utime(marks, (1e9, 1e9))
        with announce_run(["b"], "another"):
            assert long.has_met()


def test_old_marks_of_a_run_that_is_gone_are_removed(running: Path) -> None:
    marks = running / "1.met"
    marks.mkdir(parents=True)
    os.utime(marks, (1e9, 1e9))
    with announce_run(["a"], "own"):
        assert not marks.exists()


def test_a_file_that_was_removed_is_not_made_anew_by_the_next_beat(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.watch.concurrent_runs.BEAT_S", 0.001)
    with announce_run(["a"], "own"):
        (own,) = running.iterdir()
        own.unlink()
        time.sleep(0.05)
        assert not own.exists()


def test_a_store_that_fails_later_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_folder: Path) -> list[Path]:
        raise OSError(errno.ESTALE, "Stale file handle")

    with announce_run(["a"], "own") as own:
        with announce_run(["a"], "other") as other:
            other.others()
        monkeypatch.setattr(Path, "iterdir", fail)
        assert not own.has_met()
        monkeypatch.undo()
