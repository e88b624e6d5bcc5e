# SPDX-License-Identifier: Apache-2.0
"""Open MPI's default hostfile is found where mpirun finds it, and in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.launch import Launcher, default_hosts
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster

VARIABLES = {4: "OMPI_MCA_orte_default_hostfile", 5: "PRTE_MCA_prte_default_hostfile"}
PARAMETERS = {4: "orte_default_hostfile", 5: "prte_default_hostfile"}
RUNTIMES = {4: "openmpi", 5: "prte"}


class Site:
    """An installation of Open MPI, a user, and files that name one host each."""

    def __init__(self, folder: Path, major: int) -> None:
        self.folder, self.major = folder, major
        self.env = {"HOME": str(folder / "home")}
        kind = OpenMpi4 if major == 4 else OpenMpi5
        self.launcher: Launcher = kind(folder / "usr" / "bin" / "mpirun", (major, 0, 0))

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def hosts(self, *arguments: str) -> tuple[str, ...] | None:
        found = self.find(*arguments)
        return None if found is None else found.hosts

    def find(self, *arguments: str) -> Cluster | None:
        return default_hosts(self.launcher, arguments, self.env)

    def parameters(self, name: str, value: object) -> None:
        self.file(name, f"# site\n{PARAMETERS[self.major]} = {value}\n")


@pytest.fixture(params=[4, 5])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    made = Site(tmp_path, request.param)
    made.file(f"usr/etc/{RUNTIMES[made.major]}-default-hostfile", "# no host\n\n")
    return made


def test_the_file_of_an_installation_names_no_host_at_first(site: Site) -> None:
    assert site.hosts() is None


def test_each_place_counts_before_those_that_are_further_from_the_command(site: Site) -> None:
    runtime, option = RUNTIMES[site.major], PARAMETERS[site.major]
    files = {name: site.file(name, f"{name} slots=2\n") for name in ("site", "user", "env", "own")}

    installed = site.file(f"usr/etc/{runtime}-default-hostfile", "installed slots=3\n")
    assert site.hosts() == ("installed",)
    site.parameters(f"usr/etc/{runtime}-mca-params.conf", files["site"])
    assert site.hosts() == ("site",)
    site.parameters(f"home/.{runtime}/mca-params.conf", files["user"])
    assert site.hosts() == ("user",)
    site.env[VARIABLES[site.major]] = str(files["env"])
    assert site.hosts() == ("env",)
    assert site.hosts("--tune", str(site.file("tune", f"-mca {option} {files['own']}"))) == ("own",)
    assert site.hosts("-x", "A=1", "--mca", option, str(files["own"])) == ("own",)
    # The launcher gets the user's own file.
    cluster = site.find("--mca", option, str(installed))
    assert cluster is not None and cluster.given is not None
    assert (cluster.slots, cluster.given.hostfile) == ((3,), installed)


def test_none_is_no_file_not_even_the_installations(site: Site) -> None:
    site.file(f"usr/etc/{RUNTIMES[site.major]}-default-hostfile", "installed\n")
    site.env[VARIABLES[site.major]] = "none"
    assert site.hosts() is None


def test_parameters_of_the_other_version_are_not_read(site: Site) -> None:
    other = 9 - site.major
    file = site.file("hosts", "a\n")
    site.env[VARIABLES[other]] = str(file)
    site.file(f"home/.{RUNTIMES[other]}/mca-params.conf", f"{PARAMETERS[other]} = {file}\n")
    assert site.hosts("--mca", PARAMETERS[other], str(file)) is None


def test_a_file_that_is_not_there_is_named_with_its_parameter(site: Site) -> None:
    site.parameters(f"home/.{RUNTIMES[site.major]}/mca-params.conf", "/gone")
    with pytest.raises(InputError, match=rf"^{PARAMETERS[site.major]}: /gone: hostfile cannot be"):
        site.hosts()
    site.env[VARIABLES[site.major]] = "/gone"
    with pytest.raises(InputError, match=rf"^{VARIABLES[site.major]}: /gone: "):
        site.hosts()


@pytest.mark.parametrize("launcher", [Mpich(Path("/m"), (4, 0, 2)), IntelMpi(Path("/m"), (2021,))])
def test_other_launchers_have_none(tmp_path: Path, launcher: Launcher) -> None:
    (tmp_path / "hosts").write_text("a\n")
    env = dict.fromkeys(VARIABLES.values(), str(tmp_path / "hosts"))
    assert default_hosts(launcher, (), env) is None
