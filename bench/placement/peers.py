# SPDX-License-Identifier: Apache-2.0
"""The methods that `optimize` is compared with: host of each task, by one thread."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from instances import SLOTS, Instance

import fairlead as fl
from fairlead import _core
from fairlead.model.cost import rank_matrix

try:
    import mtkahypar
except ImportError:  # in the dependency group "bench"
    mtkahypar = None

HostOfTask = npt.NDArray[np.int64]
Method = Callable[[Instance, int], HostOfTask]

CLOUDMAP_LARGEST_DISTANCE = 10
"""CloudMap's published scripts scale costs between hosts to 0..10; Scotch wants 1 at least."""

WEIGHT_SCALE = 100
"""Mt-KaHyPar's weights are integers: hundredths of a cost."""

MT_KAHYPAR_IMBALANCE = 0.03
"""Its own default; asked for exact balance it gets stuck: 25 % worse on stencil-8x8x8."""


def optimize(time_limit_s: float) -> Method:
    def place(instance: Instance, seed: int) -> HostOfTask:
        network, cluster = instance.network, instance.cluster
        return optimized(instance.traffic, network, cluster, seed, time_limit_s).host_of_rank

    return place


def optimized(
    traffic: fl.Traffic,
    network: fl.Network | fl.HostTree,
    cluster: fl.Cluster,
    seed: int,
    time_limit_s: float,
    *,
    start: fl.Placement | None = None,
) -> fl.Placement:
    """What `optimize` finds by one thread, of the least sum."""
    return fl.place(
        traffic,
        network,
        cluster,
        "optimize",
        objective="sum",
        seed=seed,
        start=start,
        time_limit_s=time_limit_s,
        num_threads=1,
    )


def blocked(instance: Instance, seed: int) -> HostOfTask:
    del seed  # always the same
    return np.arange(instance.num_tasks) // SLOTS


def scotch(instance: Instance, seed: int) -> HostOfTask:
    """As Fairlead uses it: costs scaled to 1..1000, the best of some starts."""
    return fl.place(
        instance.traffic,
        instance.network,
        instance.cluster,
        "scotch-best",
        objective="sum",
        seed=seed,
    ).host_of_rank


def scotch_as_cloudmap(instance: Instance, seed: int) -> HostOfTask:
    return _core.scotch_placements(
        rank_matrix(instance.traffic.bytes),
        instance.cost,
        np.full(len(instance.cost), SLOTS),
        seed=seed,
        num_tries=1,
        largest_distance=CLOUDMAP_LARGEST_DISTANCE,
    )[0]


def mt_kahypar(instance: Instance, seed: int) -> HostOfTask:
    """Steiner trees on the graph of hosts, a little imbalance allowed and then repaired."""
    initializer = start_mt_kahypar()
    mtkahypar.set_seed(seed)
    context = initializer.context_from_preset(mtkahypar.PresetType.HIGHEST_QUALITY)
    context.logging = False
    num_hosts = len(instance.cost)
    context.set_mapping_parameters(num_hosts, MT_KAHYPAR_IMBALANCE)
    pairs = instance.traffic.bytes.tocoo()
    once = pairs.row < pairs.col
    graph = initializer.create_graph(
        context,
        instance.num_tasks,
        int(once.sum()),
        list(zip(pairs.row[once].tolist(), pairs.col[once].tolist(), strict=True)),
        [1] * instance.num_tasks,
        pairs.data[once].astype(np.int64).tolist(),
    )
    src, dst = np.triu_indices(num_hosts, 1)
    target = initializer.create_target_graph(
        context,
        num_hosts,
        len(src),
        list(zip(src.tolist(), dst.tolist(), strict=True)),
        np.rint(WEIGHT_SCALE * instance.cost[src, dst]).astype(np.int64).tolist(),
    )
    return repaired(instance, np.array(graph.map_onto_graph(target, context).get_partition()))


@functools.cache
def start_mt_kahypar():
    return mtkahypar.initialize(1, print_warnings=False)


def repaired(instance: Instance, host_of_task: HostOfTask) -> HostOfTask:
    """Tasks beyond the slots move to hosts with room, the cheapest move first."""
    weights, cost = instance.traffic.bytes, instance.cost
    held = np.bincount(host_of_task, minlength=len(cost))
    while np.any(held > SLOTS):
        tasks = np.flatnonzero(held[host_of_task] > SLOTS)
        room = np.flatnonzero(held < SLOTS)
        to_all = weights[tasks] @ cost[host_of_task]
        change = to_all[:, room] - to_all[np.arange(len(tasks)), host_of_task[tasks], None]
        task, to = np.unravel_index(np.argmin(change), change.shape)
        held[[host_of_task[tasks[task]], room[to]]] += (-1, 1)
        host_of_task[tasks[task]] = room[to]
    return host_of_task


def make_peers() -> dict[str, Method]:
    """The other methods by their names; Mt-KaHyPar where it is installed."""
    peers = {
        "blocked": blocked,
        "Scotch, costs to 1..10": scotch_as_cloudmap,
        "Scotch": scotch,
    }
    if mtkahypar is None:
        print("Mt-KaHyPar: not installed (pip install --group bench)")
        return peers
    return peers | {"Mt-KaHyPar": mt_kahypar}
