# SPDX-License-Identifier: Apache-2.0
"""`scripts/check-commits`: which subjects and bodies it refuses, and from which commit on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check-commits"

BODY = "Problem: it is slow.\n\nIt is fast now, by a table."


class Repository:
    """A repository without a commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run("git", "init", "--quiet", "--initial-branch=main")

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER")
                 for what in ("NAME", "EMAIL")}  # fmt: skip
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull},
        )  # fmt: skip

    def commit(self, message: str) -> None:
        done = self.run("git", "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        assert done.returncode == 0, done.stderr

    def add_words(self) -> None:
        (self.folder / "scripts").mkdir()
        (self.folder / "scripts" / "words.txt").touch()
        self.run("git", "add", "scripts")
        self.commit("lint: add the list of words")

    def check(self, *arguments: str) -> tuple[int, str]:
        done = self.run(SCRIPT, *arguments)
        return done.returncode, done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def strict(repository: Repository) -> Repository:
    """A repository in which all further commits are under the rules on verb and body."""
    repository.add_words()
    return repository


@pytest.mark.parametrize("subject", ["run: wait 30 s", "core, mpi: count cells, and essays"])
def test_a_good_commit_is_accepted(strict: Repository, subject: str) -> None:
    strict.commit(f"{subject}\n\n{BODY}\n\nSigned-off-by: A <a@b.c>")

    assert strict.check() == (0, "")


@pytest.mark.parametrize(
    "subject", ["Wait 30 s", "run: Wait 30 s", "run: wait 30 s.", "run: " + 70 * "w"]
)
def test_a_subject_of_another_form_is_refused(repository: Repository, subject: str) -> None:
    repository.commit(f"{subject}\n\n{BODY}")

    code, output = repository.check()

    assert code == 1
    assert (
        output
        == f"commit subject is not 'area: do one thing' in at most 72 characters: {subject}\n"
    )


@pytest.mark.parametrize("verb", ["tell", "tells", "told", "say", "says"])
def test_a_subject_whose_verb_names_no_change_is_refused(strict: Repository, verb: str) -> None:
    strict.commit(f"run: {verb} why\n\n{BODY}")

    code, output = strict.check()

    assert code == 1
    assert f"instead of '{verb}': run: {verb} why" in output


@pytest.mark.parametrize(
    "body",
    [
        "",
        "It is fast now.",
        "Problem: it is slow.",
        "Problem: it is slow.\nIt is fast now.",
        "It is slow.\n\nIt is fast now.",
        "Problem: it is slow.\n\nSigned-off-by: A <a@b.c>",
    ],
)
def test_a_body_without_two_paragraphs_is_refused(strict: Repository, body: str) -> None:
    strict.commit(f"run: wait 30 s\n\n{body}")

    code, output = strict.check()

    assert code == 1
    assert "body is not 'Problem: ...'" in output


def test_commits_before_the_rule_and_merges_are_left_out(repository: Repository) -> None:
    repository.commit("run: tell why")
    repository.run("git", "checkout", "--quiet", "-b", "other")
    repository.commit("run: say why")
    repository.run("git", "checkout", "--quiet", "main")
    repository.add_words()
    merged = repository.run("git", "merge", "--quiet", "--no-ff", "-m", "Say it", "other")
    assert merged.returncode == 0, merged.stderr

    assert repository.check() == (0, "")


def test_only_commits_since_the_given_revision_are_checked(strict: Repository) -> None:
    strict.commit("run: tell why")
    strict.commit(f"run: wait 30 s\n\n{BODY}")

    assert strict.check("HEAD~1") == (0, "")
    assert strict.check("HEAD~2")[0] == 1
