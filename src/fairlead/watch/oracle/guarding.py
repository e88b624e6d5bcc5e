# SPDX-License-Identifier: Apache-2.0
"""What stands before the service: tokens, bounded rates and bounded requests."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson

__all__ = ["Guard", "Limiter"]

MOST_BYTES = 2**19
"""Largest request: the names of the most nodes that may be asked for, 256 bytes each."""

MOST_CLIENTS = 1024
"""Clients whose rate is kept; of more the one that was quiet longest is forgotten."""

MOST_UNREAD_BYTES = 2**23
"""Read and thrown away of a request that is too large, so that its client sees the answer."""

BODY_S = 30.0
"""Longest that a client may take for all pieces of its request: one that trickles would stay."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Refusal = tuple[int, str, dict[str, str]]
"""Status, reason and headers."""

Application = Callable[[Message, Receive, Send], Awaitable[None]]


_CLOSING = {"connection": "close"}
"""Header of every refusal: a refused client keeps no connection that others need."""

PASSED = "fairlead.passed"
"""In the extensions of a request: what its connection wants to hear once it may stay."""


class Limiter:
    """A token bucket for each client.

    Attributes:
        rate: Requests a second that a client may make for long; as many at once.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic):
        self.rate = rate
        self._clock = clock
        self._left: collections.OrderedDict[str, tuple[float, float]] = collections.OrderedDict()

    def take(self, client: str, cost: float = 1.0) -> float:
        """Take a request's cost; seconds until there is any again, 0 where it may be answered."""
        now_s = self._clock()
        left, at_s = self._left.pop(client, (self.rate, now_s))
        left = min(self.rate, left + (now_s - at_s) * self.rate)
        wait_s = 0.0 if left > 0 else (1 - left) / self.rate
        self._left[client] = (left - cost if not wait_s else left, now_s)
        while len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return wait_s

    def charge(self, client: str, cost: float) -> None:
        """Take more for a request that turned out large; what comes next waits for it."""
        left, at_s = self._left.get(client, (self.rate, self._clock()))
        self._left[client] = (left - cost, at_s)


class _TooLarge(Exception):  # noqa: N818 - never leaves this file
    """A request of more than MOST_BYTES."""


class Guard:
    """Lets a request pass, or answers it with what is wrong.

    Attributes:
        num_answers: By status.
        busy_s: Time that answers took, all together.
    """

    def __init__(self, inner: Application, limiter: Limiter, token: str = ""):
        """A guard before an application.

        Args:
            inner: The application.
            limiter: Limiter of each client whose requests pass.
            token: What a client has to send; empty: nothing.
        """
        self._inner = inner
        self._limiter = limiter
        # Those without a token have a rate of their own: they use up nobody's else.
        self._refused = Limiter(limiter.rate)
        self._token = token.encode()
        self.num_answers: collections.Counter[int] = collections.Counter()
        self.busy_s = 0.0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        begun_s = time.perf_counter()

        async def count_bytes(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.num_answers[message["status"]] += 1
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None and refusal[0] == 413:
            await _discard(receive)
        if refusal is None:
            scope.get("extensions", {}).get(PASSED, _nothing)()
            try:
                receive = await _whole(receive)
            except _TooLarge:
                refusal = 413, f"a request may have {MOST_BYTES} bytes", {}
            except asyncio.TimeoutError:
                reason = f"the request did not come within {BODY_S:.0f} s"
                refusal = 408, reason, {}
        try:
            if refusal is None:
                await self._inner(scope, receive, count_bytes)
            else:
                await _refuse(count_bytes, *refusal)
        finally:
            self.busy_s += time.perf_counter() - begun_s

    def _refusal(self, scope: Message) -> Refusal | None:
        """What to say instead of an answer; None where the request may pass."""
        headers = dict(scope["headers"])
        client = (scope.get("client") or ("",))[0]
        is_known = self._has_token(headers.get(b"authorization", b""))
        limiter = self._limiter if is_known else self._refused
        wait_s = limiter.take(client)
        if wait_s:
            retry = {"retry-after": str(max(1, round(wait_s)))}
            return 429, f"more than {limiter.rate:g} requests a second", retry
        if not is_known:
            return 401, "a token is needed: Authorization: Bearer TOKEN", {
                "www-authenticate": "Bearer"
            }  # fmt: skip
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return 400, "Content-Length is no number", {}
        if int(length) > MOST_BYTES:
            return 413, f"a request may have {MOST_BYTES} bytes", {}
        return None

    def _has_token(self, authorization: bytes) -> bool:
        """Whether a client may ask; the scheme is read in any case, by RFC 9110, section 11.1."""
        scheme, _, given = authorization.strip().partition(b" ")
        # The time must not show how much of a token is right.
        is_same = hmac.compare_digest(given.strip(), self._token)
        return not self._token or (scheme.lower() == b"bearer" and is_same)


def _nothing() -> None:
    """What a connection wants that has no limits."""


async def _whole(receive: Receive) -> Receive:
    """The request, read up to MOST_BYTES and for BODY_S, to be received at once.

    Raises:
        _TooLarge: It has more.
        TimeoutError: It took longer.
    """
    body = b""
    is_over = False
    end_s = time.monotonic() + BODY_S
    while not is_over:
        message = await asyncio.wait_for(receive(), end_s - time.monotonic())
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            raise _TooLarge
        is_over = not message.get("more_body", False)
    pieces = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def whole() -> Message:
        # What comes after is the end of the connection, whenever that is.
        return next(pieces, None) or await receive()

    return whole


async def _discard(receive: Receive) -> None:
    """Read the rest of a request: a client that is cut off while it sends sees no answer."""
    left = MOST_UNREAD_BYTES
    end_s = time.monotonic() + BODY_S
    with contextlib.suppress(asyncio.TimeoutError):
        while left > 0:
            message = await asyncio.wait_for(receive(), end_s - time.monotonic())
            left -= len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body", False):
                return


async def _refuse(send: Send, status: int, reason: str, headers: dict[str, str]) -> None:
    body = orjson.dumps({"detail": reason})
    fields = {"content-type": "application/json", "content-length": str(len(body))}
    fields |= {**headers, **_CLOSING}
    raw = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
