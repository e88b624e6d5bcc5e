# SPDX-License-Identifier: Apache-2.0
"""Runs one program and ends all processes that it leaves behind; a process of its own.

Started as `python -I -S _keeper.py REPORT_FD PARENT_PID LC_CTYPE PROGRAM ARGS...` by process.py,
with the standard library only, because it has to start fast. It is the subreaper of everything that
the program starts: daemons that leave their session and their parent (orted, hydra_pmi_proxy,
remote agents) become its children. So it can find and end exactly these processes.
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# The launcher gets this long to end its ranks after a signal before everything is terminated,
# then everything gets this long before it is killed.
LAUNCHER_GRACE_S = 5.0
TERMINATE_GRACE_S = 2.0
# After a launcher's normal end its daemons need a moment to exit by themselves.
LINGER_S = 1.0
POLL_S = 0.02

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    report_fd, parent = int(sys.argv[1]), int(sys.argv[2])
    argv = sys.argv[4:]
    # In the C locale Python sets LC_CTYPE (PEP 538) before our code runs; the program must get the
    # original value.
    os.environ.pop("LC_CTYPE", None)
    if sys.argv[3]:
        os.environ["LC_CTYPE"] = sys.argv[3]
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    waited = {*FORWARDED, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115
        os.write(report_fd, b"! /proc shows another PID namespace; mount it anew\n")
        os._exit(1)
    started = time.monotonic()
    launcher = spawn(argv, waited, prctl, report_fd)
    status = wait_for(launcher, waited)
    report = f"{os.waitstatus_to_exitcode(status)} {time.monotonic() - started:.6f}\n"
    end_all(LINGER_S if status == 0 else POLL_S)
    os.write(report_fd, report.encode())
    os._exit(0)


def spawn(argv: list[str], blocked: set[signal.Signals], prctl, report_fd: int) -> int:  # type: ignore[no-untyped-def]
    child = os.fork()
    if child:
        return child
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        # Python ignores these signals; the program must get the defaults.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for number in FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        os.set_inheritable(report_fd, False)
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(report_fd, f"! {error.strerror}\n".encode())
    finally:
        os._exit(127)


def wait_for(launcher: int, waited: set[signal.Signals]) -> int:
    """Pass signals on to the launcher until it ends; kill it at the second one, or when late."""
    deadline = None
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        number = wait_signal(waited, left)
        if number in FORWARDED:
            if deadline is not None:
                send(signal.SIGKILL, [launcher])
            else:
                deadline = time.monotonic() + LAUNCHER_GRACE_S
                send(number, [launcher])
        elif number is None:
            send(signal.SIGKILL, [launcher])
        status = reap().get(launcher)
        if status is not None:
            return status


def wait_signal(waited: set[signal.Signals], timeout_s: float | None) -> int | None:
    if timeout_s is None:
        return signal.sigwait(waited)
    found = signal.sigtimedwait(waited, timeout_s)
    return None if found is None else found.si_signo


def reap() -> dict[int, int]:
    """Status of each child that has ended."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


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
