"""The known values of a forward pass, and the place where a NaN or an infinity began in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from numpy.typing import NDArray

from gradstep.contract.lookup import numbers_of
from gradstep.contract.op_records import LeafRecord, OpRecord, Origin
from gradstep.contract.protocol import KeptForward, Reading
from gradstep.graph.statistics import Statistics, Trouble, statistics

# fmt: off
_KEEP_INF: Final = frozenset([
    "_to_copy", "abs", "add", "addbmm", "addmm", "addmv", "alias", "baddbmm", "batch_norm",
    "bmm", "cat", "clone", "convolution", "cumsum", "div", "dot", "expand", "group_norm",
    "l1_loss", "layer_norm", "linear", "log", "log10", "log1p", "log2", "log_softmax", "mean",
    "mm", "mse_loss", "mul", "mv", "native_batch_norm", "native_group_norm",
    "native_layer_norm", "neg", "norm", "permute", "reshape", "rsub", "sqrt", "squeeze",
    "stack", "std", "sub", "sum", "t", "to", "transpose", "unsafe_view", "unsqueeze", "var",
    "vector_norm", "view",
])
"""Ops whose result is NaN or infinite wherever it is computed from an infinity."""
_KEEP_NAN: Final = _KEEP_INF.union([
    "amax", "amin", "clamp", "cos", "elu", "erf", "exp", "expm1", "gelu", "leaky_relu",
    "log_sigmoid", "logsumexp", "max", "maximum", "min", "minimum", "reciprocal", "relu",
    "rsqrt", "sigmoid", "silu", "sin", "smooth_l1_loss", "softmax", "softplus", "tanh",
])
# fmt: on
"""Ops whose result is NaN wherever it is computed from NaN."""


class ForwardValues:
    """The values of a traced forward pass: of ops, as ``trace(values=True)`` describes and copies
    them; of leaves and of the ``roots``, from the tensors themselves.

    What is unknown is told from what is known to be finite.
    """

    def __init__(self, reading: Reading, roots: Mapping[Origin, Any] | KeptForward) -> None:
        """``roots`` are the program's own tensors, by what they came from; or else what the graph
        tells."""
        self._reading = reading
        self._roots = roots
        self._known: dict[Origin, Statistics | None] = {}
        self._told: dict[tuple[Origin, Trouble], bool] = {}

    def array(self, origin: Origin) -> NDArray[Any] | None:
        """Return a value, None where none was kept."""
        record, nr = origin
        copied = record.copies.get(nr)
        if copied is not None and (copy := copied()) is not None:
            array: NDArray[Any] | None = copy.array
            if array is not None:
                return array
        kept: NDArray[Any] | None = record.value(nr)
        if kept is not None:
            return kept
        tensor = self._tensor(origin)
        return None if tensor is None else numbers_of(tensor).array(tensor)

    def _tensor(self, origin: Origin) -> Any:
        """Return a tensor that still has the value, None where none is known."""
        if isinstance(origin[0], LeafRecord):
            if origin[0].was_changed:
                return None
            leaf = origin[0].tensor()
            return None if leaf is None else self._reading.user_tensor(leaf)
        return self._roots.get(origin)

    def statistics(self, origin: Origin) -> Statistics | None:
        """Return a value described, None where nothing is known of it."""
        if origin not in self._known:
            record, nr = origin
            known = record.statistics if isinstance(record, OpRecord) and nr == 0 else None
            if known is None and (tensor := self._tensor(origin)) is not None:
                known = numbers_of(tensor).statistics(tensor)
            elif known is None and (array := self.array(origin)) is not None:
                known = statistics(array)
            self._known[origin] = known
        return self._known[origin]

    def has(self, origin: Origin, trouble: Trouble) -> bool:
        """Return whether a value is known to hold ``trouble``."""
        known = self.statistics(origin)
        return known is not None and known.amount(trouble) > 0

    def is_spoiled(self, origin: Origin, trouble: Trouble) -> bool:
        """Return whether a value holds ``trouble``; of one that is unknown, whether ops that pass
        it on have computed it from one that does."""
        stack = [origin]
        while stack:
            at = stack[-1]
            if (at, trouble) in self._told:
                stack.pop()
                continue
            given = [] if self.statistics(at) is not None else _passed_on(at, trouble)
            missing = [value for value in given if (value, trouble) not in self._told]
            if missing:
                stack += missing
                continue
            self._told[at, trouble] = self.has(at, trouble) or any(
                self._told[value, trouble] for value in given
            )
        return self._told[origin, trouble]

    def first(self, starts: Iterable[Origin], trouble: Trouble) -> Origin | None:
        """Find where ``trouble`` began of which the ``starts`` may have some: of the values that it
        came from one to the other, the first that was computed from none with the same."""
        stack = [start for start in starts if self.is_spoiled(start, trouble)]
        seen = set(stack)
        ends = []
        while stack:
            origin = stack.pop()
            passed_on = _passed_on(origin, trouble)
            earlier = [
                source
                for source in inputs_of(origin)
                if is_computed(source)
                and (
                    self.has(source, trouble)
                    or (source in passed_on and self.is_spoiled(source, trouble))
                )
            ]
            if not earlier:
                ends.append(origin)
            stack += [source for source in earlier if source not in seen]
            seen.update(earlier)
        return min(ends, key=lambda origin: origin[0].number, default=None)


def _passed_on(origin: Origin, trouble: Trouble) -> list[Origin]:
    """Return those inputs of an op whose ``trouble`` is in its result, too: NaN, or of an infinity
    NaN or an infinity."""
    given, name = inputs_of(origin), origin[0].name if isinstance(origin[0], OpRecord) else ""
    if name not in (_KEEP_NAN if trouble == "nan" else _KEEP_INF):
        return []
    return given[:1] if name == "div" and trouble == "inf" else given


def is_computed(origin: Origin) -> bool:
    """Return whether a value was computed from tensors; a constant that an op makes is what it is
    on purpose."""
    return isinstance(origin[0], OpRecord) and bool(inputs_of(origin))


def inputs_of(origin: Origin) -> list[Origin]:
    """Return the values that the op behind ``origin`` was given, without Python numbers."""
    record = origin[0]
    if isinstance(record, LeafRecord):
        return []
    return [value for value in record.inputs if isinstance(value, tuple)]


def outputs_of(record: OpRecord) -> list[Origin]:
    """Return the results of an op."""
    return [(record, nr) for nr in range(len(record.shapes))]
