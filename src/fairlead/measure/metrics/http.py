# SPDX-License-Identifier: Apache-2.0
"""Documents by HTTP: bounded in time and size, with one line when it does not work."""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.series import MetricError

__all__ = ["fetch_json", "headers_from", "require_http", "without_credentials"]

MOST_BYTES = 2**28
"""Size limit of one answer: a matrix of 4,000 hosts takes some 200 MB as text."""

PIECE_BYTES = 2**16

USER_AGENT = "fairlead"

_MOST_LETTERS = 300
"""Longest part of a server's reason that is shown."""


def require_http(url: str) -> str:
    """The URL without a slash at its end.

    Raises:
        MetricError: It is none of HTTP with a host.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MetricError(f"{url}: expected http://HOST:PORT or https://HOST:PORT")
    return url.rstrip("/")


def without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """The URL without a user's name and password in it, and the header that has them instead.

    Raises:
        MetricError: It is no URL; the message has no password.
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise MetricError(f"expected http://HOST:PORT or https://HOST:PORT: {error}") from error
    credentials, at, place = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    plain = urllib.parse.unquote(credentials).encode()
    header = {"Authorization": f"Basic {base64.b64encode(plain).decode()}"}
    return urllib.parse.urlunsplit(parts._replace(netloc=place)), header


def headers_from(lines: Iterable[str], bearer_file: Path | None = None) -> dict[str, str]:
    """Headers that a user wrote.

    Args:
        lines: `NAME:CONTENT` each.
        bearer_file: Holds a bearer token; None: none.

    Raises:
        InputError: A line has no name, or the file cannot be read.
    """
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise InputError(f"header: expected NAME:CONTENT, got {line!r}")
        headers[name.strip()] = value.strip()
    if bearer_file is not None:
        headers["Authorization"] = f"Bearer {read_text(bearer_file).strip()}"
    return headers


def fetch_json(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    form: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    whole_s: float = 60.0,
) -> Any:
    """What a server answers.

    Args:
        url: Where.
        headers: Sent along.
        body: A JSON document to send; None: none.
        form: Fields of a form to send instead; queries of many names are too long for a URL.
        timeout_s: For each step: to connect, and for each piece of the answer.
        whole_s: For all pieces together.

    Raises:
        MetricError: There is no server, it answers with an error, with something else than JSON,
            with half of it, or with more than MOST_BYTES.
    """
    sent = {"User-Agent": USER_AGENT, "Accept": "application/json", **(headers or {})}
    data = None
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    elif body is not None:
        data = json.dumps(body).encode()
        sent["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data=data, headers=sent)
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            # None where it is no number, or where the answer comes in chunks, which end by their
            # own mark (RFC 9112, section 6.3). Reading changes it in some versions of Python.
            length = answer.length
            text = _whole(answer, whole_s)
    except urllib.error.HTTPError as error:
        raise MetricError(f"{url}: answers {error.code} {_reason(error)}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise MetricError(f"{url}: cannot be reached: {reason}") from error
    if len(text) > MOST_BYTES:
        raise MetricError(f"{url}: answers with more than {MOST_BYTES} bytes")
    if length is not None and len(text) < length:
        raise MetricError(f"{url}: the answer ends after {len(text)} of {length} bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MetricError(f"{url}: the answer is not JSON, or not all of it: {error}") from error


def _whole(answer: http.client.HTTPResponse, limit_s: float) -> bytes:
    """An answer, up to MOST_BYTES and one more piece.

    Raises:
        TimeoutError: It trickles: a socket's own time limit begins anew with each byte.
    """
    end_s = time.monotonic() + limit_s
    pieces, num_bytes = [], 0
    while num_bytes <= MOST_BYTES and (piece := answer.read1(PIECE_BYTES)):
        pieces.append(piece)
        num_bytes += len(piece)
        if time.monotonic() > end_s:
            raise TimeoutError(f"not all of its answer came within {limit_s:g} s")
    return b"".join(pieces)


def _reason(error: urllib.error.HTTPError) -> str:
    """What a server says of its error, in one line."""
    try:
        document = json.loads(error.read(2**16))
    except (OSError, ValueError, http.client.HTTPException):
        return str(error.reason)
    reason = document.get("error") or document.get("detail") if isinstance(document, dict) else None
    if not reason:
        return str(error.reason)
    line = " ".join(str(reason).split())
    # An engine may repeat the query, which is long, before it says what is wrong with it.
    return line if len(line) <= _MOST_LETTERS else f"{line[:120]} ... {line[120 - _MOST_LETTERS :]}"
