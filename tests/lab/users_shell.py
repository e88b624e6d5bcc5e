# SPDX-License-Identifier: Apache-2.0
"""Commands of a user of a lab's scheduler, with the environment of a login."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.lab import Lab


class UsersShell:
    """A host on which a user's commands run.

    Attributes:
        lab: The hosts.
        host: That host.
        folder: A folder that all hosts share.
        env: The whole environment: the lab's own variables would hide the scheduler from the MPIs.
    """

    def __init__(self, lab: Lab, host: str, folder: Path, env: Mapping[str, str]) -> None:
        self.lab, self.host, self.folder, self.env = lab, host, folder, env

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """A command, to its end."""
        return subprocess.run(
            self._in_environment(command, env), capture_output=True, text=True,
            cwd=cwd or self.folder, check=False,
        )  # fmt: skip

    def start(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """A command in the background."""
        return subprocess.Popen(
            self._in_environment(command, env), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=cwd or self.folder,
        )  # fmt: skip

    def _in_environment(
        self, command: Sequence[str], env: Mapping[str, str] | None
    ) -> Sequence[str]:
        variables = [f"{name}={value}" for name, value in {**self.env, **(env or {})}.items()]
        return self.lab.command(["env", "-i", *variables, *command], self.host)
