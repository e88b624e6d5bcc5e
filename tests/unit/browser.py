# SPDX-License-Identifier: Apache-2.0
"""A browser without a screen, for tests of the report."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path


def browse(page: Path, profile: Path, *options: str) -> str:
    """What headless Chromium prints when it has opened this page and its scripts ran."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    assert browser, "this test needs Debian's package chromium"
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-dev-shm-usage", f"--user-data-dir={profile}"),
        *("--window-size=1280,3000", "--virtual-time-budget=20000", *options),
        page.as_uri(),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        output, _ = process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return output.decode()
