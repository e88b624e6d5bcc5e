# SPDX-License-Identifier: Apache-2.0
"""Runs one program, passes signals on to it, and ends what it leaves behind; a process of its own.

Started as `python -I -S _keeper.py REPORT_FD PARENT_PID WHOSE LC_CTYPE PROGRAM ARGS...` by
process.py, with the standard library only, because it has to start fast. It is the subreaper of
everything that the program starts: daemons that leave their session and their parent (orted,
hydra_pmi_proxy, remote agents) become its children. So it can find and end exactly these processes.

WHOSE is "user" or "own". A launcher with the user's program gets signals as if it had been started
by the shell, has as long as it needs to end, and what it leaves after a normal end goes on. Of our
own programs nothing is left, and none may take long to end.
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# A launcher that is hurried gets this long to end its ranks before everything is terminated, then
# everything gets this long before it is killed.
LAUNCHER_GRACE_S = 5.0
TERMINATE_GRACE_S = 2.0
# After a launcher's normal end its daemons need a moment to exit by themselves.
LINGER_S = 1.0
POLL_S = 0.02
# timeout(1) sends its signal to the process and at once to its group: this is one signal.
SAME_S = 0.5

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
"""What a user sends to end a job."""

IGNORED = (signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)
"""What does nothing to a program without a handler (signal(7)), or only lets it go on."""

OTHERS = (
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    *(signal.SIGXCPU, signal.SIGIO, signal.SIGPWR, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS),
)
"""What ends a program without a handler, and means something to those that have one."""

PASSED_ON = (*ENDING, *IGNORED, *OTHERS, signal.SIGTSTP)

END_SOON = signal.SIGRTMIN
"""From process.py alone: end the program as by SIGTERM, and kill it if it takes long."""


def main() -> None:
    report_fd, parent, is_users = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "user"
    argv = sys.argv[5:]
    # In the C locale Python sets LC_CTYPE (PEP 538) before our code runs; the program must get the
    # original value.
    os.environ.pop("LC_CTYPE", None)
    if sys.argv[4]:
        os.environ["LC_CTYPE"] = sys.argv[4]
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    waited = {*PASSED_ON, END_SOON, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115
        report(report_fd, "! /proc shows another PID namespace; mount it anew\n")
        os._exit(1)
    started = time.monotonic()
    launcher = spawn(argv, waited, prctl, report_fd)
    status = Watch(launcher, parent, is_users).wait_for_end(waited)
    ended = f"{os.waitstatus_to_exitcode(status)} {time.monotonic() - started:.6f}\n"
    if is_users and status == 0:
        gone_within(LINGER_S)
    else:
        end_all(LINGER_S if status == 0 else POLL_S)
    report(report_fd, ended)
    os._exit(0)


def report(report_fd: int, line: str) -> None:
    try:  # noqa: SIM105 (contextlib takes as long to import as the rest)
        os.write(report_fd, line.encode())
    except OSError:  # Whoever started the program has ended.
        pass


def spawn(argv: list[str], blocked: set[signal.Signals], prctl, report_fd: int) -> int:  # type: ignore[no-untyped-def]
    child = os.fork()
    if child:
        return child
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        # Python ignores these signals; the program must get the defaults.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        # Below nohup or a shell's `&` some are ignored, and stay so.
        for number in PASSED_ON:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        os.set_inheritable(report_fd, False)
        os.execvp(argv[0], argv)
    except OSError as error:
        report(report_fd, f"! {error.strerror}\n")
    finally:
        os._exit(127)


class Watch:
    """Passes signals on to the launcher until it ends."""

    def __init__(self, launcher: int, parent: int, is_users: bool) -> None:
        self.launcher = launcher
        self.parent = parent
        self.is_users = is_users
        self.first_s: float | None = None  # When it was first asked to end.
        self.deadline_s: float | None = None
        self.is_stop_asked = False

    def wait_for_end(self, waited: set[signal.Signals]) -> int:
        """Status of the launcher; it is killed when its time is over."""
        while True:
            left_s = None
            if self.deadline_s is not None:
                left_s = max(0.0, self.deadline_s - time.monotonic())
            number = wait_signal(waited, left_s)
            if number is None:
                send(signal.SIGKILL, [self.launcher])
                self.deadline_s = None
            elif number != signal.SIGCHLD:
                self.take(number)
            status = reap(self.stop).get(self.launcher)
            if status is not None:
                return status

    def take(self, number: int) -> None:
        """Do what one signal asks for."""
        if number == END_SOON:
            self.hurry(signal.SIGTERM)
        elif number not in ENDING:
            self.pass_on(number)
        elif os.getppid() != self.parent or not self.is_users:
            self.hurry(number)
        elif self.first_s is None:
            self.first_s = time.monotonic()
            self.pass_on(number)
        elif time.monotonic() - self.first_s > SAME_S:
            self.hurry(number)

    def hurry(self, number: int) -> None:
        """End the launcher soon; at once where it was hurried before."""
        if self.deadline_s is not None:
            send(signal.SIGKILL, [self.launcher])
            return
        self.deadline_s = time.monotonic() + LAUNCHER_GRACE_S
        send(number, [self.launcher])

    def pass_on(self, number: int) -> None:
        self.is_stop_asked = number == signal.SIGTSTP
        # The kernel stops nobody by SIGTSTP in a session without a terminal (POSIX: an orphaned
        # process group).
        if number == signal.SIGTSTP and has_default(self.launcher, number):
            number = signal.SIGSTOP
        try:  # noqa: SIM105 (as above)
            os.kill(self.launcher, number)
        except (ProcessLookupError, PermissionError):
            pass

    def stop(self, pid: int) -> None:
        """Stop the process that started us with its launcher, so that its shell goes on."""
        if pid == self.launcher and self.is_stop_asked and os.getppid() == self.parent:
            os.kill(self.parent, signal.SIGSTOP)


def has_default(pid: int, number: int) -> bool:
    """Whether a process neither handles nor ignores a signal (proc_pid_status(5))."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as stream:  # noqa: PTH123
            fields = dict(line.split(":", 1) for line in stream if ":" in line)
        return not any(int(fields[name], 16) >> (number - 1) & 1 for name in ("SigCgt", "SigIgn"))
    except (OSError, KeyError, ValueError):
        return False


def wait_signal(waited: set[signal.Signals], timeout_s: float | None) -> int | None:
    if timeout_s is None:
        return signal.sigwait(waited)
    found = signal.sigtimedwait(waited, timeout_s)
    return None if found is None else found.si_signo


def reap(stopped=None) -> dict[int, int]:  # type: ignore[no-untyped-def]
    """Status of each child that has ended; `stopped` gets those that were stopped."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if not os.WIFSTOPPED(status):
            ended[pid] = status
        elif stopped is not None:
            stopped(pid)


def end_all(linger_s: float) -> None:
    """Wait, terminate, kill, until no descendant is left."""
    if gone_within(linger_s):
        return
    send(signal.SIGTERM, descendants())
    if gone_within(TERMINATE_GRACE_S):
        return
    while not gone_within(POLL_S):
        send(signal.SIGKILL, descendants())


def gone_within(seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        reap()
        if not descendants():
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)


def send(number: int, processes: list[int]) -> None:
    for pid in processes:
        try:
            os.kill(pid, number)
            # A stopped process does not see a signal other than KILL.
            os.kill(pid, signal.SIGCONT)
        except (ProcessLookupError, PermissionError):
            pass


def descendants() -> list[int]:
    """Processes below this one, nearest first, including zombies."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib takes as long to import as the rest)
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123
                # The name, in brackets, may itself contain blanks and brackets.
                parent = int(stream.read().rsplit(b")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


if __name__ == "__main__":
    main()
