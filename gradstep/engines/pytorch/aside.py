"""Steps aside where PyTorch traces, exports or compiles code of the program's, or runs the result.

What it makes of that code depends on the modes that are on: it compiles nothing under a dispatch
mode, inlines a function mode, and takes lines of a mode for those of the program.  So ours leave
their stacks for as long as that takes; all that runs belongs to the line that began it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, update_wrapper
from itertools import islice
from threading import get_ident
from types import FunctionType
from typing import Any, Final

from gradstep.capturing.frames import user_source
from gradstep.contract.tracing import following
from gradstep.engines.pytorch.origins import Modules, Origins
from gradstep.engines.pytorch.private import (
    COMPILES,
    RUNS,
    TRACES,
    mark_as_compiled,
    own_attributes,
    places_of,
    sequence_nr,
    skip_code,
)
from gradstep.graph.model import Source
from gradstep.guest.fence import fenced
from gradstep.guest.replaced import replaced

_ASIDE: Final = "what follows code that PyTorch traces or compiles"


@contextmanager
def stepping_aside(origins: Origins, modules: Modules) -> Iterator[None]:
    """Within it, the modes that note what this thread runs leave their stacks while PyTorch traces,
    exports or compiles; where it looks at the frames of calls, these are its own."""
    aside, thread = _Aside(origins, modules), get_ident()

    def away(run: Any, *, traces: bool) -> Any:
        def running(*given: Any, **named: Any) -> Any:
            if get_ident() != thread:
                return run(*given, **named)
            aside.leave(given, traces=traces)
            try:
                return run(*given, **named)
            finally:
                aside.come_back()

        return update_wrapper(running, run)

    def compiles(compile: Any) -> Any:
        def compiling(context: Any, function: Any) -> Any:
            compiled = compile(context, function)
            if not isinstance(compiled, FunctionType):  # a module has one inside
                return compiled
            ours = away(compiled, traces=True)
            skip_code(ours)
            mark_as_compiled(ours)
            return ours

        return update_wrapper(compiling, compile)

    with ExitStack() as stack:

        @fenced(_ASIDE)
        def wrap(
            names: Iterable[tuple[str, str]],
            wrapper: Callable[[Any], Any],
            most: int | None = None,
        ) -> None:
            for owner, name in islice(places_of(names), most):
                ours = wrapper(own_attributes(owner)[name])
                stack.enter_context(replaced(owner, name, ours))

        wrap(TRACES, partial(away, traces=True))
        wrap(RUNS, partial(away, traces=False))
        # imported when it is first needed
        compiler, wrap_it = "torch._dynamo.eval_frame", partial(wrap, COMPILES, compiles, 1)
        stack.enter_context(following(compiler, wrap_it, freezes=False))
        yield


class _Aside:
    """The modes that note what a thread runs, and how many calls they are to stay away from."""

    def __init__(self, origins: Origins, modules: Modules) -> None:
        self._origins, self._modules = origins, modules
        self.calls = 0
        self._left: list[Any] = []
        self._start: tuple[int, Source | None] = (0, None)

    @fenced(_ASIDE)
    def leave(self, given: Any = None, *, traces: bool = True) -> None:
        """Take the modes off their stacks, unless they are off; what is ``given`` may change, by
        default any tensor.  What ``traces`` looks at the frames of calls."""
        self.calls += 1
        origins = self._origins
        if self.calls > 1 or not origins.noting:
            return
        modes: list[Any] = [self._modules] if traces else []
        modes += [mode for mode in (origins.lines, origins.ops) if mode is not None]
        self._left = [mode for mode in modes if mode.step_aside(given)]
        origins.is_aside = True
        if sequence_nr is not None:
            self._start = sequence_nr(), user_source(sys._getframe(2))

    @fenced(_ASIDE)
    def come_back(self) -> None:
        """Put the modes back, after the outermost call."""
        self.calls -= 1
        if self.calls or not self._origins.is_aside:
            return
        self._origins.is_aside = False
        for mode in self._left:
            mode.come_back()
        self._left = []
        start, line = self._start
        if line is not None and sequence_nr is not None and start != sequence_nr():
            self._origins.ran(start, sequence_nr(), line)
