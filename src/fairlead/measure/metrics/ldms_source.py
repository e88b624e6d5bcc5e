# SPDX-License-Identifier: Apache-2.0
"""LDMS as a source: a file that is read again, or `ldms_ls`, which asks a daemon."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.ldms import parse, series_of
from fairlead.measure.metrics.series import MetricError, MetricSource, Series

__all__ = ["WANTED", "Authentication", "LdmsCommandSource", "LdmsFileSource", "LdmsModuleSource"]

POOL_BYTES = 2**26
"""Memory of LDMS itself for metric sets: 64 MiB hold some ten thousand."""

COMMAND_S = 30.0
"""Longest that `ldms_ls` may take; it gives up by itself after 10 s without an answer."""


WANTED = (
    *("procnet", "cray_", "gemini", "slingshot", "cxi"),
    *("ibmad", "sysclassib", "ibnet", "opa2"),
)
"""Parts of the names of schemas that describe links: a daemon may have thousands of others."""


class Authentication(NamedTuple):
    """How the client is identified to a daemon.

    Attributes:
        plugin: none, munge, ovis, or another that LDMS has.
        conf: File of the shared secret, for ovis; empty: where LDMS looks for it.
    """

    plugin: str = ""
    conf: str = ""

    def arguments(self) -> list[str]:
        """For `ldms_ls`."""
        plugin = ["-a", self.plugin] if self.plugin else []
        return [*plugin, *(["-A", f"conf={self.conf}"] if self.conf else [])]

    def keywords(self) -> dict[str, Any]:
        """For the Python module."""
        plugin = {"auth": self.plugin} if self.plugin else {}
        return {**plugin, **({"auth_opts": {"conf": self.conf}} if self.conf else {})}


NO_AUTHENTICATION = Authentication()


class LdmsFileSource(MetricSource):
    """What `ldms_ls -l` printed to a file, which is written again and again."""

    def __init__(self, path: Path):
        """A file."""
        self.name = f"ldms:{path}"
        self._path = path

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the file holds now."""
        return _series(self, read_text(self._path), str(self._path))


class LdmsCommandSource(MetricSource):
    """`ldms_ls -l` of a daemon."""

    def __init__(self, name: str, command: Sequence[str]):
        """A command that prints as `ldms_ls -l` does."""
        self.name = name
        self._command = list(command)

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the daemon reports now."""
        try:
            done = subprocess.run(
                self._command, capture_output=True, text=True, timeout=COMMAND_S, check=False
            )
        except OSError as error:
            raise MetricError(f"{self.name}: {self._command[0]}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise MetricError(f"{self.name}: no answer within {COMMAND_S:.0f} s") from error
        if done.returncode:
            message = " ".join(done.stderr.split())[-200:]
            raise MetricError(f"{self.name}: ended with {done.returncode}: {message}")
        return _series(self, done.stdout, self.name)


class LdmsModuleSource(MetricSource):
    """A daemon by LDMS' Python module `ovis_ldms`, where that is installed."""

    def __init__(
        self,
        host: str,
        port: int,
        transport: str = "sock",
        *,
        authentication: Authentication = NO_AUTHENTICATION,
        schemas: Sequence[str] = WANTED,
    ):
        """A daemon that is asked for the sets that describe links.

        Raises:
            MetricError: The module is not installed.
        """
        self.name = f"ldms-python:{host}:{port}"
        self._address = (host, port)
        self._transport = transport
        self._options = authentication.keywords()
        self._schemas = [re.compile(schema) for schema in schemas]
        try:
            self._ldms = importlib.import_module("ovis_ldms.ldms")
        except ImportError as error:
            raise MetricError(f"{self.name}: needs LDMS' Python module: {error}") from error
        self._ldms.init(POOL_BYTES)

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What the daemon reports now."""
        host, port = self._address
        lines, lost = [], []
        try:
            connection = self._ldms.Xprt(self._transport, **self._options)
            connection.connect(host, port)
            for entry in connection.dir():
                if not self._is_wanted(entry):
                    continue
                try:
                    metrics = connection.lookup(entry.name)
                    metrics.update()
                    lines.append(metrics.json())
                except Exception as error:
                    lost.append(f"{self.name}: set {entry.name}: {error}")
            connection.close()
        # The module raises exceptions of its own, and of many kinds.
        except Exception as error:
            raise MetricError(f"{self.name}: {error}") from error
        if lost and not lines:
            raise MetricError(lost[0])
        found = _series(self, "\n".join(lines), self.name) if lines else []
        self.skipped = [*lost, *self.skipped]
        return found

    def _is_wanted(self, entry: Any) -> bool:
        schema = getattr(entry, "schema_name", None) or entry.name
        return not self._schemas or any(each.search(schema) for each in self._schemas)


def _series(source: MetricSource, text: str, name: str) -> list[Series]:
    """Series of the sets in a text; the source keeps what is not understood."""
    skipped: list[str] = []
    found = series_of(parse(text, name, skipped))
    source.skipped = skipped
    return found
