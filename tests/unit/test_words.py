# SPDX-License-Identifier: Apache-2.0
"""`scripts/words`: refuses the listed words, with the place and what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "words"

RULES = """\
# A comment.
blue\tgreen\tone colour
deep sea\tocean
/# ?Off\\s/\tbegin with a verb
"""


def check(*arguments: Path | str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\n# It is blue.\n", "2: blue -> green"),
        ('"""Blue things."""\n', "1: Blue -> green"),
        ("print('all blue')\n", "1: blue -> green"),
        ("is_blue = blue_s\n", "1: blue -> green"),
        ("MOST_BLUE = 1\n", "1: BLUE -> green"),
        ("in the deep  sea\n", "1: deep  sea -> ocean"),
        ("x = 1  # Off the road.\n", "1: # Off -> begin with a verb"),
    ],
)
def test_refused_words_are_found_wherever_they_stand(
    tmp_path: Path, rules: Path, text: str, found: str
) -> None:
    file = tmp_path / "file.py"
    file.write_text(text)

    code, output = check("--list", rules, file)

    assert code == 1
    assert f"{file}:{found}" in output


@pytest.mark.parametrize(
    "text",
    [
        "# It is bluer, blueish.\n",
        "run --blue\n",
        "deep seas\n",
        "# off, Off\n",
        "",
        "\u00fcblue\n",
    ],
)
def test_other_words_and_options_are_accepted(tmp_path: Path, rules: Path, text: str) -> None:
    file = tmp_path / "file.md"
    file.write_text(text, encoding="utf-8")

    assert check("--list", rules, file) == (0, "")


def test_a_file_that_is_not_text_is_accepted(tmp_path: Path, rules: Path) -> None:
    file = tmp_path / "image.png"
    file.write_bytes(b"blue\xff\xfe")

    assert check("--list", rules, file) == (0, "")


def test_a_file_in_a_folder_that_is_not_clean_yet_is_accepted(tmp_path: Path, rules: Path) -> None:
    file = tmp_path / "old" / "file.py"
    file.parent.mkdir()
    file.write_text("blue\n")
    rules.write_text(RULES + f"not checked: {file.parent}\n")

    assert check("--list", rules, file) == (0, "")


@pytest.mark.parametrize("line", ["blue\n", "blue\t\n", "/(/\tclose it\n", "a\tb\tc\td\n"])
def test_a_line_of_the_list_that_makes_no_sense_is_named(tmp_path: Path, line: str) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text(line)

    code, output = check("--list", rules, rules)

    assert code == 2
    assert f"{rules}:1: " in output


def test_a_file_that_is_missing_is_named(tmp_path: Path, rules: Path) -> None:
    code, output = check("--list", rules, tmp_path / "missing.py")

    assert code == 2
    assert "missing.py" in output


def test_the_project_uses_no_refused_word() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the list of files comes from git")

    assert check() == (0, "")
