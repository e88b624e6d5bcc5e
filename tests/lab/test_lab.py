# SPDX-License-Identifier: Apache-2.0
"""A lab that is up: rates, names, MPI programs, degradation."""

from __future__ import annotations

import socket
import subprocess
import time

import numpy as np
import pytest

from fairlead.errors import InputError, LabError
from fairlead.lab import Lab, Scenario, control

pytestmark = [pytest.mark.lab]


@pytest.fixture(scope="module")
def lab():
    with Lab.up("two-racks") as lab:
        yield lab


def output(lab, *argv, host="login"):
    return lab.run(argv, host, capture_output=True, text=True, check=True).stdout


def sent_bytes(lab, host):
    """Bytes that left through the host's eth0."""
    fields = output(lab, "sed", "-n", "s/.*eth0: *//p", "/proc/net/dev", host=host).split()
    return int(fields[8])


def test_host_file_lists_the_hosts_with_slots(lab):
    assert lab.hostfile.read_text().splitlines() == [f"{host} slots=4" for host in lab.hosts]
    assert lab.hosts == tuple(f"h{index}" for index in range(8))


def test_command_runs_on_its_host_in_the_callers_folder(lab, tmp_path):
    out = lab.run(["sh", "-c", "hostname; pwd"], "h3", cwd=tmp_path, capture_output=True, text=True)

    assert out.stdout.splitlines() == ["h3", str(tmp_path)]


@pytest.mark.parametrize(
    "request_",
    [
        *({"do": what, "pairs": pairs} for what in ("measure", "ping") for pairs in (
            [[0, 8]], [[-1, 0]], [[0, 0]], [[0]], [[0, 1.5]], [["h0", "h1"]], [7], 7, None,
        )),
        {"do": "measure"},
        {"do": "degrade", "src": "h0", "dst": ["h1"], "ratio": 1},
        {"do": ["degrade"], "src": 1},
        {},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_request_is_refused_and_the_lab_lives_on(lab, request_):
    full = {"warm_up_s": 0.01, "seconds": 0.01, "repeats": 1} | request_
    with pytest.raises(InputError):
        control.ask(lab.hostfile.parent, **full)
    assert control.ask(lab.hostfile.parent, do="delay_by")


@pytest.mark.parametrize("line", [b"7\n", b"[" * 100_000 + b"\n", b"{\n", b"\xff\n"])
def test_what_is_no_request_gets_no_answer_and_the_lab_lives_on(lab, line):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(lab.hostfile.parent / "control"))
        connection.sendall(line)
        assert connection.recv(10) == b""
    assert control.ask(lab.hostfile.parent, do="delay_by")


def test_exit_code_and_lab_variables_reach_the_command(lab):
    finished = lab.run(
        ["sh", "-c", 'echo "$FAIRLEAD_LAB $FAIRLEAD_LAB_HOSTFILE"; exit 7'],
        capture_output=True,
        text=True,
    )

    assert finished.returncode == 7
    assert finished.stdout.split() == [lab.name, str(lab.hostfile)]


def test_hosts_know_one_another_by_name_and_share_no_memory(lab):
    output(lab, "touch", "/dev/shm/fairlead-test", host="h0")

    assert "fairlead-test" not in output(lab, "ls", "/dev/shm", host="h1")
    assert output(lab, "getent", "hosts", "h1", host="h0").split() == ["10.77.0.2", "h1"]


@pytest.mark.parametrize("host", ["login", "h0"])
def test_tcp_does_not_estimate_the_rate_by_itself(lab, host):
    """Whatever the kernel's default is: BBR in a cloud of the lab would reach a rate late."""
    used = output(lab, "cat", "/proc/sys/net/ipv4/tcp_congestion_control", host=host)
    assert used.strip() in {"cubic", "reno"}


def test_unknown_host_is_refused(lab):
    with pytest.raises(LabError, match=r"unknown host 'h8'; there are h0, .*h7 and login"):
        lab.command(["true"], host="h8")


def test_agent_runs_a_command_line_as_ssh_does(lab):
    agent = lab.env["OMPI_MCA_plm_rsh_agent"]
    secret = ["env", "SECRET=1", agent, "user@h5", "hostname;", "echo", "'a  b'", "$SECRET"]

    assert output(lab, *secret).splitlines() == ["h5", "a  b"]


def test_transfers_come_within_five_percent_of_the_shaped_rates(tmp_path):
    # Rates that a busy machine carries, too: shaping is to be measured, not the machine.
    path = tmp_path / "slow.toml"
    path.write_text("""
        hosts = 4
        nic = "200Mbit/s"
        pairs = {median = "40Mbit/s", sigma = 0.7, seed = 1}
        racks = {count = 2, uplink = "50Mbit/s"}
    """)
    with Lab.up(path) as lab:
        lab.degrade("h2", "h0", 0.5)
        measured_Bps, wrong = lab.check()
        shaped_Bps = lab.shaped_Bps()

    off = ~np.eye(4, dtype=bool)
    assert np.median(measured_Bps[off] / shaped_Bps[off]) == pytest.approx(1, abs=0.05)
    # Nothing is faster than shaped, however busy the machine.
    assert not [pair for pair in wrong if pair.measured_Bps > pair.shaped_Bps]


@pytest.mark.mpi
@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
def test_mpirun_starts_ranks_on_the_hidden_hosts(lab, tmp_path, mpirun):
    hostfile = tmp_path / "hosts"
    if mpirun == "mpirun.openmpi":
        argv = [mpirun, "--hostfile", str(lab.hostfile)]
    else:
        hostfile.write_text("".join(f"{host}:4\n" for host in lab.hosts))
        argv = [mpirun, "-f", str(hostfile)]

    names = output(lab, *argv, "-n", "32", "hostname").split()

    assert sorted(names) == sorted(lab.hosts * 4)


@pytest.fixture(scope="module")
def sender(tmp_path_factory):
    """An MPI program in which rank 0 sends 20 MB to rank 1."""
    folder = tmp_path_factory.mktemp("sender")
    (folder / "sender.cpp").write_text("""
        #include <mpi.h>
        #include <vector>
        int main(int argc, char** argv) {
            MPI_Init(&argc, &argv);
            int rank = 0;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            std::vector<char> data(20'000'000);
            const int count = static_cast<int>(data.size());
            if (rank == 0) MPI_Send(data.data(), count, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            if (rank == 1)
                MPI_Recv(data.data(), count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Finalize();
        }
    """)
    subprocess.run(["mpicxx.openmpi", "sender.cpp", "-o", "sender"], cwd=folder, check=True)
    return folder / "sender"


@pytest.mark.mpi
@pytest.mark.parametrize("receiver", ["h3", "h2"])
def test_ranks_talk_over_eth0_between_hosts_and_over_memory_within(lab, sender, tmp_path, receiver):
    (tmp_path / "hosts").write_text(f"h2\n{receiver}\n")
    before = sent_bytes(lab, "h2")

    mpirun = ["mpirun.openmpi", "--hostfile", str(tmp_path / "hosts"), "--map-by", "seq"]
    output(lab, *mpirun, "-n", "2", str(sender))

    sent = sent_bytes(lab, "h2") - before
    assert sent > 20_000_000 if receiver == "h3" else sent < 1_000_000


def test_degrade_multiplies_one_directed_pair():
    with Lab.up("flat", hosts=3) as lab:
        before = lab.shaped_Bps()

        lab.degrade("h0", "h1", 0.1)
        lab.degrade("h0", "h1", 0.5)

        expected = before.copy()
        expected[0, 1] *= 0.05
        assert np.array_equal(lab.shaped_Bps(), expected)


@pytest.mark.parametrize(
    ("src", "dst", "ratio", "problem"),
    [
        ("h0", "h9", 0.5, "unknown host 'h9'; there are h0"),
        ("h0", "h0", 0.5, "src and dst are both 'h0'"),
        ("h0", "h1", -1, "ratio must be >= 0 and finite, got -1"),
    ],
)
def test_impossible_degradation_is_refused_and_the_lab_lives_on(lab, src, dst, ratio, problem):
    before = lab.shaped_Bps()

    with pytest.raises(InputError, match=problem):
        lab.degrade(src, dst, ratio)

    assert np.array_equal(lab.shaped_Bps(), before)


def test_agent_names_a_host_that_does_not_answer():
    with Lab.up("flat", hosts=3) as lab:
        agent = [lab.env["HYDRA_LAUNCHER_EXEC"], "-o", "ConnectTimeout=1"]
        lab.cut_host("h1")

        cut = lab.run([*agent, "h1", "true"], capture_output=True, text=True)
        alive = lab.run([*agent, "h2", "true"])
        unknown = lab.run([*agent, "h7", "true"], capture_output=True, text=True)

        assert cut.returncode == 255
        assert cut.stderr == "ssh: connect to host h1 port 22: Connection timed out\n"
        assert alive.returncode == 0
        assert unknown.returncode == 255
        assert "Could not resolve hostname h7" in unknown.stderr
        assert lab.shaped_Bps()[1, 2] == 0
        assert lab.shaped_Bps()[2, 0] == 125e6


def test_planned_changes_are_made_while_the_lab_runs(tmp_path):
    path = tmp_path / "changing.toml"
    path.write_text("""
        hosts = 2
        nic = "1Gbit/s"
        pairs = {median = "100Mbit/s", sigma = 0.5, seed = 1}
        changes = [
            {at_s = 0.2, src = "h0", dst = "h1", ratio = 0.5},
            {at_s = 0.1, seed = 2},
        ]
    """)
    scenario = Scenario.load(path)
    redrawn = {"pairs": scenario.pairs.model_copy(update={"seed": 2}), "changes": []}
    with Lab.up(scenario.model_copy(update=redrawn)) as lab:
        expected = lab.shaped_Bps()
    expected[0, 1] *= 0.5

    with Lab.up(scenario) as lab:
        end_s = time.monotonic() + 10
        while not np.array_equal(lab.shaped_Bps(), expected):
            assert time.monotonic() < end_s
            time.sleep(0.05)


def test_background_traffic_flows_at_its_rate(tmp_path):
    path = tmp_path / "busy.toml"
    path.write_text("""
        hosts = 2
        nic = "1Gbit/s"
        background = [{src = "h1", dst = "h0", rate = "40Mbit/s"}]
    """)
    with Lab.up(path) as lab:
        start_s = time.monotonic()
        sent = sent_bytes(lab, "h1")
        while sent_bytes(lab, "h1") - sent < 2_000_000:
            assert time.monotonic() - start_s < 20
        rate_Bps = (sent_bytes(lab, "h1") - sent) / (time.monotonic() - start_s)

        # Pacing bounds it from above; from below only a machine that is too busy does.
        assert 0 < rate_Bps < 1.2 * 5e6


def test_thirty_two_hosts_come_up():
    with Lab.up("pairwise", hosts=32) as lab:
        shaped_Bps = lab.shaped_Bps()

        assert shaped_Bps.shape == (32, 32)
        assert output(lab, "hostname", host="h31") == "h31\n"
        assert shaped_Bps[~np.eye(32, dtype=bool)].min() > 0
        assert shaped_Bps[~np.eye(32, dtype=bool)].max() <= 125e6
