# SPDX-License-Identifier: Apache-2.0
"""What a run of a program has created and changed in its working folder, by names and sizes."""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Collection, Mapping
from pathlib import Path

from fairlead.files.package_folders import found_in_package
from fairlead.units import format_size

__all__ = ["FolderChanges", "changes_since", "exclusive_files", "files_in", "find_library_of_files"]

MOST_FILES = 10_000
"""Files that are compared, those nearest to the working folder first: some 0.1 s."""

MOST_NAMED = 3

_OURS = ".fairlead-"
"""How folders begin that Fairlead makes in a working folder."""

Files = Mapping[str, tuple[int, int]]
"""Size and time of the last change of each file, by its path from the folder."""


@dataclasses.dataclass(frozen=True)
class FolderChanges:
    """What differs between two looks at a folder.

    Attributes:
        created: Size in bytes of each new file.
        changed: The same of each file that was there and has another size or time.
    """

    created: Mapping[str, int]
    changed: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.created or self.changed)

    def line(self) -> str:
        """Both in one line, with the first names."""
        counts = [
            f"{verb} {len(files)} file{'s' if len(files) > 1 else ''}"
            for verb, files in (("created", self.created), ("changed", self.changed))
            if files
        ]
        sizes = [*sorted(self.created.items()), *sorted(self.changed.items())]
        named = [f"{name} ({format_size(size)})" for name, size in sizes[:MOST_NAMED]]
        rest = len(sizes) - len(named)
        more = f" and {rest} more" if rest else ""
        return f"{' and '.join(counts)} in the working folder: {', '.join(named)}{more}"


def files_in(folder: Path, ignored: Collection[Path] = ()) -> Files:
    """Files in a folder and below it, at most `MOST_FILES`; links to folders are not followed.

    Args:
        folder: The folder.
        ignored: Folders and files that are left out, as those of Fairlead's own records.
    """
    left_out = {str(path.absolute()) for path in ignored}
    found: dict[str, tuple[int, int]] = {}
    folders = deque([str(folder.absolute())])
    start = len(folders[0].rstrip("/")) + 1
    while folders and len(found) < MOST_FILES:
        for entry in _entries(folders.popleft()):
            if entry.path in left_out or entry.name.startswith(_OURS):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # Removed a moment ago.
                continue
            found[entry.path[start:]] = (status.st_size, status.st_mtime_ns)
            if len(found) == MOST_FILES:
                break
    return found


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # It may not be read, or was removed.
        return []


def changes_since(before: Files, now: Files) -> FolderChanges:
    """What is new in the second look at a folder, and what has another size or time."""
    # Where the bound was reached, a file that seems new may only have been beyond it.
    is_whole = len(now) < MOST_FILES
    created = {name: size for name, (size, _) in now.items() if name not in before and is_whole}
    changed = {
        name: size
        for name, (size, at_ns) in now.items()
        if name in before and before[name] != (size, at_ns)
    }
    return FolderChanges(created, changed)


def find_library_of_files() -> Path | None:
    """The library that notes what a program creates with O_EXCL; None if it was not built."""
    found = found_in_package("_preload/libfairlead_files.so")
    return found[0] if found else None


def exclusive_files(notes: Path, folder: Path) -> tuple[str, ...]:
    """Files below a folder that a program created with O_EXCL and left there.

    Args:
        notes: What the library has noted; it may be missing.
        folder: The working folder.
    """
    try:
        lines = os.fsdecode(notes.read_bytes()).splitlines()
    except OSError:
        return ()
    start = f"{folder.absolute()}{os.sep}"
    paths = {os.path.normpath(line) for line in lines}
    names = (path.removeprefix(start) for path in paths if path.startswith(start))
    there = (name for name in names if not name.startswith(_OURS) and (folder / name).exists())
    return tuple(sorted(there))
