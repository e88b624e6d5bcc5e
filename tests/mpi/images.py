# SPDX-License-Identifier: Apache-2.0
"""Images of containers made from folders: an empty tree in which this machine's /usr is bound.

Fairlead's own folder, the working folder and the home folder do not exist inside.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

EMPTY = ("dev", "etc", "home", "media", "mnt", "opt", "proc", "run", "sys", "tmp", "usr", "var/tmp")
MERGED = ("bin", "lib", "lib64", "sbin")
COPIED = ("group", "hosts", "ld.so.cache", "nsswitch.conf", "openmpi", "passwd")


def make_image(folder: Path, *programs: Path, has_mount_points: bool = True) -> Path:
    """An image with these programs in its /opt.

    Args:
        folder: Where it is made.
        programs: What is copied into it.
        has_mount_points: Whether it has the empty folders that a runtime can mount on.
    """
    image = folder / "image"
    for name in EMPTY:
        if has_mount_points or name not in {"media", "mnt"}:
            (image / name).mkdir(parents=True, exist_ok=True)
    for name in MERGED:
        (image / name).symlink_to(f"usr/{name}")
    for name in COPIED:
        source = Path("/etc", name)
        if source.is_dir():
            shutil.copytree(source, image / "etc" / name)
        elif source.exists():
            shutil.copy(source, image / "etc" / name)
    for program in programs:
        shutil.copy(program, image / "opt" / program.name)
    return image


def by_charliecloud(image: Path, *command: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """The command inside the image by ch-run, which shares the host's /tmp."""
    return ("ch-run", "-b", "/usr:/usr", *options, str(image), "--", *command)


def by_bubblewrap(image: Path, *command: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """The command inside the image by bwrap, where the image is read-only."""
    mounts = ("--ro-bind", str(image), "/", "--ro-bind", "/usr", "/usr", "--bind", "/tmp", "/tmp")
    kernel = ("--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys")
    return ("bwrap", *mounts, *kernel, *options, *command)


def by_podman(image: Path, *command: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """The command inside the image by podman, with a store in the working folder.

    The path of a store may have 50 characters, fewer than pytest's folders have.
    runc, as crun refuses control groups of both versions, and limits below this machine's, which a
    container may not be able to set.
    """
    store = ("--root", str(Path.cwd() / "store"), "--runroot", str(Path.cwd() / "running"))
    runtime = ("--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs")
    limits = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
    shared = ("--env-host", "--network", "host", "--pid", "host", "--ipc", "host")
    mounts = ("-v", "/usr:/usr:ro", "-v", "/tmp:/tmp")
    words = ("run", "--rm", "--rootfs", *limits, *shared, *mounts, *options, str(image), *command)
    return ("podman", *store, *runtime, *words)
