# SPDX-License-Identifier: Apache-2.0
"""The paper CMPI's discretisation and Algorithms 1, 2 and 4, read line by line; slow and plain.

Written from the paper's text alone, to hold the core against it. What the paper leaves open is
taken as docs/design/collective-cmpi.md has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Matrix = Sequence[Sequence[float]]
Levels = list[list[int]]
Groups = list[list[int]]
Tree = int | list["Tree"]
"""A host, or the subtrees of a group."""


def discretise(values: Matrix, k: float) -> Levels:
    """Section 3: l <= x / (k min) < l + 1."""
    hosts = range(len(values))
    least = min(values[i][j] for i in hosts for j in hosts if i != j)
    return [[0 if i == j else math.floor(values[i][j] / (k * least)) for j in hosts] for i in hosts]


def build(m: Levels, t_span: int) -> list[Groups]:
    """Algorithm 1: G_1, G_2, ... to the one group."""
    sets = [[[host] for host in range(len(m))]]
    while len(sets[-1]) > 1:
        sets.append(group(m, sets[-1], t_span))
    return sets[1:]


def group(m: Levels, below: Groups, t_span: int) -> Groups:
    """Algorithm 2."""
    b = 0
    new: Groups = []
    while len(new) > len(below) / 2 or len(new) == 0:
        new = []
        for delta in below:
            for p in delta:
                qualified = [other for other in new if is_close(m, p, other, b)]
                if qualified:
                    min(qualified, key=len).append(p)
                else:
                    new.append([p])
        b += 1
    while span(new) > max(t_span, 1):
        largest, smallest = max(new, key=len), min(new, key=len)
        nearest = min(largest, key=lambda p: (max(max(m[p][q], m[q][p]) for q in smallest), p))
        largest.remove(nearest)
        smallest.append(nearest)
    return sorted(sorted(members) for members in new)


def is_close(m: Levels, p: int, delta: list[int], b: int) -> bool:
    """p is b-close to delta."""
    return all(max(m[q][p], m[p][q]) <= b for q in delta)


def span(groups: Groups) -> int:
    """Machines of the largest group minus those of the smallest."""
    sizes = [len(members) for members in groups]
    return max(sizes) - min(sizes)


def distance(sets: list[Groups], i: int, j: int) -> int:
    """The level of the lowest group that holds both."""
    if i == j:
        return 0
    return 1 + next(
        level
        for level, groups in enumerate(sets)
        if any(i in members and j in members for members in groups)
    )


def gather_parents(m: Levels, sets: list[Groups], root: int) -> list[int]:
    """Algorithm 4 at the root of the gather: the parent of each host, -1 at the root."""
    num_hosts = len(m)
    parents = [-1] * num_hosts
    for dist in range(len(sets)):
        up = sorted(
            (host for host in range(num_hosts) if distance(sets, root, host) <= dist),
            key=lambda host: (distance(sets, root, host), host),
        )
        at_next = [host for host in range(num_hosts) if distance(sets, root, host) == dist + 1]
        attach(m, parents, up, subtrees(sets, at_next, dist))
    return parents


def subtrees(sets: list[Groups], hosts: list[int], level: int) -> list[Tree]:
    """The hierarchy's subtrees of a level, as far as these hosts are in them."""
    if level == 0:
        return list(hosts)
    found: list[Tree] = []
    for members in sorted(sets[level - 1]):
        inside = [host for host in members if host in hosts]
        if inside:
            below = subtrees(sets, inside, level - 1)
            found.append(below[0] if len(below) == 1 else below)
    return sorted(found, key=lambda tree: min(hosts_of(tree)))


def hosts_of(tree: Tree) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    return sorted(host for child in tree for host in hosts_of(child))


def attach(m: Levels, parents: list[int], up: list[int], down: list[Tree]) -> None:
    """Lines 3 to 8 of Construct."""
    for u, t in zip(up, adjusted(down, len(up)), strict=False):
        d = min(hosts_of(t), key=lambda host: (m[host][u], host))
        parents[d] = u
        construct(m, parents, d, t)


def construct(m: Levels, parents: list[int], root: int, tree: Tree) -> None:
    """Construct inside a subtree, by distance from its root d."""
    ancestors: list[list[Tree]] = []
    while not isinstance(tree, int):
        ancestors.append(tree)
        tree = next(child for child in tree if root in hosts_of(child))
    up = [root]
    for ancestor in reversed(ancestors):
        down = [child for child in ancestor if root not in hosts_of(child)]
        attach(m, parents, up, down)
        up = up + sorted(host for child in down for host in hosts_of(child))


def adjusted(down: list[Tree], num_up: int) -> list[Tree]:
    """Operations 1 and 2 of section 4.3, until |UP| = |DOWN|."""
    while len(down) > num_up:
        down = combine(down)
    while len(down) < num_up:
        sizes = [len(hosts_of(tree)) for tree in down]
        if max(sizes, default=1) == 1:
            break
        place = len(sizes) - 1 - sizes[::-1].index(max(sizes))
        forest = down[place]
        assert not isinstance(forest, int)
        while len(forest) > 2:
            forest = combine(forest)
        down = down[:place] + forest + down[place + 1 :]
    return down


def combine(down: list[Tree]) -> list[Tree]:
    """The two smallest become one, where the first of them was."""
    order = sorted(range(len(down)), key=lambda index: len(hosts_of(down[index])))
    first, second = sorted(order[:2])
    both: Tree = [down[first], down[second]]
    return [*down[:first], both, *down[first + 1 : second], *down[second + 1 :]]
