"""Traces what a program runs: of a library that is imported already at once, else when it is.

This imports no library, and nothing that needs one.
"""

from __future__ import annotations

import atexit
import gc
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Literal

from gradstep.contract.budget import BUDGET, Budget
from gradstep.contract.lookup import is_imported
from gradstep.contract.registry import TRACING, load
from gradstep.guest.collector import collector_paused
from gradstep.guest.fence import fenced, fenced_context, within_fence

Values = bool | Literal["core"]


@contextmanager
def trace(
    values: Values = False,
    budget: int | Budget = BUDGET,
    *,
    defers: bool = False,
    lines: bool = True,
) -> Iterator[None]:
    """Record the scope and source line of each op that runs inside, for pictures and debuggers.

    Args:
        values: also describe every result (root mean square, extrema, NaN), and copy every input of
            an op with a gradient, so that its rule can be checked; otherwise only single numbers
            are kept. "core" does this for the ops of gradstep's own engine only. It keeps
            references to results, describes them on demand, and copies only values that are changed
            in place. Ops of PyTorch need a dispatch mode, which steps aside in what
            ``torch.compile`` compiles.
        budget: the memory limit of the copies in bytes; 1 GiB by default.
        defers: only note what ran, and make records when somebody reads one. This costs half as
            much where nobody does; names of constants in functions that have returned are lost, and
            the rounds of loops.
        lines: also note the lines of PyTorch's ops. That takes a mode, which has to end where it
            began: not within another one.
    """
    options = {"values": values, "budget": budget, "defers": defers, "lines": lines}
    with ExitStack() as stack:

        def begin(library: str, home: str) -> None:
            graphs = f"the graphs of {library}"
            with within_fence(graphs):
                stack.enter_context(fenced_context(graphs, load(home)(**options)))

        for library, home in TRACING.items():
            stack.enter_context(following(library, partial(begin, library, home)))
        yield


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Name the ops inside in pictures and addresses. Without tracing, this costs nothing."""
    with ExitStack() as stack:
        for home in TRACING.values():
            module = sys.modules.get(home.partition(":")[0])
            if module is not None:
                stack.enter_context(module.scope(name))
        yield


@contextmanager
def following(library: str, then: Callable[[], None], *, freezes: bool = True) -> Iterator[None]:
    """Call ``then`` once the program has imported a library: now, or while this lasts.

    The garbage collector ``freezes`` what there is when it was imported.
    """
    if is_imported(library):
        then()
        yield
        return
    finder = _AfterImport(library, then, freezes)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


def _unfreeze() -> None:
    """Let Python free everything when it ends, where Triton would report the rest as leaked."""
    if "triton" in sys.modules:  # else it need not look through all that PyTorch has
        gc.unfreeze()


class _AfterImport:
    """A finder of modules that calls ``then`` when a library has been imported."""

    def __init__(self, library: str, then: Callable[[], None], freezes: bool) -> None:
        self._library = library
        self._then = then
        self._freezes = freezes
        self._looking = False

    @fenced("the graphs of a library")
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._library or self._looking:
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
            loader.exec_module = load
            with collector_paused():
                load(module)
                if self._freezes:
                    # What a library has made by now lives until the process ends.  Unfrozen, what
                    # torch has is looked through again and again, last of all when Python ends, for
                    # a third of a second.
                    gc.freeze()
                    atexit.register(_unfreeze)
            if is_imported(name):
                self._then()

        loader.exec_module = exec_module
        return spec
