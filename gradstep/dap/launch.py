"""What an editor wants to run: the attributes of its launch configuration."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.dap.protocol import Body, Refused, list_in, text_in
from gradstep.program.calls import CallSelector
from gradstep.program.errors import ProgramError
from gradstep.program.run import chosen_call, refuse_arguments
from gradstep.program.target import Target, parse_target, require_file


@dataclass(frozen=True)
class Launch:
    """A program with its arguments; ``entered`` are the calls in which to stop before the first
    node, None for none, and ``grads`` says whether calls of ``autograd.grad()`` count, too."""

    target: Target
    arguments: list[str]
    entered: CallSelector | None
    grads: bool

    @property
    def followed(self) -> CallSelector:
        """The calls in which breakpoints stop."""
        return CallSelector(None, ("backward", "grad") if self.grads else ("backward",))


def read_launch(arguments: Body) -> Launch:
    """Read ``program`` or ``module``, ``args``, ``call``, ``grad`` and ``stopOnEntry``.

    Raises:
        Refused: one of them is wrong.
    """
    program, module = text_in(arguments, "program", ""), text_in(arguments, "module", "")
    if bool(program) == bool(module):
        raise Refused("name either a 'program' or a 'module' to run")
    stops = arguments.get("stopOnEntry", True)
    grads = arguments.get("grad", False)
    call = text_in(arguments, "call", "") or None
    try:
        target = parse_target(program or module, module=bool(module))
        require_file(target)
        words = list_in(arguments, "args", str)
        if target.is_recording:
            refuse_arguments(target, words)
        entered = chosen_call(target, call)
    except ProgramError as error:
        raise Refused(str(error)) from None
    if entered.last:
        raise Refused("'call': last is known only when the program has ended; give its number")
    grads = bool(grads) or "grad" in entered.kinds
    return Launch(target, words, entered if stops else None, grads)
