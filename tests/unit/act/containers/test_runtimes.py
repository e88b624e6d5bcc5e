# SPDX-License-Identifier: Apache-2.0
"""How each runtime's command line is read, and how a command of ours is started by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.containers import container_of
from fairlead.act.containers.container import Bind

FOLDER = Path("/share/run")

# What the user writes; the program inside; the start of `look x` with our folder and V=1.
COMMANDS = {
    "charliecloud": (
        "ch-run -b /data:/mnt/0 --cd /mnt img -- ./solver -n 3",
        "./solver -n 3",
        "ch-run -b /data:/mnt/0 --cd /mnt --bind=/share/run:/in --set-env=V=1 img -- look x",
    ),
    "charliecloud without dashes": (
        "ch-run -w img ./solver",
        "./solver",
        "ch-run -w --bind=/share/run:/in --set-env=V=1 img -- look x",
    ),
    "apptainer": (
        "apptainer --quiet exec --nv -B /data --env A=1 image.sif ./solver -n 3",
        "./solver -n 3",
        "apptainer --quiet exec --nv -B /data --env A=1 image.sif look x",
    ),
    "apptainer's runscript": (
        "apptainer run --pwd /data image.sif -n 3",
        "",
        "apptainer exec --pwd /data image.sif look x",
    ),
    "bubblewrap": (
        "bwrap --ro-bind img / --setenv A B --proc /proc ./solver --bind 3",
        "./solver --bind 3",
        "bwrap --ro-bind img / --setenv A B --proc /proc --bind /share/run /in --setenv V 1 -- "
        "look x",
    ),
    "podman": (
        "podman --root /store run -it --rm --net host -e=A=1 -v /data:/data image ./solver -n 3",
        "./solver -n 3",
        "podman --root /store run -it --rm --net host -e=A=1 -v /data:/data "
        "--volume /share/run:/in --env V=1 --entrypoint look image x",
    ),
    "docker": (
        "docker container run --rm image",
        "",
        "docker run --rm --volume /share/run:/in --env V=1 --entrypoint look image x",
    ),
    "enroot": (
        "enroot start --rw -m /data:/data -e A=1 solver.sqsh ./solver -n 3",
        "./solver -n 3",
        "enroot start --rw -m /data:/data -e A=1 "
        "--mount /share/run:/in:none:x-create=dir,bind,rw --env V=1 solver.sqsh look x",
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_the_program_inside_is_found_and_another_one_started(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("APPTAINER_BIND", raising=False)
    written, inside, started = COMMANDS[case]
    container = container_of(written.split())
    assert container is not None

    ours = container.start(Bind(FOLDER, Path("/in")), ("look", "x"), {"V": "1"})

    assert " ".join(container.command) == inside
    assert " ".join(ours.program) == started
    if case.startswith("apptainer"):
        assert ours.env == {"APPTAINER_BIND": "/share/run:/in", "APPTAINERENV_V": "1"}


@pytest.mark.parametrize("case", COMMANDS)
def test_the_users_own_command_stays_whole(case: str) -> None:
    words = COMMANDS[case][0].replace("container run", "run").split()
    container = container_of(words)
    assert container is not None

    ours = container.start(Bind(FOLDER, Path("/in")), None, {"V": "1"})

    left = list(ours.program)
    for word in words:  # All of them, in their order.
        del left[: left.index(word) + 1]


@pytest.mark.parametrize(
    "written",
    ["./solver ch-run", "apptainer build a b", "apptainer exec image", "podman ps", "ch-run img",
     "enroot list", "bwrap --version", "singularity", "docker"],
)  # fmt: skip
def test_what_starts_no_program_in_a_container_is_none(written: str) -> None:
    assert container_of(written.split()) is None


def test_what_the_user_binds_by_a_variable_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINGULARITY_BIND", "/data,/scratch:/tmp")
    container = container_of(["singularity", "exec", "image.sif", "./solver"])
    assert container is not None

    env = container.start(Bind(FOLDER, FOLDER), None, {}).env

    assert env == {"SINGULARITY_BIND": "/data,/scratch:/tmp,/share/run:/share/run"}


@pytest.mark.parametrize(
    ("written", "targets"),
    [
        ("ch-run image -- x", ["/share/run", "/share/run", "/mnt/9", "/mnt", "/media"]),
        ("ch-run -b /a:/mnt/0 image -- x", ["/share/run", "/share/run", "/mnt/9", "/media"]),
        ("ch-run --bind=/a:/mnt image -- x", ["/share/run", "/share/run", "/media"]),
        ("ch-run FILLED -- x", ["/share/run", "/share/run", "/media"]),
        ("bwrap --bind FILLED / x", ["/share/run", "/share/run", "/media"]),
        ("bwrap --bind FILLED / --bind /a /media/a x", ["/share/run", "/share/run"]),
    ],
)
def test_nothing_of_the_image_or_the_user_is_hidden(
    written: str, targets: list[str], tmp_path: Path
) -> None:
    (tmp_path / "mnt" / "data").mkdir(parents=True)
    (tmp_path / "media").mkdir()
    container = container_of(written.replace("FILLED", str(tmp_path)).split())
    assert container is not None

    assert [str(bind.target) for bind in container.binds(FOLDER)] == targets
