# SPDX-License-Identifier: Apache-2.0
"""A lab without root: the same tests' main points as a user without any privilege."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.lab]

NOBODY = 65534
# As udev makes it, in a mount namespace of its own: not every machine has udev.
WITH_TUN_FOR_ALL = """
mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec "$@"
"""
# Where the tree is in a folder that others cannot enter, such as /root: one that they can takes its
# place, with the tree alone.
WITH_OPEN_TREE = """
mount --bind "$TREE" /mnt && mount -t tmpfs -o mode=755 none "$CLOSED" && mkdir -p "$TREE" &&
mount --bind /mnt "$TREE" && exec "$@"
"""
TREE = Path(__file__).resolve().parents[2]
UNPRIVILEGED = [
    *("unshare", "--mount", "sh", "-c", WITH_TUN_FOR_ALL, "sh"),
    *("sh", "-c", '[ -z "$CLOSED" ] && exec "$@"' + WITH_OPEN_TREE, "sh"),
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
]

PROGRAM = """
import json, os
from fairlead.lab import Lab, Scenario
fields = {"name": "late", "hosts": 2, "nic": "1Gbit/s", "latency": {"nic": "50ms"}}
with Lab.up(Scenario.model_validate(fields)) as lab:
    latency_s = min(lab.ping([(0, 1)], 20)[0])
with Lab.up("two-racks", hosts=4) as lab:
    agent = lab.env["OMPI_MCA_plm_rsh_agent"]
    lab.degrade("h0", "h1", 0.5)
    made = lab.run(["sh", "-c", "touch made; hostname"], "h2", capture_output=True, text=True)
    over = lab.run([agent, "h3", "hostname"], capture_output=True, text=True)
    mpirun = ["mpirun.openmpi", "--hostfile", str(lab.hostfile), "-n", "16", "hostname"]
    ranks = lab.run(mpirun, capture_output=True, text=True)
    lab.cut_host("h1")
    cut = lab.run([agent, "-o", "ConnectTimeout=1", "h1", "true"], capture_output=True)
    print(json.dumps({
        "uid": os.getuid(), "made": made.stdout, "over": over.stdout, "cut": cut.returncode,
        "ranks": sorted(ranks.stdout.split()), "shaped_Bps": lab.shaped_Bps()[0, 2],
        "latency_s": latency_s,
    }))
"""


@pytest.fixture
def command(tmp_path_factory):
    """A Python without privileges that finds this one's packages, and its working folder."""
    if os.getuid() != 0:
        return [sys.executable], tmp_path_factory.mktemp("home")
    base = Path("/tmp") / f"fairlead-test-{os.getpid()}"
    interpreter = Path(sys.executable).resolve()
    if any(not parent.stat().st_mode & 1 for parent in interpreter.parents):
        interpreter = Path("/usr/bin/python3")
    subprocess.run([interpreter, "-m", "venv", "--without-pip", base], check=True)
    (packages,) = base.glob("lib/python*/site-packages")
    lines = [f"import site; site.addsitedir({folder!r})" for folder in site.getsitepackages()]
    (packages / "fairlead.pth").write_text("\n".join(lines))
    home = base / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    yield [*UNPRIVILEGED, str(base / "bin/python")], home
    subprocess.run(["rm", "-r", base], check=True)


def test_lab_works_without_root(command):
    argv, home = command
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(home)}
    closed = [str(parent) for parent in TREE.parents if not parent.stat().st_mode & 1]
    env |= {"TREE": str(TREE), "CLOSED": closed[-1] if closed else ""}

    finished = subprocess.run(
        [*argv, "-c", PROGRAM], check=False, env=env, cwd=home, capture_output=True, text=True
    )

    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result["uid"] != 0
    assert result["made"] == "h2\n"
    assert (home / "made").stat().st_uid == result["uid"]
    assert result["over"] == "h3\n"
    assert result["ranks"] == sorted(["h0", "h1", "h2", "h3"] * 4)
    assert result["cut"] == 255
    assert 100e-3 <= result["latency_s"] < 145e-3  # Both interfaces, once each.
    assert result["shaped_Bps"] in (25e6, 125e6)
