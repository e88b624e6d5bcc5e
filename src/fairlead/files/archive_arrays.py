# SPDX-License-Identifier: Apache-2.0
"""The arrays of a NumPy archive, each unpacked only when it is needed and not too large."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.whole_file import MOST_BYTES, read_bytes

__all__ = ["ArchiveArrays", "Form"]

_SUFFIX = ".npy"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class Form(NamedTuple):
    """The header of an array, read before any of its numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ArchiveArrays:
    """An archive as it is on disk.

    Attributes:
        names: Names of its arrays.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        """Read the file, but unpack nothing.

        Args:
            path: The file.
            most_bytes: To which it may unpack.

        Raises:
            InputError: It is missing, not an archive, or would unpack to too much.
        """
        self._path = path
        data = read_bytes(path)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        # A damaged archive makes the reader of zip raise errors of many kinds.
        except Exception as error:
            raise InputError(f"{path}: damaged or not a NumPy archive: {error}") from error
        entries = self._zip.infolist()
        self.names = frozenset(entry.filename.removesuffix(_SUFFIX) for entry in entries)
        if len(self.names) < len(entries):
            raise InputError(f"{path}: damaged: holds two arrays of one name")
        if sum(entry.file_size for entry in entries) > most_bytes:
            raise InputError(f"{path}: its arrays take more than {most_bytes} bytes")

    def form(self, name: str) -> Form:
        """Shape and type of an array; InputError where it is damaged or holds Python objects."""
        found: Form = self._read(name, self._check_form)
        return found

    def array(self, name: str) -> npt.NDArray[Any]:
        """An array; InputError where it is damaged or holds Python objects."""
        self.form(name)
        values: npt.NDArray[Any] = self._read(name, _numbers)
        return values

    def header(self) -> dict[str, Any]:
        """The JSON object `meta`; InputError where there is none."""
        if "meta" not in self.names:
            raise InputError(f"{self._path}: meta: is missing: not a Fairlead file")
        form = self.form("meta")
        if form.shape != () or form.dtype.kind != "U":
            raise InputError(f"{self._path}: meta: is not a text")
        try:
            header = json.loads(str(self.array("meta")[()]))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self._path}: meta: is not JSON: {error}") from error
        if not isinstance(header, dict):
            raise InputError(f"{self._path}: meta: is not a JSON object")
        return header

    def _read(self, name: str, read: Callable[[IO[bytes]], Any]) -> Any:
        try:
            with self._zip.open(self._entry(name)) as stream:
                return read(stream)
        except InputError:
            raise
        # A damaged array makes the readers of deflate and npy raise errors of many kinds.
        except Exception as error:
            raise InputError(f"{self._path}: {name}: is damaged: {error}") from error

    def _entry(self, name: str) -> zipfile.ZipInfo:
        names = self._zip.NameToInfo
        return names.get(name + _SUFFIX) or names[name]

    def _check_form(self, stream: IO[bytes]) -> Form:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of an array is unknown")
        shape, _, dtype = _HEADERS[version](stream)
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which Fairlead never reads")
        # NumPy allocates the size that the header claims before it reads the numbers.
        claimed = math.prod(shape) * dtype.itemsize
        if claimed > MOST_BYTES:
            raise ValueError(f"its header claims {claimed} bytes")
        return Form(shape, dtype)


def _numbers(stream: IO[bytes]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return values
