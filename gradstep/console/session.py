"""A session that also takes commands as text: what users, the screen and the console drive."""

from __future__ import annotations

from collections.abc import Callable
from weakref import proxy

from gradstep.console import open_console
from gradstep.console.completing import complete
from gradstep.debugger.errors import CommandError
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Reply


class Session(PassSession):
    """Debug one backward pass, and the passes that start inside it.

    >>> import gradstep
    >>> import autograd_core as torch
    >>> a = torch.tensor(2.0, requires_grad=True)
    >>> session = gradstep.Session(a * a + a)
    >>> print(session.do("next").text)
    #2 mul:1  MulBackward0  g · a, g · a
    >>> session.finish()
    >>> a.grad
    tensor(5.)

    Every method that moves ends at the first breakpoint on its way, forwards and backwards; only
    :meth:`jump` and :meth:`restart` pass them.

    Going back undoes what a pass of the core did to the program. PyTorch's goes back in its record
    only: there, ``.grad`` of a tensor stays as the engine left it, and :attr:`snapshot` tells what
    it was.

    A session that is dropped before :meth:`finish` or :meth:`abort` ends its pass where it stands.

    Args:
        roots: the tensors to call ``backward`` on; scalars, unless ``gradient`` is given.
        gradient, retain_graph, create_graph: as ``backward`` takes them.
        names: names of tensors; by default the variables of the calling program.
        call: the number of this backward call in the program, from 1.
        breakpoints: where to stop. Pass them from session to session to keep them.
        timeline: the earlier calls; this one is added when it finishes.
        history_bytes: the memory limit of the recording; steps beyond it are recomputed when
            needed.
        keep_graph: keep the graph that PyTorch would free on the way until the end, so that the
            pass can continue differently. The core always does.
        measured: a profile of the forward pass; by default the active one.
        driver: what tells of the call, where it has run; for internal use.

    Raises:
        NotInGraph: a root is no tensor.
        RuntimeError: as ``backward`` does.

    Attributes:
        call: the number of this call, from 1. Calls of ``backward`` and ``grad`` count separately.
        kind: "backward" or "grad".
        breakpoints: where to stop.
        timeline: the finished calls of the program.
    """

    _carry_out: Callable[[str, str], Reply] | None = None

    def do(self, line: str) -> Reply:
        """Run one command, such as ``next 10``. An empty line repeats the last one.

        Raises:
            CommandError: it is no command, or cannot be carried out.
        """
        reply = self.reply(line)
        if reply.error:
            raise CommandError(reply.text)
        return reply

    def reply(self, line: str, place: str = "") -> Reply:
        """Do the same for a front end: what is wrong with the line comes back as an error, never
        raised. ``place`` is the location of a line that was read from a file.
        """
        if self._carry_out is None:
            self._carry_out = open_console(proxy(self)).do  # a cycle would keep the graph alive
        return self._carry_out(line, place)

    def complete(self, line: str, column: int) -> list[str]:
        """Return completions for the word before ``column`` of a command line."""
        return complete(self, line, column)
