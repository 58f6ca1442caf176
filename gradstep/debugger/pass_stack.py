"""The passes that are open inside each other: a hook or a custom Function may call ``backward``."""

from __future__ import annotations

from weakref import finalize, ref

from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.passes.recorded_pass import RecordedPass
from gradstep.debugger.snapshot import PassFrame

Places = dict[str, tuple[int, ...]]


class PassStack:
    """The passes from the outermost to the one in ``view``, in whose plan ``breakpoints`` lie."""

    def __init__(self, first: RecordedPass, breakpoints: Breakpoints) -> None:
        self._passes = [first]
        self._breakpoints = breakpoints
        self._bound: list[Places] = []
        self._bind()
        # they may be there for the next call, and would keep all of this one until then
        finalize(self, _unbind, ref(breakpoints), self._bound).atexit = False

    def __len__(self) -> int:
        return len(self._passes)

    @property
    def view(self) -> RecordedPass:
        """The innermost pass."""
        return self._passes[-1]

    @property
    def around(self) -> RecordedPass:
        """The pass in which the one in view was started."""
        return self._passes[-2]

    @property
    def frames(self) -> tuple[PassFrame, ...]:
        """The passes as records, the outermost first."""
        return tuple(
            PassFrame(
                depth,
                inner.title,
                inner.cursor.position,
                inner.cursor.length,
                "" if inner.call.parent is None else inner.call.parent.name(),
                inner is self.view,
            )
            for depth, inner in enumerate(self._passes)
        )

    def enter(self, index: int, number: int) -> bool:
        """View a pass that was started inside node ``index``; False if there is none."""
        nested = self.view.nested(index)
        if number >= len(nested):
            return False
        nested[number].inside = index
        self._passes.append(nested[number])
        self._bind()
        return True

    def leave(self) -> bool:
        """View the pass around this one again; False if there is none."""
        if len(self._passes) == 1:
            return False
        self._passes.pop()
        self._bind()
        return True

    def _bind(self) -> None:
        view = self.view
        self._bound[:] = [view.places]
        self._breakpoints.bind(
            view.graph, view.cursor.length, view.places, view.run_user_code, view.names
        )


def _unbind(breakpoints: ref[Breakpoints], bound: list[Places]) -> None:
    """Have breakpoints, where they are still there, let go of a plan; held until then, they would
    keep the pass, and with an error all that ran when it was raised."""
    if (there := breakpoints()) is not None:
        there.unbind(bound)
