# SPDX-License-Identifier: Apache-2.0
"""One router: started on its host, informed of jobs, ended."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from fairlead.errors import LaunchError

__all__ = ["RouterEndedError", "RouterProcess"]


_FORCE_S = 10.0
_SLICE_S = 0.1


class RouterEndedError(LaunchError):
    """A router that has ended answers nothing more."""


class RouterProcess:
    """A router, or the remote agent that runs it. It ends with its standard input.

    It answers each line with one line. What it answers too late is not taken for the answer to a
    later line. Unlike a `Conversation`, any thread may speak with it, with several at once, and no
    signal is passed on to it.
    """

    def __init__(
        self,
        command: Sequence[str],
        by_force: Sequence[str] | None = None,
        *,
        is_again: bool = False,
    ) -> None:
        """Start it; its first line, which holds where it listens, is the answer to that.

        Args:
            command: The router, or the remote agent with it.
            by_force: The command that ends the router itself where it does not end, because it was
                stopped: that of an agent would be left on its host.
            is_again: It takes the place of one that was killed, whose folder is still there.

        Raises:
            LaunchError: There is no such command.
        """
        try:
            # Signals of the terminal are for the program; routers outlive it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                # What a shell's start on the host prints before may be in any encoding.
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise LaunchError(f"{command[0]}: cannot be started: {error.strerror}") from error
        self._by_force = by_force
        self._lines: queue.Queue[str] = queue.Queue()
        self._num_unanswered = 1
        self._has_answered = False
        self._is_again = is_again
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return self._process.poll() is not None

    def send(self, facts: Mapping[str, object]) -> None:
        """Write a line, which `answer` then answers."""
        self._num_unanswered += 1
        # If the router has ended, the missing answer shows it.
        with contextlib.suppress(OSError, ValueError):
            stream = _pipe(self._process.stdin)
            stream.write(json.dumps(facts) + "\n")
            stream.flush()

    def answer(self, limit_s: float) -> dict[str, object]:
        """The answer to the latest line.

        Raises:
            RouterEndedError: It has ended.
            LaunchError: It did not answer in time, or said something else.
        """
        deadline_s = time.monotonic() + limit_s
        line = ""
        while self._num_unanswered > 0:
            try:
                line = self._lines.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except queue.Empty:
                raise LaunchError(f"no answer within {limit_s:.3g} s") from None
            if not line:
                self._lines.put("")
                raise RouterEndedError("it has ended")
            self._num_unanswered -= 1
            self._has_answered = True
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise LaunchError(line.strip())
        return found

    def wait_for_answer(self, limit_s: float, is_over: threading.Event) -> None:
        """Until there is an answer for `answer`, or none will come.

        Raises:
            LaunchError: The wait was over before.
        """
        deadline_s = time.monotonic() + limit_s
        while self._lines.empty() and time.monotonic() < deadline_s:
            if is_over.wait(_SLICE_S):
                self.close_input()
                raise LaunchError("the job has ended")

    def close_input(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()

    def end(self, limit_s: float) -> None:
        """End it, by force after a time. What it left where it was killed is removed."""
        self.close_input()
        try:
            code = self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._end_by_force()
            self._process.kill()
            self._process.wait()
        else:
            has_removed_all = code == 0 and self._has_answered
            if not has_removed_all and (self._has_answered or self._is_again):
                self._end_by_force()

    def _end_by_force(self) -> None:
        if self._by_force is None:
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                self._by_force,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False, timeout=_FORCE_S, start_new_session=True,
            )  # fmt: skip

    def _read(self) -> None:
        with _pipe(self._process.stdout) as stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put("")


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
