# SPDX-License-Identifier: Apache-2.0
"""Runs a launcher, writes lines to it, and waits for the answer to each."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from fairlead.act.launch._keeper import END_SOON
from fairlead.act.launch._signals import Signals, pass_signals
from fairlead.act.launch.process import Finished, LaunchTimeoutError, start

__all__ = ["Conversation"]

OnLine = Callable[[str], None]


class Conversation:
    """A program that reads lines and prints answers, until it ends or its input is closed."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None):
        """Start the program in a session of its own.

        Args:
            argv: Program and arguments.
            env: Its whole environment; None for this process's own.

        Raises:
            LaunchError: It cannot be started.
        """
        self._argv = argv
        pipe = subprocess.PIPE
        self._started = start(argv, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
        self._process = self._started.__enter__()
        assert self._process.stdout is not None and self._process.stderr is not None
        self._lines = _Lines(self._process.stdout, self._process.stderr)
        self.has_ended = False

    def ask(
        self,
        line: str | None,
        is_last_line: Callable[[str], bool],
        timeout_s: float,
        on_stderr_line: OnLine | None = None,
    ) -> Finished:
        """Write a line and wait for the answer, or until the program and all it started have ended.

        Signals that ask for the end are passed on to the program and acted on afterwards, as in
        `fairlead.act.launch.run`.

        Args:
            line: The line to write; None where the program answers without one.
            is_last_line: Gets each printed line; returns True for the last one of the answer.
            timeout_s: After this time the program is ended as by SIGTERM.
            on_stderr_line: Gets each line of the error output.

        Returns:
            What was printed since the last answer. `has_ended` is false while the program still
            runs; the exit code is 0 while it does.

        Raises:
            LaunchError: The program could not be started.
            LaunchTimeoutError: The timeout was reached; the program has ended.
        """
        began_s = time.monotonic()
        printed: list[str] = []
        errors: list[str] = []
        is_late = False
        with pass_signals() as signals:
            signals.attach(self._process.pid)
            if line is not None:
                self._write(line)
            while True:
                is_answered = False
                for is_error, text in self._lines.take():
                    (errors if is_error else printed).append(text)
                    is_answered = is_answered or (not is_error and is_last_line(text))
                    if is_error and on_stderr_line:
                        on_stderr_line(text.rstrip("\n"))
                left_s = None if is_late else began_s + timeout_s - time.monotonic()
                if is_answered or self._lines.are_over:
                    break
                if not signals.wait_for(self._lines, left_s):
                    is_late = True
                    self._process.send_signal(END_SOON)
            returncode = self._leave(signals) if self._lines.are_over else 0
        seconds = time.monotonic() - began_s
        finished = Finished(returncode, seconds, "".join(printed), "".join(errors))
        if is_late:
            raise LaunchTimeoutError(
                f"{Path(self._argv[0]).name} did not end within {timeout_s:.3g} s and was stopped",
                finished,
            )
        return finished

    def end(self, grace_s: float) -> None:
        """End the program by an empty line, and wait until all that it started has ended.

        Its input is closed, too; but Open MPI 5.0.11 does not pass the end of the input on.

        Args:
            grace_s: If it still runs after this time, it is ended as by SIGTERM.
        """
        if self.has_ended:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # A full pipe means that nobody reads it.
            os.set_blocking(self._process.stdin.fileno(), False)
            os.write(self._process.stdin.fileno(), b"\n")
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with pass_signals() as signals:
            signals.attach(self._process.pid)
            if not signals.wait_for(self._started, grace_s):
                self._process.send_signal(END_SOON)
            self._leave(signals)

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        stdin = self._process.stdin.fileno()

        def to_program() -> None:
            left = f"{line}\n".encode()
            with contextlib.suppress(OSError):  # That it has ended shows in its output.
                while left:
                    left = left[os.write(stdin, left) :]

        # In a thread, so that a launcher that does not read cannot block this process.
        threading.Thread(target=to_program, daemon=True).start()

    def _leave(self, signals: Signals) -> int:
        """The exit code of the program, after all that it started has ended."""
        signals.wait_for(self._started)
        self.has_ended = True
        try:
            return self._started.report()[0]
        finally:
            self._lines.close()
            self._started.__exit__(None, None, None)


class _Lines:
    """Lines of both outputs in the order in which they arrive; works with `select`."""

    def __init__(self, stdout: IO[bytes], stderr: IO[bytes]):
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._lines: deque[tuple[bool, str]] = deque()
        self._ended: list[IO[bytes]] = []
        self._threads = [
            threading.Thread(target=self._read, args=arguments, daemon=True)
            for arguments in ((stdout, False), (stderr, True))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def are_over(self) -> bool:
        """Whether both outputs are closed and all lines have been taken."""
        return len(self._ended) == len(self._threads) and not self._lines

    def fileno(self) -> int:
        """A file descriptor that is readable when there are lines, or an output has ended."""
        return self._reader

    def take(self) -> list[tuple[bool, str]]:
        """Lines since the last call, each with whether it came from the error output."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reader, 65536)
        return [self._lines.popleft() for _ in range(len(self._lines))]

    def close(self) -> None:
        """Close the file descriptors, after both outputs have ended."""
        for thread in self._threads:
            thread.join()
        os.close(self._reader)
        os.close(self._writer)

    def _read(self, stream: IO[bytes], is_error: bool) -> None:
        # Bytes that are not UTF-8 must not end the reading, or the program would block.
        for line in stream:
            self._lines.append((is_error, line.decode("utf-8", "replace")))
            self._wake()
        self._ended.append(stream)
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # Full: the reader will wake up anyway.
            os.write(self._writer, b".")
