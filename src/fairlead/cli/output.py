# SPDX-License-Identifier: Apache-2.0
"""Output of commands: data on stdout, everything else on stderr, progress only on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBars
from rich.segment import Segment

from fairlead.cli.help import OUTPUT
from fairlead.cli.terminal_safe import terminal_safe
from fairlead.errors import InputError
from fairlead.narrator import Narrator, Progress
from fairlead.report.plain import plain


class _Terminal(Console):
    """A console that writes no control sequences from texts to the terminal.

    Names in files may come from anywhere, and ESC in one of them could change the text on the
    screen. All text passes here before it is printed; colours are added separately.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=terminal_safe(segment.text))


stdout = _Terminal()
stderr = _Terminal(stderr=True, highlight=False)

JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", rich_help_panel=OUTPUT, help="Print the result as JSON, for other programs."
    ),
]


def print_json(result: Any) -> None:
    """Print a result as one JSON document on stdout.

    JSON has no infinity and no nan. If the origin of a file contains one, it becomes null.
    """
    try:
        text = json.dumps(result, indent=2, allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(plain(result), indent=2, allow_nan=False, default=str)
    sys.stdout.write(f"{text}\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print sentences and commands on stdout; they are broken by the terminal alone."""
    for line in lines:
        stdout.print(line, soft_wrap=True, markup=False, highlight=False)


def announce_json(facts: Mapping[str, Any]) -> None:
    """Print facts as one line of JSON on stderr, where stdout belongs to a program."""
    stderr.print(json.dumps(facts), soft_wrap=True, markup=False)


def warn(line: str) -> None:
    """Say one line on stderr."""
    stderr.print(f"fairlead: {line}", soft_wrap=True, markup=False)


@contextlib.contextmanager
def progress(title: str) -> Iterator[Progress]:
    """A progress bar on stderr while the block runs; silent if stderr is not a terminal.

    Yields:
        A function to call with the steps done and the steps in all.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with ProgressBars(
        *columns, console=stderr, transient=True, disable=not stderr.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def require_folder(path: Path) -> None:
    """Check that a file can be written there, before the work for it begins.

    Raises:
        InputError: There is no such folder.
    """
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


class TerminalNarrator(Narrator):
    """Prints messages about progress on stderr."""

    def report(self, line: str) -> None:
        """Print the line."""
        warn(line)

    def progress(self, title: str) -> contextlib.AbstractContextManager[Progress]:
        """A bar while the block runs, only on a terminal."""
        return progress(title)


class PrefixedOutput:
    """Passes on what several jobs print, each line whole and after the name of its job.

    Attributes:
        names: Names of the jobs, in their order.
    """

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self._one_at_a_time = threading.Lock()

    def __call__(self, index: int, stream: str, line: bytes) -> None:
        """Write one line of a job to the stream of the same name."""
        text = b"[%s] %s" % (self.names[index].encode(), line.removesuffix(b"\n") + b"\n")
        with self._one_at_a_time:
            # Not through Python's buffers: Python would report an error at its exit if the pipe is
            # closed.
            descriptor = 1 if stream == "stdout" else 2
            while text:
                text = text[os.write(descriptor, text) :]
