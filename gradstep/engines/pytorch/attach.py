"""Follows a program into PyTorch: at once where it has imported torch, else when it does.

This imports nothing of torch itself.
"""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gradstep.engines.lookup import too_old
from gradstep.graph.fence import fenced, tell
from gradstep.own_files import imported_pytorch


class _AfterTorch:
    """A finder of modules that calls ``then`` when torch has been imported."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._looking = False

    @fenced("the graphs of PyTorch")
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch" or self._looking:
            return None
        self._looking = True  # for the finders behind this one
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking = False
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            # to capture a graph, all of which this would load, needs this module
            from gradstep.graph.collector import collector_paused

            loader.exec_module = load
            with collector_paused():
                load(module)
            # What torch has made by now lives until the process ends.  Unfrozen, it is looked
            # through again and again, last of all when Python ends, for a third of a second.
            gc.freeze()
            if imported_pytorch() is module:
                self._then()

        loader.exec_module = exec_module
        return spec


@contextmanager
def attached(
    *, lines: bool = True, values: bool = False, budget: int = 0, loops: bool = True
) -> Iterator[None]:
    """While it lasts, backward calls of PyTorch are intercepted, and modules, ``lines`` and rounds
    of ``loops`` noted; with ``values``, also every op, what came out of it, and within ``budget``
    bytes what went in."""
    with ExitStack() as stack:

        def attach() -> None:
            if problem := too_old():
                tell(problem)
                return
            # loading this imports torch, which the program has done
            from gradstep.engines.pytorch.entry import intercepted
            from gradstep.engines.pytorch.noting import noting
            from gradstep.engines.pytorch.private import complaint

            if problem := complaint():
                tell(problem)

            stack.enter_context(intercepted())
            stack.enter_context(noting(lines=lines, values=values, budget=budget, loops=loops))

        if imported_pytorch() is not None:
            attach()
        else:
            finder = _AfterTorch(attach)
            sys.meta_path.insert(0, finder)
            stack.callback(_remove, finder)
        yield


def _remove(finder: _AfterTorch) -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
