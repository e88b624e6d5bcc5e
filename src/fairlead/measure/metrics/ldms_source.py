# SPDX-License-Identifier: Apache-2.0
"""LDMS as a source: a file that is read again, or `ldms_ls`, which asks a daemon."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.ldms import parse, series_of
from fairlead.measure.metrics.series import MetricError, MetricSource, Series

__all__ = ["LdmsCommandSource", "LdmsFileSource", "LdmsModuleSource"]

POOL_BYTES = 2**26
"""Of LDMS' own memory for metric sets: 64 MiB hold some ten thousand."""

COMMAND_S = 30.0
"""Longest that `ldms_ls` may take; it gives up by itself after 10 s without an answer."""


class LdmsFileSource(MetricSource):
    """What `ldms_ls -l` printed to a file, which is written again and again."""

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


class LdmsModuleSource(MetricSource):
    """A daemon by LDMS' Python module `ovis_ldms`, where that is installed."""

    def __init__(self, host: str, port: int, transport: str = "sock"):
        """A daemon that is asked for all its sets.

        Raises:
            MetricError: The module is not installed.
        """
        self.name = f"ldms-python:{host}:{port}"
        self._address = (host, port)
        self._transport = transport
        try:
            self._ldms = importlib.import_module("ovis_ldms.ldms")
        except ImportError as error:
            raise MetricError(f"{self.name}: needs LDMS' Python module: {error}") from error
        self._ldms.init(POOL_BYTES)

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the daemon tells now."""
        host, port = self._address
        try:
            connection = self._ldms.Xprt(self._transport)
            connection.connect(host, port)
            lines = []
            for entry in connection.dir():
                metrics = connection.lookup(entry.name)
                metrics.update()
                lines.append(metrics.json())
            connection.close()
        # The module raises exceptions of its own, and of many kinds.
        except Exception as error:
            raise MetricError(f"{self.name}: {error}") from error
        return series_of(parse("\n".join(lines), self.name)) if lines else []
