"""The words that expressions of the debugger may use, and what each of them means.

Predicates are interpreted: a word that does not stand here means nothing, whatever Python
makes of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from gradstep.debugger.breakpoints.predicate.arrays import BY_ELEMENT, REDUCING
from gradstep.debugger.snapshot import Value

Kind = Literal["flag", "number", "text", "shape", "texts", "tensor", "mask"]


class ExpressionSubject(Protocol):
    """The subject of an expression: a node, and one gradient at it."""

    @property
    def gradient(self) -> Value | None:
        """The gradient that a bare ``rms`` measures; None is an undefined one."""
        ...

    @property
    def ratio(self) -> float | None: ...

    def fact(self, word: str) -> Any:
        """Return one of :data:`FACTS`."""
        ...

    def tensor(self, path: str) -> Value | None:
        """Return the tensor of ``in``, ``out.1``, ``saved.self``, ``grad`` or ``weight.grad``.

        Raises:
            LookupError: there is none, in words.
        """
        ...


class Word(NamedTuple):
    """A word that a node, or the way of a gradient, gives a value to."""

    kind: Kind
    meaning: str


class Statistic(NamedTuple):
    """A word that measures a tensor."""

    kind: Kind
    meaning: str
    of: Callable[[Value], Any]


def _finite(value: Value) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = np.asarray(value.array, np.float64).ravel()
    return values[np.isfinite(values)]


def _norm(value: Value) -> float:
    stats = value.statistics
    return stats.rms * math.sqrt(stats.size - stats.nans - stats.infs)


def _mean(value: Value) -> float:
    finite = _finite(value)
    return float(finite.mean()) if finite.size else math.nan


def _denormal(value: Value) -> bool:
    array = value.array
    if not np.issubdtype(array.dtype, np.floating):
        return False
    smallest = np.finfo(array.dtype).tiny  # type: ignore[type-var]  # it is a floating dtype
    sizes = np.abs(array)
    return bool(((sizes > 0) & (sizes < smallest)).any())


STATISTICS: Final[Mapping[str, Statistic]] = {
    "nan": Statistic("flag", "some element is not a number", lambda v: v.statistics.nans > 0),
    "inf": Statistic("flag", "some element is infinite", lambda v: v.statistics.infs > 0),
    "zero": Statistic(
        "flag",
        "every element is 0",
        lambda v: v.statistics.size > 0 and v.statistics.zeros == v.statistics.size,  # or of bounds
    ),
    "denormal": Statistic("flag", "some element is so small that digits are lost", _denormal),
    "rms": Statistic("number", "root mean square", lambda v: v.statistics.rms),
    "norm": Statistic("number", "Euclidean norm", _norm),
    "mean": Statistic("number", "mean", _mean),
    "min": Statistic("number", "smallest element", lambda v: v.statistics.minimum),
    "max": Statistic("number", "largest element", lambda v: v.statistics.maximum),
    "absmax": Statistic(
        "number",
        "largest magnitude",
        lambda v: max(abs(v.statistics.minimum), abs(v.statistics.maximum)),
    ),
    "zeros": Statistic(
        "number",
        "fraction of elements that are 0",
        lambda v: v.statistics.zeros / v.statistics.size,
    ),
    "size": Statistic("number", "number of elements", lambda v: v.statistics.size),
    "shape": Statistic("shape", "as in shape == (3, 4), shape[0] > 1", lambda v: tuple(v.shape)),
    "dtype": Statistic("text", 'as in dtype == "float32"', lambda v: v.dtype),
}

OF_THE_GRADIENT: Final[Mapping[str, Word]] = {
    "undefined": Word("flag", "no gradient (None), which is not a gradient of 0"),
    "ratio": Word(
        "number",
        "rms of the gradient divided by the rms that arrived at the node that sent it: 100 "
        "means that this node's consumer in the forward pass made it 100 times larger",
    ),
}

FACTS: Final[Mapping[str, Word]] = {
    "op": Word("text", 'the op, as in addresses: op == "addmm"'),
    "name": Word("text", 'its name in PyTorch: name ~ "Addmm*"'),
    "address": Word("text", 'address == "encoder.0/addmm:2"'),
    "scope": Word("text", 'the module: scope ~ "encoder.*"'),
    "leaf": Word("text", 'the name of a leaf, "" at other nodes'),
    "file": Word("text", 'the file of its forward line: file == "train.py"'),
    "line": Word("number", "that line"),
    "index": Word("number", "position in the plan"),
    "call": Word("number", "the number of the backward() call, from 1"),
    "hits": Word("number", "how often this breakpoint was hit before"),
}

TENSORS: Final[Mapping[str, str]] = {
    "in": "the gradient that arrives at the node; in.1 at its second output",
    "out": "the gradient that it sends along its first edge; out.1 along its second",
    "grad": "for a leaf its .grad, for other nodes the same as in",
    "NAME.grad": "the .grad of that leaf",
    "saved.NAME": "what the node keeps from the forward pass",
    "NAME": "in print and display, the program's tensor of that name",
}

_TENSOR = re.compile(r"(in|out)(\.\d+)?|grad|saved\.\w+|.+\.grad")


def is_tensor(path: str) -> bool:
    """Return whether ``path`` is one of :data:`TENSORS`.

    >>> [is_tensor(path) for path in ("in", "out.1", "encoder.0.weight.grad", "weight")]
    [True, True, True, False]
    """
    return _TENSOR.fullmatch(path) is not None


FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {
    "abs": abs,
    "log10": math.log10,
    "sqrt": math.sqrt,
}

WORDS: Final = (*STATISTICS, *OF_THE_GRADIENT, *FACTS, *TENSORS, *FUNCTIONS)


def help_text() -> str:
    """Return the page ``help expressions``."""
    lines = [
        "An expression is about one gradient. In `break PLACE if ...`, it is each one",
        "that arrives at the node. In `catch ...`, `break if ...` and --fail-on, it is",
        "each one that a node sends, each finished sum and each .grad. In print and",
        "display, it is the one that arrives here.",
        "",
        "of the gradient (rms, norm, mean, min, max: of its finite elements)",
    ]
    lines += [_entry(word, stats.meaning) for word, stats in STATISTICS.items()]
    lines += [_entry(word, known.meaning) for word, known in OF_THE_GRADIENT.items()]
    lines += ["", "of the node"]
    lines += [_entry(word, fact.meaning) for word, fact in FACTS.items()]
    lines += ["", "tensors: print shows them; in.rms is a statistic, in[0, 2:5] a part"]
    lines += [_entry(word, meaning) for word, meaning in TENSORS.items()]
    lines += [
        "",
        'and or not ( )   < <= > >= == !=   + - * / **   in: op in ("mul", "div")',
        f'~ matches a pattern: scope ~ "encoder.*"   functions: {", ".join(FUNCTIONS)}',
        "Arithmetic and comparisons of tensors work element by element: abs(in) > 1, or",
        f"in / saved.self, and {', '.join(BY_ELEMENT)}.",
        f"To reduce a tensor: {', '.join(REDUCING)}, any, all, as in any(saved.self == 0).",
        "print TENSOR where CONDITION lists elements, with related values at the same",
        "indices; so does print TENSOR at nan (inf, 0, min, max, or an index: [2, 0]).",
        "Unknown and undefined values satisfy no comparison, and no negation of one.",
    ]
    return "\n".join(lines)


def _entry(word: str, meaning: str) -> str:
    width, room = 12, 66
    lines = [""]
    for part in meaning.split():
        if lines[-1] and len(lines[-1]) + len(part) >= room:
            lines.append("")
        lines[-1] += f" {part}" if lines[-1] else part
    head, *rest = lines
    return "\n".join([f"  {word:<{width}}{head}", *(" " * (width + 2) + line for line in rest)])
