# SPDX-License-Identifier: Apache-2.0
"""NumPy archives with a checked JSON header, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError

FORMAT = "fairlead"

_IN_JSON = {
    dict: "an object",
    list: "a list",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


@contextlib.contextmanager
def replacing(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary neighbour of `path` that takes its name only when the block succeeds.

    A symbolic link stays, and what it points to is replaced. What is no regular file, a device or
    a FIFO, is written to directly.

    Args:
        path: The file to write.
        mode: "w" for text in UTF-8, "wb" for bytes.

    Raises:
        InputError: The folder is missing, or the disk is full or not writable.
    """
    path = Path(path)
    encoding = None if "b" in mode else "utf-8"
    try:
        if path.exists() and not path.is_file():
            with path.open(mode, encoding=encoding) as stream:
                yield stream
        else:
            with _neighbour(Path(os.path.realpath(path)), mode, encoding) as stream:
                yield stream
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _neighbour(path: Path, mode: str, encoding: str | None) -> Iterator[IO[Any]]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, mode, encoding=encoding) as stream:
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
    with replacing(path) as stream:
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
    with replacing(path, "wb") as stream:
        np.savez_compressed(stream, meta=np.array(json.dumps(header)), **arrays)


class Archive:
    """One archive read from disk, with checks that name the file and the field."""

    def __init__(self, path: Path | str, kind: str, version: int):
        """Read the file and check that it is a whole Fairlead archive of this kind.

        Raises:
            InputError: The file is missing, truncated, foreign, of another kind or version.
        """
        self.path = Path(path)
        self.arrays = self._read()
        self.meta = self._header()
        found = self.meta.get("kind")
        if self.meta.get("format") != FORMAT or not isinstance(found, str):
            raise self.error("meta", "is not a Fairlead header")
        if found != kind:
            raise self.error("meta.kind", f"expected a {kind} file, got {found!r}")
        stored = self.meta.get("version")
        if stored != version or isinstance(stored, bool):
            raise self.error(
                "meta.version", f"expected {version}, got {stored!r}; make the file again"
            )

    def _read(self) -> dict[str, npt.NDArray[Any]]:
        try:
            data = io.BytesIO(self.path.read_bytes())
        except FileNotFoundError as error:
            raise InputError(f"{self.path}: no such file") from error
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        try:
            archive = np.load(data, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise TypeError("one array, not an archive")
            return {name: archive[name] for name in archive.files}
        # A damaged archive makes the readers of zip, deflate and npy raise errors of many kinds.
        except Exception as error:
            raise InputError(f"{self.path}: damaged or not a NumPy archive: {error}") from error

    def _header(self) -> dict[str, Any]:
        if "meta" not in self.arrays:
            raise self.error("meta", "is missing: not a Fairlead file")
        try:
            header = json.loads(str(self.arrays["meta"][()]))
        except (ValueError, RecursionError) as error:
            raise self.error("meta", f"is not JSON: {error}") from error
        if not isinstance(header, dict):
            raise self.error("meta", "is not a JSON object")
        return header

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
        """Return one array after checking its shape and kind of number.

        Args:
            name: Its name in the archive.
            shape: The shape it must have; -1 stands for any length.
            check: Returns an elementwise truth; one false value is an error.
            is_whole: Whether only integers will do.

        Raises:
            InputError: The array is missing, has another shape, is no number, or fails `check`.
        """
        if name not in self.arrays:
            raise self.error(name, "is missing")
        values = self.arrays[name]
        fits = len(values.shape) == len(shape) and all(
            want in (-1, have) for want, have in zip(shape, values.shape, strict=True)
        )
        if not fits:
            raise self.error(name, f"expected shape {shape}, got {values.shape}")
        if values.dtype.kind not in ("iu" if is_whole else "iuf"):
            wanted = "whole numbers" if is_whole else "numbers"
            raise self.error(name, f"expected {wanted}, got {values.dtype}")
        if check is not None and not np.all(check(values)):
            raise self.error(name, "holds a value outside its range")
        return values

    def meta_field(self, name: str, *kinds: type) -> Any:
        """Return one header field after checking that its type is one of these."""
        if name not in self.meta:
            raise self.error(f"meta.{name}", "is missing")
        value = self.meta[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            wanted = " or ".join(_IN_JSON[kind] for kind in kinds)
            raise self.error(f"meta.{name}", f"expected {wanted}, got {value!r}")
        return value
