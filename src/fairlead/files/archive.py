# SPDX-License-Identifier: Apache-2.0
"""NumPy archives with a checked JSON header, and atomic writing of files."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.archive_arrays import ArchiveArrays

FORMAT = "fairlead"

_IN_JSON = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


class _Form(NamedTuple):
    """How what is written becomes bytes, as `open` takes it."""

    encoding: str | None
    errors: str | None


_BYTES = _Form(None, None)
_TEXT = _Form("utf-8", "backslashreplace")


@contextlib.contextmanager
def replace_file(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file next to `path` that is renamed to it only if the block succeeds.

    A symbolic link stays, and its target is replaced. A device or FIFO is written to directly.

    Args:
        path: The file to write.
        mode: "w" for text in UTF-8, with names that are not UTF-8 as `system_text.in_utf8` has
            them; "wb" for bytes.

    Raises:
        InputError: The folder is missing, or the disk is full or not writable.
    """
    path = Path(path)
    form = _BYTES if "b" in mode else _TEXT
    try:
        if path.exists() and not path.is_file():
            with path.open(mode, encoding=form.encoding, errors=form.errors) as stream:
                yield stream
        else:
            with _neighbour(Path(os.path.realpath(path)), mode, form) as stream:
                yield stream
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _neighbour(path: Path, mode: str, form: _Form) -> Iterator[IO[Any]]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, mode, encoding=form.encoding, errors=form.errors) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` at once: a reader sees the old file or the new one, never a part."""
    with replace_file(path) as stream:
        stream.write(text)


def save_archive(
    path: Path | str, kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write arrays and their JSON header `meta` as one compressed NumPy archive.

    Args:
        path: The file to write.
        kind: What the file holds, for example "network".
        version: Schema version of this kind.
        meta: JSON-serialisable facts about the arrays: units, hosts, origin.
        arrays: Named NumPy arrays.
    """
    header = {"format": FORMAT, "kind": kind, "version": version, **meta}
    with replace_file(path, "wb") as stream:
        np.savez_compressed(stream, meta=np.array(json.dumps(header)), **arrays)


class Archive:
    """One archive read from disk, with checks that name the file and the field."""

    def __init__(
        self,
        path: Path | str,
        kind: str,
        version: int,
        names: Collection[str],
        *,
        oldest: int | None = None,
    ):
        """Open the file and check that it is a whole Fairlead archive of this kind.

        Args:
            path: The file.
            kind: The required kind of file, for example "network".
            version: The required schema version of this kind.
            names: Arrays that a file of this kind may have.
            oldest: Earliest version that is read, too; None for `version` alone.

        Raises:
            InputError: The file is missing, truncated, foreign, of another kind or version, would
                unpack to too much, or has an array of another name.
        """
        self.path = Path(path)
        self._arrays = ArchiveArrays(self.path)
        self.meta = self._arrays.header()
        found = self.meta.get("kind")
        if self.meta.get("format") != FORMAT or not isinstance(found, str):
            raise self.error("meta", "is not a Fairlead header")
        if found != kind:
            raise self.error("meta.kind", f"expected a {kind} file, got {found!r}")
        stored = self.meta.get("version")
        known = range(version if oldest is None else oldest, version + 1)
        if isinstance(stored, bool) or stored not in known:
            wanted = " or ".join(map(str, known))
            raise self.error(
                "meta.version", f"expected {wanted}, got {stored!r}; make the file again"
            )
        unknown = sorted(self._arrays.names - {"meta", *names})
        if unknown:
            raise self.error(unknown[0], f"is no array of a {kind} file")

    def __contains__(self, name: object) -> bool:
        """Whether the file has an array of this name."""
        return name in self._arrays.names

    def error(self, field: str, problem: str) -> InputError:
        """An error that names this file and the field."""
        return InputError(f"{self.path}: {field}: {problem}")

    def array(
        self,
        name: str,
        shape: tuple[int, ...],
        check: Callable[[Any], Any] | None = None,
        *,
        is_whole: bool = False,
    ) -> npt.NDArray[Any]:
        """Return one array after checking its shape and kind of number, before it is unpacked.

        Args:
            name: Its name in the archive.
            shape: The shape it must have; -1 stands for any length.
            check: Returns a truth value per element; one false value is an error.
            is_whole: Whether only integers are accepted.

        Raises:
            InputError: The array is missing, has another shape, is not numeric, or fails `check`.
        """
        if name not in self:
            raise self.error(name, "is missing")
        found = self._arrays.form(name)
        fits = len(found.shape) == len(shape) and all(
            want in (-1, have) for want, have in zip(shape, found.shape, strict=True)
        )
        if not fits:
            raise self.error(name, f"expected shape {shape}, got {found.shape}")
        if found.dtype.kind not in ("iu" if is_whole else "iuf"):
            wanted = "whole numbers" if is_whole else "numbers"
            raise self.error(name, f"expected {wanted}, got {found.dtype}")
        values = self._arrays.array(name)
        if check is not None and not np.all(check(values)):
            raise self.error(name, "holds a value outside its range")
        return values

    def meta_field(self, name: str, *kinds: type) -> Any:
        """Return one header field after checking that its type is one of these.

        A whole number is a number, too, and True is neither.
        """
        if name not in self.meta:
            raise self.error(f"meta.{name}", "is missing")
        value = self.meta[name]
        accepted = (*kinds, int) if float in kinds else kinds
        if not isinstance(value, accepted) or isinstance(value, bool):
            wanted = " or ".join(_IN_JSON[kind] for kind in kinds)
            raise self.error(f"meta.{name}", f"expected {wanted}, got {value!r}")
        return value
