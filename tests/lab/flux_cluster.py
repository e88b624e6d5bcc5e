# SPDX-License-Identifier: Apache-2.0
"""A real Flux instance on the hosts of a lab: a broker on each host, and its commands on the first.

  |      |       |      |
 h0     h1      h2     h3
broker broker  broker broker
user
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lab_daemon import run_daemon
from users_shell import UsersShell

from fairlead.lab import Lab
from fairlead.lab.addresses import address_of_host

_PORT = 8050
_START_S = 30.0


class FluxInstance(UsersShell):
    """Commands inside an instance that is up."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        """Use `flux_instance`."""
        super().__init__(lab, lab.hosts[0], folder, _users_environment(lab, folder))


@contextlib.contextmanager
def flux_instance(lab: Lab, folder: Path, cores: int) -> Iterator[FluxInstance]:
    """Start the brokers on the hosts of a lab; they have ended at the end of the block.

    Args:
        lab: The hosts.
        folder: An empty folder that only this user writes to.
        cores: Cores of each host, which may be more than this machine has.
    """
    _write_configuration(lab, folder, cores)
    instance = FluxInstance(lab, folder)
    with contextlib.ExitStack() as stack:
        for host in lab.hosts:
            stack.enter_context(_broker(lab, host, folder))
        _wait_until_up(instance)
        yield instance


def _users_environment(lab: Lab, folder: Path) -> dict[str, str]:
    flux = shutil.which("flux")
    assert flux is not None
    of_lab = {
        name: value
        for name, value in lab.env.items()
        if name.startswith(("UCX_", "FI_")) or name in {"OMPI_MCA_pml", "OMPI_MCA_btl"}
    }
    return {
        **of_lab,
        "PATH": f"{Path(flux).parent}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder), "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash",
        "LC_ALL": "C.UTF-8",
        "FLUX_URI": f"local://{folder}/run-{lab.hosts[0]}/local-0",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state-of-user"),
        **{n: os.environ[n] for n in ("XDG_DATA_HOME", "FAIRLEAD_TEST_SESSION") if n in os.environ},
    }  # fmt: skip


def _write_configuration(lab: Lab, folder: Path, cores: int) -> None:
    subprocess.run(["flux", "keygen", folder / "cert"], check=True)
    ranks = f"0-{len(lab.hosts) - 1}"
    resources = {
        "version": 1,
        "execution": {
            "R_lite": [{"rank": ranks, "children": {"core": f"0-{cores - 1}"}}],
            "nodelist": [",".join(lab.hosts)],
        },
    }
    (folder / "R").write_text(json.dumps(resources))
    brokers = ",\n".join(
        f'{{host = "{host}", bind = "tcp://{at}:{_PORT}", connect = "tcp://{at}:{_PORT}"}}'
        for host, at in ((host, address_of_host(n)) for n, host in enumerate(lab.hosts))
    )
    (folder / "flux.toml").write_text(
        f'[bootstrap]\ncurve_cert = "{folder}/cert"\nhosts = [\n{brokers}\n]\n\n'
        f'[resource]\npath = "{folder}/R"\nnoverify = true\n'
    )


@contextlib.contextmanager
def _broker(lab: Lab, host: str, folder: Path) -> Iterator[None]:
    rundir, state = folder / f"run-{host}", folder / f"state-{host}"
    rundir.mkdir()
    state.mkdir()
    flux = Path(shutil.which("flux") or "flux")
    command = [
        "env", "-i", f"PATH={flux.parent}:/usr/bin:/bin", f"HOME={folder}", "LC_ALL=C.UTF-8",
        str(flux), "broker", f"--config-path={folder}/flux.toml", f"-Srundir={rundir}",
        f"-Sstatedir={state}", "sleep", "inf",
    ]  # fmt: skip
    with run_daemon(lab, host, command, folder / f"broker-{host}.out", folder):
        yield


def _wait_until_up(instance: FluxInstance) -> None:
    deadline_s = time.monotonic() + _START_S
    wanted = f"{len(instance.lab.hosts)}\n"
    while time.monotonic() < deadline_s:
        shown = instance.run(["flux", "resource", "list", "-s", "free", "-no", "{nnodes}"])
        if shown.stdout == wanted:
            return
        time.sleep(0.1)
    logs = "".join(file.read_text()[-2000:] for file in sorted(instance.folder.glob("*.out")))
    raise AssertionError(f"Flux's hosts are not up: {shown.stdout}{shown.stderr}\n{logs}")
