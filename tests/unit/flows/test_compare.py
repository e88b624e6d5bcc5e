# SPDX-License-Identifier: Apache-2.0
"""A series of runs: what ends it early, and what is kept then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from instances import groups_traffic, racks
from narrators import RecordingNarrator
from sessions import session_of

import fairlead as fl
from fairlead.act.launch import Finished
from fairlead.errors import LaunchError
from fairlead.flows.compare import flow
from fairlead.flows.compare.comparison import Comparison
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.measure.observed_launcher import ObservedBinding
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import announce_run
from fairlead.watch.past_runs import load_steps

NETWORK = racks([0, 1])
LAUNCHER: Any = SimpleNamespace(
    family="openmpi",
    version=(4, 1, 4),
    path=Path("/usr/bin/mpirun"),
    prepare_command=lambda _spec, folder: [folder.name],
)


Announced = list[tuple[Comparison, Path]]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Two hosts and four ranks, all measured already."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return session_of(
        tmp_path / "record",
        TracedProgram(groups_traffic([0, 1, 0, 1]), trace_s=2.0),
        network=NETWORK,
        slots=2,
        launcher=LAUNCHER,
        probe_s=1.0,
    )


def compare(
    session: Session,
    run: Callable[[str], Finished],
    announced: Announced,
    narrator: Narrator | None = None,
    time_pattern: str | None = None,
) -> None:
    """Five runs by the launcher and by Scotch; `run` stands for a start, by the method's name."""
    flow.compare(
        session.request,
        ["scotch"],
        5,
        narrator or Narrator(),
        lambda comparison, folder: announced.append((comparison, folder)),
        time_pattern=time_pattern,
        prepared_by=lambda *_: session,
        start=lambda command, **_options: run(Path(command[0]).name),
        bind=lambda *_: ObservedBinding(),
    )


def interrupted_in_run(number: int, error: type[BaseException]) -> Callable[[str], Finished]:
    done = iter(range(1, 1000))

    def run(_method: str) -> Finished:
        this = next(done)
        if this == number:
            raise error
        return Finished(0, float(this))

    return run


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupted_comparison_keeps_its_complete_rounds(
    session: Session, error: type[BaseException]
) -> None:
    narrator, announced = RecordingNarrator(), Announced()
    with pytest.raises(error):
        compare(session, interrupted_in_run(6, error), announced, narrator)
    [(comparison, folder)] = announced
    assert narrator.lines == ["interrupted after 2 of 5 rounds"]
    # The order rotates: launcher, scotch; scotch, launcher; and a launcher without its scotch.
    assert comparison.methods["launcher"].times_s == (1.0, 4.0)
    assert comparison.methods["scotch"].times_s == (2.0, 3.0)
    assert comparison.repeats == 5
    assert Comparison.load(folder / "comparison.json") == comparison


def test_comparison_interrupted_in_its_second_round_keeps_nothing(session: Session) -> None:
    announced = Announced()
    with pytest.raises(KeyboardInterrupt):
        compare(session, interrupted_in_run(4, KeyboardInterrupt), announced)
    assert not announced
    assert not session.directory.file("comparison.json").exists()


def test_another_run_and_a_comparison_know_of_one_another(session: Session) -> None:
    """Only those runs of the program count as shared that took place at the same time."""
    done = iter(range(100))
    seen = list[str]()

    def run(_method: str) -> Finished:
        if next(done) == 2:
            with announce_run(session.cluster.hosts, "other") as other:
                seen.extend(other.others())
        return Finished(0, 1.0)

    narrator = RecordingNarrator()
    compare(session, run, Announced(), narrator)

    assert seen == [Path(session.request.program[0]).name]
    shared = [one.is_shared for one in session.log.kept.runs]
    assert shared == [at == 2 for at in range(10)]
    assert narrator.lines == [
        "another run of yours had some of the hosts during 1 of 10 runs: their times are shown "
        "here, and do not count against a placement"
    ]


def test_a_comparison_alongside_another_run_names_it(session: Session) -> None:
    narrator = RecordingNarrator()
    with announce_run(session.cluster.hosts, "other") as other:
        compare(session, lambda _method: Finished(0, 1.0), Announced(), narrator)
        assert other.has_met()
    assert narrator.lines[0].startswith("another run of yours (other) has some of these hosts: ")
    assert all(one.is_shared for one in session.log.kept.runs)


def test_the_history_of_the_program_has_all_runs(session: Session) -> None:
    def run(method: str) -> Finished:
        return Finished(0, {"launcher": 2.0, "scotch": 4.0}[method], stdout="solve_s 0.5")

    compare(session, run, Announced(), time_pattern="solve_s (.*)")

    kept = session.log.kept
    # By the time of the whole command, as those of `run` are.
    assert len(kept.runs) == 10
    assert kept.launcher_s() == 2.0
    assert len(kept.find_dropped()) == 1
    # The page of a comparison has its own times, which may be those that the program prints.
    assert not session.directory.file("history.json").exists()


def test_whole_comparison_is_announced_once(session: Session) -> None:
    announced = Announced()
    compare(session, lambda _method: Finished(0, 2.0), announced)
    [(comparison, folder)] = announced
    assert folder == session.directory.path
    assert comparison.methods["scotch"].times_s == (2.0,) * 5


@pytest.mark.parametrize("text", ["0", "-1.5", "nan", "inf", "soon", ""])
def test_output_that_is_not_a_time_ends_the_series_at_its_first_run(
    session: Session, text: str
) -> None:
    started: list[str] = []

    def run(method: str) -> Finished:
        started.append(method)
        return Finished(0, 2.0, stdout=f"size 3\ntook {text};\n")

    with pytest.raises(fl.InputError, match=f"--time-pattern .* found '{text}'"):
        compare(session, run, Announced(), time_pattern="took (.*);")
    assert started == ["launcher"]


def test_time_pattern_whose_group_took_no_part_is_named(session: Session) -> None:
    with pytest.raises(fl.InputError, match="found '', which is no number"):
        compare(
            session,
            lambda _method: Finished(0, 2.0, stdout="took\n"),
            Announced(),
            time_pattern="took( [0-9]+)?",
        )


def test_output_of_a_failed_run_is_kept(session: Session) -> None:
    failed = Finished(3, 2.0, stdout="out\n", stderr="err\n")
    with pytest.raises(LaunchError, match=r"'launcher' ended with exit code 3; its output is in"):
        compare(session, lambda _method: failed, Announced())
    assert session.directory.file("failed-run.log").read_text() == "out\nerr\n"
    assert load_steps(session.directory.path)["end"]["exit_code"] == 1


def test_failed_run_whose_output_cannot_be_kept_tells_both(session: Session) -> None:
    session.directory.file("failed-run.log").mkdir()  # No file can go there.
    with pytest.raises(LaunchError, match=r"exit code 3; its output is lost: .*cannot be written"):
        compare(session, lambda _method: Finished(3, 2.0, stdout="out\n"), Announced())
