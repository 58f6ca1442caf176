"""From a declaration to code: the text of ``call`` and ``backward`` for one op.

Generated, because a forward call costs 0.7 microseconds this way and four with generic
code; text, because the result then reads like hand-written code (``gradstep ops NAME
--code``) and shows in tracebacks.  Equal texts are compiled once.
"""

from __future__ import annotations

import linecache
from types import CodeType
from typing import Any, Final

import numpy as np

from autograd_core.autograd.accumulate import only_here
from autograd_core.autograd.double_backward import differentiate
from autograd_core.autograd.node import GENERAL, TWO_EDGES, TWO_REDUCED, Node
from autograd_core.dtype import float32
from autograd_core.op.blocks import LARGE, in_blocks
from autograd_core.op.generic import NAMESPACE, SavedNode
from autograd_core.op.inspect import saved_attributes
from autograd_core.op.literals import as_passes, inlined
from autograd_core.op.record import REQUIRED, Op
from autograd_core.op.templates import backward_text, call_text, reduces_rarely
from autograd_core.op.variadic import variadic_call

_compiled: dict[str, CodeType] = {}
_FIRST_CALL: Final = compile(
    "def call(*args, **kwargs): return first_call(op)(*args, **kwargs)", "<op first call>", "exec"
)


def prepare(op: Op) -> None:
    """Give ``op`` its call, and a way to its node class; both are made when they first run, as
    making them for all ops would double the time an import takes."""
    _check_slots(op)
    op.make_node_class = _node_class
    call: Any
    if op.variadic:
        call = variadic_call(op)
    else:
        namespace: dict[str, Any] = {"op": op, "first_call": _first_call}
        exec(_FIRST_CALL, namespace)
        call = namespace["call"]
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(call, attribute, getattr(op.function, attribute))
    call.__wrapped__ = op.function
    call.op = op
    op.call = call


def code_text(op: Op) -> str:
    """Return what ``op`` is compiled to, for reading."""
    texts = [] if op.variadic else [call_text(op)]
    return "\n".join([*texts, backward_text(op)] if op.edges else texts)


def _namespace(op: Op) -> dict[str, Any]:
    """Return the globals of an op's code: what all ops share, and what belongs to this one."""
    rules = {f"rule_{edge}": rule.function for edge, rule in op.rules.items()}
    defaults = {f"default_{k}": v for k, v in op.attributes.items() if v is not REQUIRED}
    namespace = dict(NAMESPACE, op=op, kernel=op.kernel, Node=op.node_class, **rules, **defaults)
    if reduces_rarely(op):
        namespace["Reducing"] = op.node_class.reducing
    if op.joint:
        namespace["joint"] = op.joint.function
    return namespace


def _first_call(op: Op) -> Any:
    """Put the real code in place of the one that led here; the function stays the same."""
    namespace = _namespace(op)
    exec(_code(call_text(op), "call"), namespace)
    compiled, call = namespace["call"], op.call
    call.__globals__.update(namespace, call=call)
    call.__defaults__, call.__kwdefaults__ = compiled.__defaults__, compiled.__kwdefaults__
    call.__code__ = compiled.__code__.replace()  # of its own, as Python tunes it to its globals
    return call


def _first_backward(node: Any, g: Any, keep: bool) -> Any:
    """Return the ``backward`` of every node class until it first runs."""
    op = node.op
    namespace = dict(_namespace(op), float32=float32, LARGE=LARGE, only_here=only_here)
    for edge, rule in op.rules.items():
        namespace[f"rule_{edge}"] = rule.on_arrays
        namespace[f"spending_{edge}"] = rule.spending
        body = inlined(op, edge, rule.names)
        for name, number in body[1].items() if body is not None else ():
            namespace[name] = np.array(number, np.float32)
        namespace[f"rule_{edge}_in_blocks"] = as_passes(op, edge) or in_blocks(rule.function)
    exec(_code(backward_text(op), "backward"), namespace)
    backward = op.node_class.backward = namespace["backward"]
    backward.__code__ = backward.__code__.replace()
    return node.backward(g, keep)


def _code(text: str, name: str) -> CodeType:
    code = _compiled.get(text)
    if code is None:
        file = f"<op {name} {len(_compiled)}>"  # many ops share it, so it has no op's name
        code = _compiled[text] = compile(text, file, "exec")
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return code


# Names no saved value may bear; some of Node's are there to be slots of its subclasses.
_TAKEN: Final = frozenset(dir(Node)) - {"all_edges", "i1", "output_count", "to"}


def _check_slots(op: Op) -> None:
    clash = sorted(_TAKEN.intersection([*op.saved, *op.saved_plain]))
    if clash:
        raise TypeError(f"{op.name}: nodes already have {', '.join(clash)}; rename the input")


def _node_class(op: Op) -> type[Node]:
    kind = op.kind
    slots = [*op.saved, *op.saved_plain, *(f"{name}_version" for name in op.saved)]
    if kind == GENERAL:
        slots.append("all_edges")
    elif kind >= TWO_EDGES:
        slots.append("i1")
    if op.reduces and not reduces_rarely(op):
        slots.append("to")
    if op.materializes:
        slots.append("output_shapes")
        slots.append("output_count")
    body = {
        "__slots__": tuple(slots),
        "kind": kind,
        "op": op,
        "__module__": __name__,
        "inplace_node": op.inplace_node,
        "ported": op.materializes,
        "backward": _first_backward,
        "backward_graph": differentiate,
        **saved_attributes(op),
    }
    name = op.node_name.rpartition("::")[2]
    node_class = type(name, (SavedNode,), body)
    if reduces_rarely(op):  # the slot would take 16 bytes of the nodes that do not
        body = {"__slots__": ("to",), "kind": TWO_REDUCED, "__module__": __name__}
        node_class.reducing = type(name, (node_class,), body)  # type: ignore[attr-defined]
    return node_class
