# SPDX-License-Identifier: Apache-2.0
"""A real Slurm cluster on the hosts of a lab: munged, slurmctld on login, slurmd on each host.

            login: slurmctld, sbatch, srun
              |
   -----------+-----------      one munged for all of them,
   |      |       |      |      a folder that all of them share,
  h0     h1      h2     h3      a /tmp of its own on each host
slurmd slurmd  slurmd slurmd
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import pytest
from lab_daemon import run_daemon
from users_shell import UsersShell

from fairlead.lab import Lab
from fairlead.lab.addresses import LOGIN, login_address

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
_START_S = 30.0
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BEFORE_THE_END = {"PENDING", "CONFIGURING", "RUNNING", "SIGNALING", "COMPLETING"}

# A tmpfs is on /tmp for one host alone; the shared folder, which is below /tmp in tests, is bound
# back to its place.
_OWN_TMP = """
mkdir -p "$1" && mount -t tmpfs tmpfs "$1" && chmod 1777 "$1"
case $2 in /tmp/*) mkdir -p "$1/${2#/tmp/}" && mount --rbind "$2" "$1/${2#/tmp/}" ;; esac
mount --move "$1" /tmp
cd / && shift 2 && exec "$@"
"""


def missing_programs() -> list[str]:
    """Those of Slurm that are not installed."""
    path = f"{os.environ['PATH']}:/usr/sbin:/usr/bin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def require_slurm() -> None:
    """Skip the tests of a machine without Slurm or root; CI installs it, and fails without."""
    if missing := missing_programs():
        skip_or_fail(f"not installed: {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("slurmd needs root")


def skip_or_fail(reason: str) -> NoReturn:
    """For what packages-test.txt brings: its lack is an error where CI has installed it."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class SlurmCluster(UsersShell):
    """Slurm's commands on a cluster that is up."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        """Use `slurm_cluster`."""
        super().__init__(lab, LOGIN, folder, _users_environment(lab, folder))

    def submit(
        self, script: str, *options: str, cwd: Path, env: Mapping[str, str] | None = None
    ) -> str:
        """Submit a job script; returns the job's number. Its output goes to `cwd`/NUMBER.out."""
        (cwd / "job.sh").write_text(script)
        done = self.run(
            ["sbatch", "--parsable", "--output=%A.out", *options, "job.sh"], cwd=cwd, env=env
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def wait_for(self, job: str, limit_s: float = 90.0) -> str:
        """Wait for the end of a job, of all its tasks if it is an array; returns its state."""
        deadline_s = time.monotonic() + limit_s
        while time.monotonic() < deadline_s:
            shown = self.run(["scontrol", "--oneliner", "show", "job", job]).stdout
            states = [
                word.partition("=")[2] for word in shown.split() if word.startswith("JobState=")
            ]
            if states and not {*states} & _BEFORE_THE_END:
                return "/".join(sorted({*states}))
            time.sleep(0.1)
        raise AssertionError(f"job {job} has not ended: {shown}")


@contextlib.contextmanager
def slurm_cluster(
    lab: Lab, folder: Path, cpus: int, further_lines: str = ""
) -> Iterator[SlurmCluster]:
    """Start Slurm's daemons on the hosts of a lab; they have ended at the end of the block.

    Args:
        lab: The hosts.
        folder: An empty folder that only this user writes to.
        cpus: CPUs of each host, which may be more than this machine has.
        further_lines: Lines for slurm.conf.
    """
    (folder / "munge").mkdir()
    (folder / "state").mkdir()
    (folder / "log").mkdir()
    (folder / "slurm.conf").write_text(_configuration(lab, folder, cpus) + further_lines)
    cluster = SlurmCluster(lab, folder)
    with contextlib.ExitStack() as stack:
        for host, command in _daemons(lab, folder):
            name = next(word for word in command if word in PROGRAMS)
            output = folder / "log" / f"{name}-{host}.out"
            whole = ["env", "-i", _PATH, *command]
            stack.enter_context(run_daemon(lab, host, whole, output, "/"))
        _wait_until_idle(cluster)
        yield cluster


def _users_environment(lab: Lab, folder: Path) -> dict[str, str]:
    of_lab = {
        name: value
        for name, value in lab.env.items()
        if name.startswith(("UCX_", "FI_", "OMPI_ALLOW", "PRTE_ALLOW"))
        or name in {
            "OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_btl_tcp_if_include",
            "OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_hwloc_base_binding_policy",
            "PRTE_MCA_hwloc_default_binding_policy",
        }
    }  # fmt: skip
    return {
        **of_lab,
        # Without these two, processes of Open MPI 4 and 5 crash in MPI_Init now and then: by the
        # shared memory of Debian's PMIx 4.2.2, and as Slurm lets fences without data pass at once.
        "PMIX_MCA_gds": "hash",
        "SLURM_PMIX_FENCE_BARRIER": "true",
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(folder),
        "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8",
        "SLURM_CONF": str(folder / "slurm.conf"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state-of-user"),
        **{n: os.environ[n] for n in ("XDG_DATA_HOME", "FAIRLEAD_TEST_SESSION") if n in os.environ},
    }  # fmt: skip


def _configuration(lab: Lab, folder: Path, cpus: int) -> str:
    hosts = ",".join(lab.hosts)
    return f"""
ClusterName=lab
SlurmctldHost={LOGIN}({login_address()})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
TaskPluginParam=None
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
LaunchParameters=use_interactive_step
ReturnToService=2
KillWait=30
MpiDefault=none
SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,bf_interval=1
NodeName={hosts} CPUs={cpus} RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes={hosts} Default=YES MaxTime=10 State=UP
"""


def _daemons(lab: Lab, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each daemon in the foreground, with its host."""
    key = folder / "munge" / "key"
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o400)
    names = {
        "key-file": "key", "socket": "socket", "pid-file": "pid",
        "log-file": "log", "seed-file": "seed",
    }  # fmt: skip
    files = [f"--{option}={folder}/munge/{name}" for option, name in names.items()]
    yield LOGIN, ["munged", "--force", "--foreground", *files]
    yield LOGIN, ["slurmctld", "-D", "-f", f"{folder}/slurm.conf"]
    for host in lab.hosts:
        slurmd = ["slurmd", "-D", "-N", host, "-f", f"{folder}/slurm.conf"]
        own_tmp = ["sh", "-ec", _OWN_TMP, "sh", f"{folder}/tmp-{host}", str(folder)]
        yield host, ["unshare", "--mount", *own_tmp, *slurmd]


def _wait_until_idle(cluster: SlurmCluster) -> None:
    deadline_s = time.monotonic() + _START_S
    while time.monotonic() < deadline_s:
        shown = cluster.run(["sinfo", "--noheader", "--Node", "--format=%t"])
        states = shown.stdout.split()
        if states == ["idle"] * len(cluster.lab.hosts):
            return
        time.sleep(0.1)
    logs = "".join(file.read_text()[-2000:] for file in sorted((cluster.folder / "log").iterdir()))
    raise AssertionError(f"Slurm's hosts are not idle: {shown.stdout}{shown.stderr}\n{logs}")
