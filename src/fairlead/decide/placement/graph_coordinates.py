# SPDX-License-Identifier: Apache-2.0
"""Coordinates for the vertices of a graph: the first eigenvectors of its Laplacian."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

__all__ = ["DIMENSIONS", "graph_coordinates"]

DIMENSIONS = 3
"""Dimensions of coordinates that are computed where none are given; ORACLE's machine and program
have as many."""

MOST_DENSE = 512
"""Vertices up to which all eigenvectors are computed, in 0.1 s; of 4,096 that takes a minute and a
gigabyte."""

MOST_STEPS = 60
"""Maximum number of steps of the iteration for larger graphs."""

MOST_PRODUCTS = 2e8
"""Weights that all steps together may multiply: about a second."""

Coordinates = npt.NDArray[np.float64]


def graph_coordinates(near: sp.csr_array) -> Coordinates:
    """Coordinates of the vertices of a graph, shape (N, DIMENSIONS).

    Args:
        near: Weights, symmetric, shape (N, N): the larger, the nearer; 0 without an edge.
    """
    num_vertices = near.shape[0]
    if num_vertices <= DIMENSIONS or near.nnz == 0:
        return np.arange(num_vertices, dtype=np.float64)[:, None]
    if num_vertices <= MOST_DENSE:
        weights = near.toarray()
        np.fill_diagonal(weights, 0.0)
        weights /= weights.max(initial=np.finfo(float).tiny)
        values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    else:
        values, vectors = _first_vectors(near)
    # The first vector of each connected part is constant on it and distinguishes the parts.
    coordinates = vectors[:, 1 : DIMENSIONS + 1]
    # An eigenvector's sign is arbitrary; the same graph gets the same one everywhere.
    largest = np.abs(coordinates).argmax(axis=0)
    signs = np.sign(coordinates[largest, np.arange(coordinates.shape[1])])
    # A long chain spreads most along the vector of the least eigenvalue.
    spread = 1 / np.sqrt(np.maximum(values[1 : DIMENSIONS + 1], 1e-9))
    return np.asarray(coordinates * signs * spread)


def _first_vectors(near: sp.csr_array) -> tuple[Coordinates, Coordinates]:
    """About the first eigenvalues and vectors, in bounded time and without a dense matrix.

    The iteration begins with distances from far-off vertices, which are near the eigenvectors of
    chains and grids, and improves them as far as its steps reach.
    """
    weights = (near - sp.diags_array(near.diagonal())).tocsr()
    weights.eliminate_zeros()
    weights = weights / max(float(weights.max()), np.finfo(float).tiny)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    laplacian = (sp.diags_array(degrees) - weights).tocsr()
    start = np.linalg.qr(np.column_stack([np.ones(len(degrees)), _distances(weights)]))[0]
    steps = int(np.clip(MOST_PRODUCTS / (weights.nnz * start.shape[1]), 10, MOST_STEPS))
    inverse = sp.diags_array(1 / np.maximum(degrees, 1e-12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged is no matter
        values, vectors = scipy.sparse.linalg.lobpcg(
            laplacian, start, M=inverse, largest=False, maxiter=steps
        )[:2]
    if not np.all(np.isfinite(vectors)):
        return np.arange(start.shape[1], dtype=np.float64), start
    order = np.argsort(values)
    return np.asarray(values)[order], np.asarray(vectors)[:, order]


def _distances(weights: sp.csr_array) -> Coordinates:
    """Links from DIMENSIONS vertices, each as far as possible from those before."""
    columns = []
    nearest = np.full(weights.shape[0], np.inf)
    vertex = 0
    for dimension in range(DIMENSIONS + 1):
        links = scipy.sparse.csgraph.dijkstra(weights, indices=np.array([vertex]), unweighted=True)[
            0
        ]
        is_reached = np.isfinite(links)
        links = np.where(is_reached, links, 2 * links[is_reached].max() + 1)
        if dimension:
            columns.append(links)
            nearest = np.minimum(nearest, links)
            vertex = int(nearest.argmax())
        else:
            vertex = int(links.argmax())  # the first vertex may be anywhere, the farthest is an end
    return np.column_stack(columns)
