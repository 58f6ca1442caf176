"""The subject of a picture: the graph of whatever :func:`gradstep_viz.render` was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from gradstep.capturing import capture
from gradstep.capturing.names import caller_names
from gradstep.contract.lookup import is_root, is_tensor
from gradstep.contract.tracing import trace
from gradstep.graph import Graph, NotInGraph
from gradstep.graph.model import View
from gradstep.program.errors import NeedsArguments
from gradstep.program.roots import evaluate
from gradstep.records import Profile
from gradstep_viz.errors import NothingToDraw

if TYPE_CHECKING:
    from gradstep.console.session import Session


class PictureSubject(NamedTuple):
    """A graph; ``position`` is the order of the node that a debugger runs next."""

    graph: Graph
    position: int | None = None


def subject_of(
    obj: Any, view: View, inputs: Any = None, measured: Profile | None = None
) -> PictureSubject:
    """Find what is drawn of ``obj``: a graph, a session, a tensor or several, or a module or
    function, which is called with ``inputs``; a profile adds what it has measured.

    Raises:
        NothingToDraw: it has no graph, or cannot be called so, or nothing that it returns has one.
    """
    if isinstance(obj, Graph):
        return PictureSubject(obj)
    if is_session(obj):
        return PictureSubject(graph_of_session(obj, view), obj.position)
    if is_root(obj) or isinstance(obj, (tuple, list)):
        with drawable():
            return PictureSubject(capture(obj, view, profile=measured, lazy=True))
    if not callable(obj):
        raise NothingToDraw(
            f"cannot draw {type(obj).__name__}",
            remedy="pass a tensor or several, a module with its inputs, a graph or a session",
        )
    given = inputs if isinstance(inputs, Mapping) else {"inputs": inputs}
    names = caller_names({"": obj, **given})
    with trace():
        try:
            result = evaluate(obj) if inputs is None else _call(obj, inputs)
        except NeedsArguments as error:
            missing = ", ".join(error.missing)
            raise NothingToDraw(
                f"{_name_of(obj)} needs arguments ({missing})",
                remedy="pass them as inputs: a tensor, a tuple, or a dictionary by name",
            ) from None
    roots = list(dict.fromkeys(_with_graph(result)))
    if not roots:
        raise NothingToDraw(
            f"nothing that {_name_of(obj)} returns has a graph",
            remedy="give a parameter or an input requires_grad=True",
        )
    title = _name_of(obj)
    return PictureSubject(capture(roots, view, names=names, title=title, profile=measured))


@contextmanager
def drawable() -> Iterator[None]:
    """Say of what has no graph that it cannot be drawn."""
    try:
        yield
    except NotInGraph as error:
        raise NothingToDraw(str(error)) from None


def is_session(obj: Any) -> TypeGuard[Session]:
    """Tell whether ``obj`` is a debugger's session; this does not load the debugger."""
    return any(kind.__module__ == "gradstep.debugger.pass_session" for kind in type(obj).__mro__)


def graph_of_session(session: Session, view: View) -> Graph:
    """Capture the pass that a session is in, with the gradients that have flowed so far."""
    # a session has loaded the debugger; other pictures should not wait for it
    from gradstep.debugger.history.observed_pass import graph_of_call

    return graph_of_call(
        session.backward_call,
        view,
        session.names,
        session.described(),
        session.order,
        session.effects,
    )


def _name_of(obj: Any) -> str:
    name: str = getattr(obj, "__name__", type(obj).__name__)
    return name


def _call(function: Any, inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        return function(**inputs)
    return function(*inputs) if isinstance(inputs, (tuple, list)) else function(inputs)


def _with_graph(result: Any) -> Iterator[Any]:
    """Yield the tensors in ``result`` that a backward pass could start from, in their order."""
    waiting = [result]
    while waiting:
        value = waiting.pop()
        if is_tensor(value):
            if value.requires_grad:
                yield value
        elif isinstance(value, Mapping):
            waiting += reversed(list(value.values()))
        elif isinstance(value, (tuple, list)):
            waiting += reversed(value)
