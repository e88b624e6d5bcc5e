# SPDX-License-Identifier: Apache-2.0
"""The recipes for package managers name the version and the dependencies of `pyproject.toml`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = {
    found[1]: found[2]
    for one in PROJECT["dependencies"]
    if (found := re.match(r"([\w-]+)>=([\d.]+)", one))
}


def test_every_dependency_has_a_least_version() -> None:
    assert len(NEEDED) == len(PROJECT["dependencies"])


def test_spack_has_the_same_dependencies() -> None:
    recipe = (PACKAGING / "spack" / "package.py").read_text()
    compile(recipe, "package.py", "exec")
    found = dict(re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):", .*"run"\)', recipe))

    assert found == NEEDED
    assert f'version("{PROJECT["version"]}")' in recipe


def test_conda_forge_has_the_same_dependencies() -> None:
    recipe = yaml.safe_load((PACKAGING / "conda-forge" / "recipe.yaml").read_text())
    run = [str(one).split(" >=") for one in recipe["requirements"]["run"]]

    assert {name: version for name, *least in run for version in least} == NEEDED
    assert recipe["context"]["version"] == PROJECT["version"]


def test_easybuild_and_debian_have_the_version() -> None:
    (recipe,) = (PACKAGING / "easybuild").glob("*.eb")
    facts: dict[str, object] = {}
    exec(compile(recipe.read_text(), recipe.name, "exec"), facts)
    changes = (PACKAGING / "debian" / "changelog").read_text()

    assert facts["version"] == PROJECT["version"]
    assert changes.startswith(f"fairlead ({PROJECT['version']}-")


@pytest.mark.parametrize("file", ["docker/Dockerfile", "apptainer/fairlead.def"])
def test_images_install_the_wheel_of_their_python(file: str) -> None:
    text = (PACKAGING / file).read_text()

    assert "debian:12" in text  # its Python is 3.11
    assert "build/wheels/*cp311*.whl" in text
