# SPDX-License-Identifier: Apache-2.0
"""Loads SciPy when the command line first uses it, and not where a module names it.

SciPy takes most of the time in which the modules of a command are imported, and a command that ends
with an error, or prints its help, does not need it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from fairlead.user_signals import hold_signals

__all__ = ["import_late"]

LATE = frozenset(
    {
        "scipy",
        "scipy.cluster",
        "scipy.cluster.hierarchy",
        "scipy.sparse",
        "scipy.sparse.csgraph",
        "scipy.sparse.linalg",
        "scipy.spatial",
        "scipy.spatial.distance",
        "scipy.special",
    }
)
"""What the package names at the top of its modules; `from scipy.a import b` would load it there."""

_OF_IMPORT = frozenset(
    {"__package__", "__loader__", "__spec__", "__path__", "__file__", "__cached__"}
)
"""What the import system asks for before it sets it."""

_lock = threading.RLock()
_is_loading: set[str] = set()


def import_late() -> None:
    """Load these modules at their first use from now on; those already loaded stay as they are."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _LateModule(ModuleType):
    """A module whose attributes are not there yet.

    Unlike `importlib.util.LazyLoader` it is not loaded by a second import statement, which asks for
    its `__spec__`.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _OF_IMPORT:
            raise AttributeError(name)
        with _lock:
            if self.__name__ in _is_loading:
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
            if type(self) is _LateModule:
                _load(self)
        return getattr(self, name)


def _load(module: _LateModule) -> None:
    """Run the module, after the package that it is in."""
    package = sys.modules.get(module.__name__.rpartition(".")[0])
    if isinstance(package, _LateModule) and package.__name__ not in _is_loading:
        _load(package)
    if type(module) is not _LateModule:
        return  # The package has used it.
    assert module.__spec__ is not None
    loader = module.__spec__.loader
    assert isinstance(loader, _LateLoader)
    module.__spec__.loader = module.__loader__ = loader.real
    _is_loading.add(module.__name__)
    try:
        with hold_signals():
            loader.real.exec_module(module)
    except BaseException:
        module.__spec__.loader = loader
        raise
    finally:
        _is_loading.discard(module.__name__)
    module.__class__ = ModuleType  # type: ignore[assignment]  # mypy knows subclasses only.


class _LateLoader(importlib.abc.Loader):
    def __init__(self, real: importlib.abc.Loader) -> None:
        self.real = real

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """The module is run when it is used."""


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = sys.modules.get(name.rpartition(".")[0])
        if name not in LATE:
            # Another module of a late package is imported: it counts on what the package has done.
            if isinstance(package, _LateModule) and package.__name__ not in _is_loading:
                with _lock:
                    _load(package)
            return None
        if package is not None and (
            not isinstance(package, _LateModule) or package.__name__ in _is_loading
        ):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        spec.loader = _LateLoader(spec.loader)
        return spec
