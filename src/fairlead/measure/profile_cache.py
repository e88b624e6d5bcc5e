# SPDX-License-Identifier: Apache-2.0
"""Profiles kept from earlier runs: networks by their hosts, traffic by program and rank count."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pydantic

from fairlead.act.launch import Launcher
from fairlead.act.launch.choosing_variables import network_variables
from fairlead.act.launch.parameter_files import parameter_files
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.own_files import require_own
from fairlead.files.run_directory import cache_folder
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

Stamps = dict[str, list[int]]
"""Size and time of change of files, by their names."""

_Inputs = pydantic.TypeAdapter(Stamps)

_MOST_HASHED_BYTES = 1 << 26
"""Largest standard input that is known by its content."""


@dataclasses.dataclass(frozen=True)
class Profile:
    """The kept network between some hosts.

    Attributes:
        path: File of the network.
        network: All pairs.
        by_long_trains: Pairs that were measured again by trains of 64 KiB, `nan` elsewhere; None
            where none were.
    """

    path: Path
    network: Network
    by_long_trains: Network | None = None


def profile_path(
    cluster: Cluster,
    launcher: Launcher,
    mode: str,
    contention: bool = False,
    launcher_args: Sequence[str] = (),
) -> Path:
    """File for the network of these hosts, as this launcher's MPI measures and chooses it."""
    how: list[Any] = [mode, "contention"] if contention else [mode]
    how += [launcher_args, network_variables(), parameter_files(launcher.path, launcher_args)]
    key = key_of(
        ["network", sorted(cluster.hosts), lab_facts(), launcher.family, launcher.version, *how]
    )
    return cache_folder() / "networks" / f"{key}.net.npz"


def recall(
    path: Path, cluster: Cluster, max_age_s: float, *, skip_unreachable: bool = False
) -> Profile | None:
    """The last network measured between these hosts, if it is younger than `max_age_s`.

    A network that was measured without some of the hosts is used only if they may be left out
    again. A network with a time in the future, from a wrong clock, is not used.
    """
    if not os.access(path, os.R_OK) or not 0 <= time.time() - path.stat().st_mtime <= max_age_s:
        return None
    try:
        network = Network.load(path).select(cluster.hosts)
    except InputError:
        return None  # An unreadable profile of our own is measured again.
    if network.unreachable and not skip_unreachable:
        return None
    try:
        by_long_trains = Network.load(_long_trains_path(path)).select(cluster.hosts)
    except InputError:
        by_long_trains = None
    return Profile(path, network, by_long_trains)


def remember(profile: Profile) -> None:
    """Keep a network for later runs on the same hosts, if it is complete.

    Raises:
        InputError: The cache cannot be written.
    """
    if not _is_complete(profile.network):
        return
    long_trains = _long_trains_path(with_folder(profile.path))
    if profile.by_long_trains is None:
        _remove(long_trains)  # It belongs to the previous network.
    else:
        profile.by_long_trains.save(long_trains)
    profile.network.save(profile.path)


def renew(profile: Profile) -> None:
    """Keep a network of which a part was measured again, for no longer than before.

    Its age stays that of its oldest part: the other pairs are as old as they were.

    Raises:
        InputError: The cache cannot be written.
    """
    try:
        before = profile.path.stat()
    except OSError:  # It was never kept.
        remember(profile)
        return
    remember(profile)
    try:
        os.utime(profile.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    except OSError as error:
        raise InputError(f"{profile.path}: cannot be dated: {error.strerror}") from error


def forget(path: Path) -> None:
    """Keep a network no longer, so that the next run measures."""
    for file in (path, _long_trains_path(path)):
        _remove(file)


def _remove(path: Path) -> None:
    """Remove a file of the cache, if there is one.

    Raises:
        InputError: The cache cannot be written, as where it is on a file system mounted read-only.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be removed: {error.strerror}") from error


def _long_trains_path(path: Path) -> Path:
    return path.with_name(path.name.replace(".net.npz", ".long-trains.net.npz"))


def _is_complete(network: Network) -> bool:
    """Whether all reachable pairs were measured; a budget may have cut the measurement short."""
    reached = [host for host in network.hosts if host not in network.unreachable]
    is_cut_short = network.flows is not None and not network.flows.is_complete
    return bool(reached) and not is_cut_short and not network.select(reached).unmeasured_pairs()


def recall_traffic(program: Sequence[str], num_ranks: int, launcher: Launcher) -> Traffic | None:
    """The traffic of this program, arguments and rank count, if it was traced before.

    Traffic is not used if a file among the arguments has changed since.
    """
    path = traffic_path(program, num_ranks, launcher)
    if not os.access(path, os.R_OK):
        return None
    inputs = _kept_inputs(path)
    try:
        return Traffic.load(path) if inputs is not None and are_unchanged(inputs) else None
    except InputError:
        return None


def remember_traffic(
    traffic: Traffic,
    program: Sequence[str],
    num_ranks: int,
    launcher: Launcher,
    inputs: Stamps | None = None,
) -> None:
    """Keep the traffic for later runs of the same program.

    Args:
        traffic: What was traced.
        program: Program and arguments.
        num_ranks: Number of ranks.
        launcher: Launcher by which it was traced.
        inputs: Result of `input_files` before the traced run. A file that the run changed is an
            output, and is ignored.

    Raises:
        InputError: The cache cannot be written.
    """
    path = with_folder(traffic_path(program, num_ranks, launcher))
    inputs = inputs or {}
    after = _stamps(inputs)
    unchanged = {name: stamp for name, stamp in inputs.items() if after.get(name) == stamp}
    # Between the two files nothing may be recalled, so the old one of the second goes first.
    _remove(_inputs_path(path))
    traffic.save(path)
    write_text(_inputs_path(path), json.dumps(unchanged))


def forget_traffic(name: str) -> None:
    """Keep the traffic in the file of this name no longer."""
    path = cache_folder() / "traffic" / name
    with contextlib.suppress(OSError):
        _inputs_path(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def _kept_inputs(path: Path) -> Stamps | None:
    """The files among the arguments that the traced run did not change; None without such a run."""
    try:
        # By `json`, which keeps names that are not UTF-8 (PEP 383): they are looked up again.
        return _Inputs.validate_python(json.loads(_inputs_path(path).read_bytes()))
    except (OSError, ValueError):  # A ValueError is damaged JSON, or another content.
        return None


def _inputs_path(path: Path) -> Path:
    return path.with_name(path.name.replace(".traffic.npz", ".inputs.json"))


def input_files(program: Sequence[str]) -> Stamps:
    """Size and time of each argument that is a file."""
    return _stamps(program[1:])


def are_unchanged(inputs: Stamps) -> bool:
    """Whether these files are as they were."""
    return inputs == _stamps(inputs)


def _stamps(names: Iterable[str]) -> Stamps:
    stamps = {}
    for name in names:
        # A ValueError: a text that no file's name can be. Another process may remove a file.
        with contextlib.suppress(OSError, ValueError):
            found = Path(name).stat()
            if stat.S_ISREG(found.st_mode):
                stamps[name] = [found.st_size, found.st_mtime_ns]
    return stamps


def with_folder(path: Path) -> Path:
    """The same path, after creating its folder.

    Raises:
        InputError: The folder cannot be made, or the cache is another user's.
    """
    require_own(cache_folder())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made: {error.strerror}") from error
    return path


def lab_facts() -> list[Any]:
    """Identifies the emulated cloud: all clouds name their hosts h0, h1, ..., and reuse names."""
    hostfile = os.environ.get("FAIRLEAD_LAB_HOSTFILE")
    return [hostfile, Path(hostfile).stat().st_mtime_ns] if hostfile else []


def traffic_path(
    program: Sequence[str],
    num_ranks: int,
    launcher: Launcher,
    build: tuple[int, int] | None = None,
) -> Path:
    """File for the traffic of a program with these arguments and this many ranks.

    Args:
        program: Program and arguments.
        num_ranks: Number of ranks.
        launcher: Launcher of the program.
        build: Another build than the one that is there, as of `build_of`.
    """
    key = key_of(["traffic", _identity(program, build), num_ranks, launcher.family])
    return cache_folder() / "traffic" / f"{key}.traffic.npz"


def _identity(program: Sequence[str], build: tuple[int, int] | None = None) -> list[Any]:
    """Program, build, arguments, working folder and the file that is the standard input.

    The build is the one that is there, unless another one is given.
    """
    found = shutil.which(program[0])
    if found is None:
        return [*program]
    rest = [*program[1:], str(Path.cwd()), *_standard_input()]
    return [str(Path(found).resolve()), *(build or build_of(program)), *rest]


def build_of(program: Sequence[str]) -> tuple[int, int]:
    """Size in bytes of a program's file, and its time of change in ns; zeros where there is none.

    They distinguish a rebuilt program.
    """
    found = shutil.which(program[0])
    if found is None:
        return 0, 0
    built = Path(found).stat()
    return built.st_size, built.st_mtime_ns


def _standard_input() -> list[Any]:
    """The content of the file that the program will read as standard input, as a digest.

    Nothing for a terminal or a pipe: their data are not known before. Of a large file size and time
    have to do. A batch system may make a new file with the same content for each job.
    """
    try:
        found = os.fstat(0)
    except OSError:
        return []
    if not stat.S_ISREG(found.st_mode):
        return []
    if found.st_size > _MOST_HASHED_BYTES:
        return ["stdin", found.st_size, found.st_mtime_ns]
    # The position in the file stays as it is.
    return ["stdin", hashlib.sha256(os.pread(0, found.st_size, 0)).hexdigest()]


def program_key(
    program: Sequence[str],
    num_ranks: int,
    cluster: Cluster,
    launcher: Launcher,
    host_of_rank: Sequence[str] = (),
    *,
    launcher_args: Sequence[str] = (),
    build: tuple[int, int] | None = None,
) -> str:
    """Name for the runs of a program with these arguments, this many ranks, on these hosts.

    With another input, another placement by the launcher (`host_of_rank`), another version of the
    MPI, other arguments for the launcher, or another choice of networks, it has another name: their
    times are not comparable. So it has with another `build`, as for `traffic_path`.
    """
    hosts = [cluster.hosts, cluster.slots, lab_facts(), *host_of_rank]
    traffic = traffic_path(program, num_ranks, launcher, build)
    inputs = sorted(_stamps(_kept_inputs(traffic) or ()).items())
    identity = _identity(program, build)
    started = [launcher.family, launcher.version, launcher_args, network_variables()]
    files = parameter_files(launcher.path, launcher_args)
    return key_of(["program", identity, inputs, num_ranks, hosts, *started, files])


def key_of(facts: list[Any]) -> str:
    """Name of a file that is kept under these facts."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]
