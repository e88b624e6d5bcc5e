# SPDX-License-Identifier: Apache-2.0
"""The oracle as a service by HTTP. It needs the extra `fairlead[oracle]`."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.routing import Route

from fairlead.errors import Error, InputError
from fairlead.measure.oracle import MOST_SHARING_HOSTS
from fairlead.model.topology import Reduction
from fairlead.watch.oracle.collecting import MOST_NAMED
from fairlead.watch.oracle.giving import FORMS, hottest_links, prometheus_text
from fairlead.watch.oracle.guarding import Guard, Limiter
from fairlead.watch.oracle.oracle import (
    METRICS,
    MOST_NODES,
    MOST_WINDOW_S,
    Answer,
    Oracle,
    Question,
)
from fairlead.watch.oracle.remapping import MOST_TASKS, RemapQuestion, remap
from fairlead.watch.oracle.shared_links import shared_links

__all__ = ["service"]

REQUESTS_PER_S = 2000.0
"""Request rate of one client by default."""

PAIRS_OF_REQUEST = 4096
"""So many pairs cost a client as much as one small request."""

REQUESTS_OF_WINDOW = 10
"""So many requests a window costs that was not asked for since sources were read."""

SMALL_NODES = 128
"""Up to here an answer is computed at once; larger ones in a thread."""

LARGE_ANSWERS = 2
"""At the same time: each may take some 100 MB."""

MOST_SENT = 64 * MOST_TASKS
"""Rows of traffic in a question; a request of MOST_BYTES has fewer."""

REQUESTS_OF_SHARED_LINKS = 20
"""So many requests it costs to look up which pairs share links."""

REQUESTS_OF_REMAP = 20
"""So many requests a remapping costs a client."""

JSON = "application/json"


class Query(BaseModel):
    """A question of `POST /v1/query`."""

    model_config = ConfigDict(extra="forbid")

    nodes: list[str] = Field(min_length=1, max_length=MOST_NODES)
    metrics: list[str] = Field(default=["stalls"], min_length=1, max_length=8)
    reduce: Reduction | None = None
    window_s: float = Field(default=60.0, gt=0, le=MOST_WINDOW_S)
    coverage: bool = Field(default=False, description="Also the coverage of each pair.")
    shared_links_by: str | None = Field(
        default=None,
        description="Also links that several pairs share, up to 256 nodes: what this metric leaves "
        "of each, and what interfaces carry, in bytes per second.",
    )


class Running(BaseModel):
    """A running program, of `POST /v1/remap`."""

    model_config = ConfigDict(extra="forbid")

    host_of_process: list[str] = Field(min_length=1, max_length=MOST_TASKS)
    task_of_process: list[int] = Field(min_length=1, max_length=MOST_TASKS)
    sent: list[tuple[int, int, float]] = Field(
        max_length=MOST_SENT, description="Sending task, receiving task, bytes in one repeat."
    )
    move_bytes_of_process: list[float] | None = None
    repeats_left: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    least_gain_ratio: float = Field(default=0.1, ge=0, lt=1)
    coordinates_of_task: list[list[float]] | None = None


def service(oracle: Oracle, *, token: str = "", rate: float = REQUESTS_PER_S) -> Guard:
    """The application that a server runs.

    Args:
        oracle: Gives the answers.
        token: What a client has to send; empty: nothing.
        rate: Requests a second that a client may make.
    """
    app = FastAPI(
        title="Fairlead oracle",
        version=version("fairlead"),
        summary="What the network does now, along the routes that messages take.",
    )
    limiter = Limiter(rate)
    guard = Guard(app, limiter, token)
    large = asyncio.Semaphore(LARGE_ANSWERS)

    cost_of_all = oracle.topology.links.num_links / PAIRS_OF_REQUEST
    charge = functools.partial(_charge, limiter)

    async def query(request: Request) -> Response:
        """Metrics of all pairs of nodes, [src, dst]; null where nothing is known."""
        asked = _parse(await request.body())
        num_pairs = len(asked.nodes) ** 2 * len(asked.metrics)
        is_ready = oracle.is_ready(asked.window_s)
        cost = num_pairs / PAIRS_OF_REQUEST + (0 if is_ready else REQUESTS_OF_WINDOW)
        charge(request, cost + (REQUESTS_OF_SHARED_LINKS if asked.shared_links_by else 0))
        is_small = len(asked.nodes) <= SMALL_NODES and asked.shared_links_by is None
        if is_small and is_ready:
            return Response(_answer(oracle, asked), media_type=JSON)
        async with large:
            return Response(await asyncio.to_thread(_answer, oracle, asked), media_type=JSON)

    async def remap_program(
        request: Request,
        running: Running,
        metric: str = "stalls",
        method: str = "optimize",
        window_s: float = 60.0,
    ) -> Response:
        """The next task of each process, where what the network does now makes moving pay."""
        num_pairs = len(set(running.host_of_process)) ** 2 + len(running.sent)
        charge(request, REQUESTS_OF_REMAP + num_pairs / PAIRS_OF_REQUEST)
        asked = RemapQuestion(
            **running.model_dump(), metric=metric, method=method, window_s=window_s
        )
        async with large:
            found = await asyncio.to_thread(remap, oracle, asked)
        return Response(
            orjson.dumps(vars(found), option=orjson.OPT_SERIALIZE_NUMPY), media_type=JSON
        )

    async def nodes(request: Request) -> Response:
        """All nodes with their router and coordinates."""
        charge(request, cost_of_all)
        return Response(await asyncio.to_thread(_nodes, oracle), media_type=JSON)

    async def links(request: Request) -> Response:
        """The links that messages wait for longest."""
        charge(request, cost_of_all)
        found = {"links": await asyncio.to_thread(hottest_links, oracle)}
        return Response(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY), media_type=JSON)

    async def health() -> Response:
        """Whether sources answer; status 200 also where none does, as the service itself does."""
        return Response(orjson.dumps(_health(oracle)), media_type=JSON)

    async def metrics(request: Request) -> Response:
        """For Prometheus."""
        charge(request, cost_of_all)
        text = await asyncio.to_thread(
            prometheus_text, oracle, dict(guard.num_answers), guard.busy_s, time.time()
        )
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def export(request: Request, form: str) -> Response:
        """What is known as text: ldms, slurm or labels."""
        charge(request, cost_of_all)
        if form not in FORMS:
            raise InputError(f"export: unknown form {form!r}; there are {', '.join(FORMS)}")
        return Response(await asyncio.to_thread(FORMS[form], oracle), media_type="text/plain")

    app.add_api_route(
        "/v1/query", query, methods=["POST"], response_class=Response, openapi_extra=_QUERY_SCHEMA
    )
    # Asked for a thousand times a second: without FastAPI's reading of parameters, of which the
    # function has none, and before the other routes are tried.
    app.router.routes.insert(0, Route("/v1/query", query, methods=["POST"]))
    app.add_api_route("/v1/remap", remap_program, methods=["POST"], response_class=Response)
    gets: dict[str, Callable[..., Any]] = {"/v1/nodes": nodes, "/v1/links": links}
    gets |= {"/v1/export/{form}": export, "/health": health, "/metrics": metrics}
    for path, answer in gets.items():
        app.add_api_route(path, answer, methods=["GET"], response_class=Response)
    app.add_exception_handler(Error, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_form)
    return guard


def _charge(limiter: Limiter, request: Request, cost: float) -> None:
    """Take more than the usual price, before the work begins."""
    if request.client is not None:
        limiter.charge(request.client.host, cost)


_QUERY_SCHEMA = {
    "requestBody": {"required": True, "content": {JSON: {"schema": Query.model_json_schema()}}}
}


def _parse(body: bytes) -> Query:
    """A question; read in one step, as it is asked for thousands of times a second.

    Raises:
        RequestValidationError: It is none.
    """
    try:
        return Query.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        ) from error


def _answer(oracle: Oracle, asked: Query) -> bytes:
    answer = oracle.ask(
        Question(tuple(asked.nodes), tuple(asked.metrics), asked.reduce, asked.window_s)
    )
    return orjson.dumps(_document(oracle, answer, asked), option=orjson.OPT_SERIALIZE_NUMPY)


def _document(oracle: Oracle, answer: Answer, asked: Query) -> dict[str, Any]:
    topology = oracle.topology
    document: dict[str, Any] = {
        "nodes": asked.nodes,
        "window_s": asked.window_s,
        "age_s": answer.age_s,
        "metrics": {},
        "unmatched": _some_names(state.unmatched for state in oracle.collector.states),
        "without_link": _some_names(state.without_link for state in oracle.collector.states),
    }
    if topology.coordinates is not None:
        document["coordinates"] = topology.coordinates[topology.indices(asked.nodes)]
    off_diagonal = ~np.eye(len(asked.nodes), dtype=bool)
    for metric, found in answer.metrics.items():
        values = np.where(np.isfinite(found.values), found.values, np.nan)
        part: dict[str, Any] = {"values": np.ascontiguousarray(values)}
        pairs = found.coverage[off_diagonal]
        part["coverage_ratio"] = float(pairs.mean()) if pairs.size else 1.0
        if asked.coverage:
            part["coverage"] = np.ascontiguousarray(found.coverage)
        document["metrics"][metric] = part
    if asked.shared_links_by is not None:
        document |= _share_facts(oracle, asked, asked.shared_links_by)
    return document


def _some_names(of_sources: Iterable[Sequence[str]]) -> list[str]:
    """Some of what sources name, each once."""
    return list(dict.fromkeys(name for names in of_sources for name in names))[:MOST_NAMED]


def _share_facts(oracle: Oracle, asked: Query, metric: str) -> dict[str, Any]:
    """What several pairs share: links, and the interfaces of nodes."""
    if metric not in METRICS:
        raise InputError(f"shared_links_by: unknown {metric!r}; there are {', '.join(METRICS)}")
    if len(asked.nodes) > MOST_SHARING_HOSTS:
        raise InputError(
            f"shared_links_by: expected at most {MOST_SHARING_HOSTS} nodes, got {len(asked.nodes)}"
        )
    crossed = oracle.crossings(tuple(asked.nodes))
    groups = shared_links(oracle.links(asked.window_s), metric, crossed)
    nic_Bps = oracle.topology.nic_Bps
    return {
        "shared_links": [
            {"pairs": group.pairs, "left_Bps": group.capacity_Bps} for group in groups
        ],
        "nic_Bps": None if nic_Bps is None else nic_Bps[oracle.topology.indices(asked.nodes)],
    }


def _nodes(oracle: Oracle) -> bytes:
    topology = oracle.topology
    at = [None] * topology.num_hosts if topology.coordinates is None else topology.coordinates
    return orjson.dumps(
        {
            "nodes": [
                {"name": name, "router": router, "coordinates": place}
                for name, router, place in zip(
                    topology.hosts, topology.router_of_host, at, strict=True
                )
            ]
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )


def _health(oracle: Oracle) -> dict[str, Any]:
    states = oracle.collector.states
    is_well = all(state.is_well for state in states)
    return {
        "status": "ok" if is_well else "degraded",
        "num_nodes": oracle.topology.num_hosts,
        "num_links": oracle.topology.links.num_links,
        "problems": list(oracle.topology.problems),
        "sources": [vars(state) for state in states],
    }


async def _refuse(_request: Request, error: Exception) -> Response:
    """What a question is wrong in."""
    status = 422 if isinstance(error, InputError) else 500
    return Response(orjson.dumps({"detail": str(error)}), status, media_type=JSON)


async def _refuse_form(_request: Request, error: Exception) -> Response:
    """One line, and none of what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    detail = f"{place}: {first['msg']}" if place else str(first["msg"])
    return Response(orjson.dumps({"detail": detail[:300]}), 422, media_type=JSON)
