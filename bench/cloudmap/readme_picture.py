#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the README's picture: a measured network, and the traffic of a program before and after.

A solver on 32 ranks is traced in the emulated cloud `two-racks`, whose hosts are listed in an order
that hides the racks; the network is measured, and the ranks are placed by `optimize`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from programs import PROGRAMS, Program, fairlead, traced

import fairlead as fl
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

Matrix = npt.NDArray[np.float64]

CELL, GAP, LEFT, TOP = 26, 34, 34, 52
LIGHT, DARK = np.array([247, 251, 255]), np.array([8, 48, 107])


def main() -> None:
    options = parsed()
    with tempfile.TemporaryDirectory() as name, Lab.up(Scenario.load("two-racks")) as lab:
        file = Path(name) / "two-racks.net.npz"
        fairlead(lab, "probe", options.probe, "--hostfile", str(lab.hostfile), "-o", str(file))
        network = fl.Network.load(file)
        traffic = traced(lab, options.program, Path(name) / "cg")
    cluster = fl.Cluster.uniform(network.hosts, slots=4)
    placed = [fl.place(traffic, network, cluster, method=one) for one in ("launcher", "optimize")]
    from_first = network.bandwidth_Bps[0].copy()
    from_first[0] = np.inf
    order = np.argsort(-from_first).tolist()
    is_near = from_first > np.median(from_first)
    apart = is_near[:, None] != is_near[None, :]
    matrices, titles = [network.bandwidth_Bps / 1e6], ["Measured rate, MB/s"]
    for one, how in zip(placed, ("as launched", "placed"), strict=True):
        matrices.append(host_bytes(traffic, one) / 2**20)
        titles.append(f"MiB {how}: {np.nansum(matrices[-1][apart]):.0f} between racks")
    options.output.write_text(
        picture(matrices, titles, [network.hosts[host] for host in order], order, is_near.sum())
    )


def host_bytes(traffic: fl.Traffic, placement: fl.Placement) -> Matrix:
    """Bytes from each host to each other one, shape (hosts, hosts)."""
    num_hosts = len(placement.hosts)
    of_rank = np.zeros((placement.num_ranks, num_hosts))
    of_rank[np.arange(placement.num_ranks), placement.host_of_rank] = 1
    sent = np.asarray(of_rank.T @ traffic.carried.bytes.toarray() @ of_rank)
    np.fill_diagonal(sent, np.nan)
    return sent


def picture(
    matrices: list[Matrix], titles: list[str], names: list[str], order: list[int], num_near: int
) -> str:
    """The matrices side by side as SVG, hosts in this order, the first of them framed."""
    size = CELL * len(names)
    width = LEFT + len(matrices) * (size + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + size + 10}" '
        'font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for index, (matrix, title) in enumerate(zip(matrices, titles, strict=True)):
        x = LEFT + index * (size + GAP)
        parts.append(f'<text x="{x}" y="18" font-size="13">{title}</text>')
        parts += heatmap(matrix[np.ix_(order, order)], names, x)
        for begin, number in ((0, num_near), (num_near, len(names) - num_near)):
            side = number * CELL - 1
            parts.append(
                f'<rect x="{x + begin * CELL}" y="{TOP + begin * CELL}" width="{side}" '
                f'height="{side}" fill="none" stroke="black"/>'
            )
    return "\n".join([*parts, "</svg>", ""])


def heatmap(matrix: Matrix, names: list[str], x: int) -> list[str]:
    """One matrix as squares with their values; rows send, columns receive."""
    apart = ~np.eye(len(names), dtype=bool)
    most = float(np.nanmax(np.where(apart, matrix, np.nan)))
    parts = []
    for row, name in enumerate(names):
        y = TOP + row * CELL
        middle = y + CELL * 0.65
        parts.append(f'<text x="{x - 4}" y="{middle:.0f}" text-anchor="end">{name}</text>')
        above = f'x="{x + (row + 0.5) * CELL:.0f}" y="{TOP - 6}" text-anchor="middle"'
        parts.append(f"<text {above}>{name}</text>")
        for column in range(len(names)):
            share = 0.0 if row == column else float(matrix[row, column]) / most
            red, green, blue = (LIGHT + share * (DARK - LIGHT)).astype(int)
            left = x + column * CELL
            parts.append(
                f'<rect x="{left}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" '
                f'fill="rgb({red},{green},{blue})"/>'
            )
            if share < 0.01:
                continue
            ink = "white" if share > 0.5 else "black"
            parts.append(
                f'<text x="{left + CELL / 2:.0f}" y="{middle:.0f}" text-anchor="middle" '
                f'font-size="9" fill="{ink}">{matrix[row, column]:.3g}</text>'
            )
    return parts


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images/before-after.svg"))
    parser.add_argument("--short", action="store_true", help="less, and keep nothing")
    options = parser.parse_args()
    options.probe, options.program = "--full", PROGRAMS["cg"]
    if options.short:
        options.output = Path(os.devnull)
        options.probe = "--quick"
        options.program = Program(("cg", "--size", "8000", "--systems", "1"))
    return options


if __name__ == "__main__":
    main()
