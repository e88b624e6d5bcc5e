# SPDX-License-Identifier: Apache-2.0
"""LDMS as a source: a file that is read again, or `ldms_ls`, which asks a daemon."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.ldms import parse, series_of
from fairlead.measure.metrics.series import MetricError, MetricSource, Series

__all__ = ["LdmsCommandSource", "LdmsFileSource"]

COMMAND_S = 30.0
"""Longest that `ldms_ls` may take; it gives up by itself after 10 s without an answer."""


class LdmsFileSource(MetricSource):
    """What `ldms_ls -l` printed to a file, which somebody writes again and again."""

    def __init__(self, path: Path):
        """A file."""
        self.name = f"ldms:{path}"
        self._path = path

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the file holds now."""
        return series_of(parse(read_text(self._path), str(self._path)))


class LdmsCommandSource(MetricSource):
    """`ldms_ls -l` of a daemon."""

    def __init__(self, name: str, command: Sequence[str]):
        """A command that prints as `ldms_ls -l` does."""
        self.name = name
        self._command = list(command)

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the daemon tells now."""
        try:
            done = subprocess.run(
                self._command, capture_output=True, text=True, timeout=COMMAND_S, check=False
            )
        except OSError as error:
            raise MetricError(f"{self.name}: {self._command[0]}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise MetricError(f"{self.name}: no answer within {COMMAND_S:.0f} s") from error
        if done.returncode:
            told = " ".join(done.stderr.split())[-200:]
            raise MetricError(f"{self.name}: ended with {done.returncode}: {told}")
        return series_of(parse(done.stdout, self.name))
