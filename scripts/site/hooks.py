# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation site that are made from the code, and the pages of the root folder.

MkDocs calls `on_files` and `on_page_markdown` (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

# MkDocs loads this file by its path.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from c_header import c_header_page
from command_line import command_pages
from file_formats import file_format_page
from python_api import python_page

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages that a plain view of the repository shows at its root, and their names on the site."""

_LINK = re.compile(r"(\]\()([^)#:\s]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are no files of the folder docs."""
    pages = {
        **{target: _root_page(name) for name, target in ROOT_PAGES.items()},
        **command_pages(),
        "reference/python.md": python_page(),
        "reference/c-api.md": c_header_page(ROOT / "mpi" / "include" / "fairlead.h"),
        "reference/file-formats.md": file_format_page(),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the pages of the root folder lead to their pages of the site."""

    def on_site(link: re.Match[str]) -> str:
        steps, _, name = link[2].rpartition("/")
        is_root = name in ROOT_PAGES and set(steps.split("/")) <= {"..", ""}
        # One step up leaves the folder docs, which the site does not have.
        return (
            link[1] + (steps[3:] + "/" if steps[3:] else "") + ROOT_PAGES[name]
            if is_root
            else link[0]
        )

    return markdown if page.file.generated_by else _LINK.sub(on_site, markdown)


def _root_page(name: str) -> str:
    """A page of the root folder; its links lead to pages of the site, or to no link."""

    def on_site(link: re.Match[str]) -> str:
        target = link[2]
        return link[1] + ROOT_PAGES.get(target, target.removeprefix("docs/"))

    return _LINK.sub(on_site, (ROOT / name).read_text(encoding="utf-8"))
