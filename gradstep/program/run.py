"""Runs TARGET up to the graph that it leads to: the one place where every command begins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gradstep.capturing.names import Names
from gradstep.contract.budget import BUDGET, Budget
from gradstep.contract.lookup import UnreadablePyTorch, engine_of, is_tensor, unreadable
from gradstep.contract.tracing import Values, trace
from gradstep.guest.fence import has_failed, tell_anew
from gradstep.program.calls import (
    CallSelector,
    Handle,
    InterceptedCall,
    LastCall,
    Look,
    intercepting,
)
from gradstep.program.errors import (
    BadTarget,
    NeedsArguments,
    ProgramError,
    ScriptDone,
    ScriptExited,
    ScriptFailed,
)
from gradstep.program.process import (
    import_module,
    load_module,
    run_as_main,
    script_process,
    user_code,
)
from gradstep.program.roots import attribute, evaluate, last_scalars
from gradstep.program.target import Target, require_file
from gradstep.records import Gradients


class Found(NamedTuple):
    """A tensor with a graph, what leads to it, the names of the tensors around it, and whether
    ``backward()`` was called in a thread that nobody follows."""

    root: Any
    target: Target
    names: Names
    in_thread: bool = False

    def require_runnable(self) -> None:
        """See that ``root.backward()`` could run.

        Raises:
            ProgramError: it starts from several numbers, or its graph is freed.
        """
        shape = list(self.root.shape)
        if prod(shape) != 1:
            raise ProgramError(
                f"{self.target} has the shape {shape}, and backward() starts from a scalar",
                remedy="name one, such as its sum()",
            )
        self.require_kept()

    def require_kept(self) -> None:
        """See that a backward pass from the tensor could run.

        Raises:
            ProgramError: an earlier one has freed what it would need.
        """
        if is_freed(self.root):
            if self.in_thread:
                raise ProgramError(
                    "the script ended without calling backward() in its main thread, and a call in "
                    f"another one freed the graph of {self.target.name}",
                    remedy="call backward() in the main thread",
                )
            raise ProgramError(
                f"{self.target}: its graph was freed by an earlier backward pass",
                remedy="call that pass with retain_graph=True, or name it by --call",
            )


T = TypeVar("T")
Failure = ScriptFailed | ScriptExited | KeyboardInterrupt


class Ran(NamedTuple):
    """A program that ran: the tensor to look at where none of its calls was handled, and how it
    failed, None where it ended in good order, or was ended by ``handle``."""

    found: Found | None = None
    failure: Failure | None = None

    def last(self, seen: LastCall[T]) -> T:
        """Return what was made of the last call.

        Raises:
            ProgramError, KeyboardInterrupt: no call ran to its end.
        """
        if seen.made is None:
            raise self.failure or ProgramError(
                f"call {seen.begun} {seen.failed}, so there is nothing to draw"
            )
        return seen.made


def chosen_call(target: Target, text: str | None) -> CallSelector:
    """Return the calls that ``--call`` asks for: by default the first, of a recording the first
    that it has in full.

    Raises:
        ProgramError: the text is no such thing, or the recording cannot be read.
    """
    if text is None and target.is_recording:
        from gradstep.program.recorded_calls import first_in_full  # as in run_target

        require_file(target)
        return first_in_full(Path(target.place))
    return CallSelector.parse(text or "1")


def run_target(
    target: Target,
    arguments: list[str],
    requested: CallSelector,
    handle: Handle,
    *,
    values: Values = False,
    budget: Budget | None = None,
    end: bool = True,
    ours: tuple[type[Exception], ...] = (),
    look: Look | None = None,
    defers: bool = False,
    rests: Callable[[], bool] | None = None,
) -> Ran:
    """Run ``target`` with ``arguments``, and hand its requested backward calls to ``handle``.

    Args:
        requested: which calls of a script or module that is run whole.
        values: keep the values of the forward pass; see :func:`~gradstep.trace`.
        budget: what these may take; by default 1 GiB.
        end: end the program after a call that was requested by its number.
        look: may carry out a call first, so that it is not handed to ``handle``.
        defers: make records of ops only when they are needed, as where ``look`` finds something.
        rests: says whether lines and modules need not be noted in every call.
        ours: exceptions of ``handle`` that are not the user's, and end the program.

    Returns:
        How the program ended after calls were handled; else the tensor that ``target`` names, or
        the one scalar that a program without such calls leaves behind.

    Raises:
        ProgramError: the program failed before any call was handled, or leads to no graph.
    """
    tell_anew()
    require_file(target)
    if target.is_recording:
        # a plain run need not wait for what reads files
        from gradstep.program.recorded_calls import go_through

        refuse_arguments(target, arguments)
        go_through(Path(target.place), requested, handle)
        return Ran()
    if target.name:
        with trace(values=values, budget=budget or BUDGET):
            return Ran(find_named(target, arguments))

    def handle_and_end(intercepted: InterceptedCall) -> bool | Gradients:
        answer = handle(intercepted)
        if end and requested.is_over(intercepted.number):
            raise ScriptDone
        return answer

    variables: dict[str, Any] = {}
    failure: Failure | None = None
    with intercepting(
        handle_and_end, requested, values=values, budget=budget, ours=ours, look=look,
        defers=defers, rests=rests,
    ) as calls:  # fmt: skip
        try:
            variables = run_as_main(target, arguments)
        except (ScriptFailed, ScriptExited, KeyboardInterrupt) as error:
            if not calls.handled:
                raise
            failure = None if calls.done else error  # it may only have stumbled over its end
    if calls.handled:
        return Ran(failure=failure)
    calls.require_requested()
    if problem := unreadable():
        raise UnreadablePyTorch(problem)
    if has_failed() and not any(calls.counts.values()):
        raise ProgramError(f"no call of {target} was seen, because of what failed above")
    name, scalar = single_scalar(variables, calls.counts["grad"])
    if calls.counts["grad"] and is_freed(scalar):
        raise ProgramError(
            f"the script ended without calling backward(), and autograd.grad() freed the graph of "
            f"{name}",
            remedy="--call grad:1 takes the first call of autograd.grad()",
        )
    target = target._replace(name=name)
    return Ran(Found(scalar, target, Names(variables), calls.told_of_thread))


def refuse_arguments(target: Target, arguments: list[str]) -> None:
    """See that nobody means to pass arguments to a recording.

    Raises:
        BadTarget: somebody does.
    """
    if arguments:
        raise BadTarget(f"{target} is a recording and takes no arguments: omit {arguments[0]}")


def is_freed(root: Any) -> bool:
    """Return whether a backward pass has freed values that the graph of ``root`` saved."""
    engine = engine_of([root])
    return any(node.is_freed for node in engine.reading.plan(engine.reading.tensors([root])).order)


def find_named(target: Target, arguments: list[str]) -> Found:
    """Return the tensor that ``target`` names; imports its module, without running a main part.

    Raises:
        ProgramError: there is no such name; it is not a tensor, not a function that returns one
            and not a module with ``sample_inputs``; or the tensor has no graph.
    """
    require_file(target)
    tensor = None
    with script_process(target, arguments):
        module = load_module(target.path) if target.path else import_module(target.place)
        value = attribute(module, target.name, target.place)
        with user_code():
            try:
                tensor = evaluate(value)
            except NeedsArguments as error:
                raise ProgramError(f"{target} {error.what}", remedy=error.remedy) from None
    if not is_tensor(tensor):
        raise ProgramError(
            f"{target} is {_described(tensor)}",
            remedy="name a tensor, a function that returns one, or a module with sample_inputs",
        )
    if not tensor.requires_grad:
        raise ProgramError(
            f"{target} has no graph: nothing that it was computed from requires a gradient",
            remedy="set requires_grad=True on a leaf, and check for no_grad() and detach()",
        )
    return Found(tensor, target, Names({**vars(module), target.name: tensor}))


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def single_scalar(namespace: Mapping[str, Any], grads: int = 0) -> tuple[str, Any]:
    """Return the one scalar with a graph that a script without ``backward()`` leaves behind.

    Scalars that others were computed from do not count.  ``grads`` is how often the script called
    ``autograd.grad()``, which is then offered instead.

    Raises:
        ProgramError: there is none, or several.
    """
    last = last_scalars(namespace)
    if len(last) == 1:
        return next(iter(last.items()))
    ended = "the script ended without calling backward() in its main thread, and left"
    times = "once" if grads == 1 else f"{grads} times"
    offer = f"; it called autograd.grad() {times}: --call grad:1 takes the first" if grads else ""
    if not last:
        remedy = f"name a tensor, as in file.py:loss{offer}"
        if any(name.startswith("multiprocessing.popen_") for name in sys.modules):
            remedy += (
                "; the processes that it started ran without gradstep: start them with "
                "torchrun --no-python gradstep ..."
            )
        raise ProgramError(f"{ended} no scalar with a graph in a global variable", remedy=remedy)
    raise ProgramError(
        f"{ended} several scalars with a graph: {', '.join(last)}",
        remedy=f"name one, as in file.py:{next(iter(last))}{offer}",
    )
