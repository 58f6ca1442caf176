"""Dimensions that are mixed up: a recurrent module that runs along the rows of a batch, and a
reshape where a transposition was meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from gradstep.capturing.statement import operation_at
from gradstep.contract.module_paths import joined, named_modules
from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.batch_rows import Mixed, lies
from gradstep.findings.facts.provenance import inputs_of, items
from gradstep.findings.facts.repeated import (
    RANDOM,
    Repeated,
    compared,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_argument, with_operation
from gradstep.findings.source_lines import calls_of
from gradstep.graph.statistics import format_shape
from gradstep.guest.fence import attribute_of
from gradstep.recording.look import Look

_RECURRENT: Final = ("GRU", "LSTM", "RNN")
_RESHAPES: Final = ("view", "reshape", "_unsafe_view", "unsafe_view")
_ROWS: Final = 4
_WRITTEN: Final = ("reshape", "view")


@dataclass(frozen=True)
class AlongRows(Reason):
    """A recurrent ``module`` takes the rows of a batch for times."""

    code = "rows-mixed"
    keeps_loss = False
    blames_line = True
    other_is = "made at"
    module: str
    kind: str
    rows: int = field(compare=False)
    times: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.module} runs along the {self.rows} rows of the batch and not along their "
            f"{self.times} times: batch_first is False, so dimension 0 of its input is time, and "
            "each row depends on those before it"
        )

    def remedy(self) -> str:
        return f"nn.{self.kind}(..., batch_first=True)"

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.other, self.kind, "batch_first", "True")


@dataclass(frozen=True)
class RowsMixed(Reason):
    """What is compared with the targets, one for each row, depends on other rows: since the op
    ``called`` so, of ``module``."""

    code = "rows-mixed"
    keeps_loss = False
    blames_line = True
    other_is = "compared at"
    called: str
    module: str
    by_place: bool
    rows: int = field(compare=False)

    def text(self) -> str:
        where = f" of {self.module}" if self.module else ""
        if self.by_place:
            return (
                f"{self.called}{where} gives each of the {self.rows} rows of the batch parameters "
                "of its own, by its place there, which is random"
            )
        return (
            f"{self.called}{where} runs along the {self.rows} rows of the batch, which are items "
            "in random order: the output of each depends on the others that happen to be there"
        )

    def remedy(self) -> str:
        if self.by_place:
            return "choose them by another dimension: self.pos[:, : x.size(1)]"
        return (
            "look at which dimension is the batch: batch_first=True for attention and recurrent "
            "modules, unsqueeze(1) and not unsqueeze(0), or another dim"
        )


@dataclass(frozen=True)
class Reshaped(Reason):
    """A reshape has the ``sizes`` that a transposition would have."""

    code = "not-transposed"
    keeps_loss = False
    blames_line = True
    before: tuple[int, ...] = field(compare=False)
    sizes: tuple[int, ...] = field(compare=False)

    def text(self) -> str:
        return (
            f"{format_shape(self.before)} is reshaped to {format_shape(self.sizes)}: that keeps "
            "the order of the numbers and only splits it elsewhere, so the numbers of one row or "
            "channel end up in others"
        )

    def remedy(self) -> str:
        return "move dimensions with permute() or transpose(), and reshape after that"

    def fix(self) -> tuple[Fix, ...]:
        left, order = dict(enumerate(self.before)), []
        if self.source is None or sorted(self.sizes) != sorted(self.before):
            return ()
        for size in self.sizes:  # dimensions of one size, as of a square image, keep their order
            dim = next(dim for dim, own in left.items() if own == size)
            order.append(str(dim))
            del left[dim]
        op = next((op for op in _WRITTEN if operation_at(self.source, op) is not None), "")
        return with_operation(self.source, op, f"{{0}}.permute({', '.join(order)})") if op else ()


@dataclass(frozen=True)
class ClassesCut(Reason):
    """Scores of ``classes``, which are dimension 1, are reshaped so that they are last."""

    code = "not-transposed"
    keeps_loss = False
    blames_line = True
    before: tuple[int, ...]
    classes: int

    def text(self) -> str:
        before = format_shape((-1, *self.before[1:])).replace("-1", "batch")
        return (
            f"scores have their {self.classes} classes in dimension 1, {before}, and this reshape "
            f"makes rows of {self.classes} numbers of them: each row has numbers of one class at "
            "several places, and not of all classes at one"
        )

    def remedy(self) -> str:
        return "move the classes last before it: .movedim(1, -1); cross_entropy() needs no reshape"


class Rows(Repeated):
    """What becomes of the dimensions of a batch."""

    share = 0.5  # a batch may have been made while nothing was traced

    def find(self, look: Look) -> Iterator[Reason]:
        yield from _mixed(look)
        rows = {shape_of(target)[0] for _, _, target in compared(look) if shape_of(target)}
        for record in look.records:
            if not isinstance(record, OpRecord) or not record.inputs:
                continue
            given = record.inputs[0]
            if not isinstance(given, tuple):
                continue
            if record.name == "select" and record.attributes.get("dim") == 1:
                yield from _along(look, given, record, rows)
            elif record.name in _RESHAPES:
                yield from _reshaped(given, record, rows)
            elif record.name == "log_softmax":
                yield from _classes_cut(record, given)


def _mixed(look: Look) -> Iterator[Reason]:
    """Yield the op that mixes items of data, which are in no order, where what comes of it is
    compared with a target for each."""
    given = [each for each in inputs_of(look) if _is_shuffled(look, each)]
    for op, prediction, target in compared(look):
        shape = shape_of(target)
        inputs = [each for each in given if shape and shape_of(each)[0] == shape[0]]
        if not inputs or shape[0] < _ROWS:
            continue
        lie = lies(look.records, inputs, shape[0]).get(prediction)
        if isinstance(lie, Mixed):
            module = look.names.scope(lie.since.scope)
            yield RowsMixed(
                lie.since.name,
                module,
                lie.by_place,
                shape[0],
                source=lie.since.source,
                other=op.source,
            )
            return


def _is_shuffled(look: Look, given: Origin) -> bool:
    """Return whether the rows are items of data in another order, or a loader has joined them."""
    known, maker = items(look, given), past_views(given)[0]
    if known is None or known.long <= len(known.rows):
        return False
    is_joined = isinstance(maker, OpRecord) and maker.name == "stack"
    return is_joined or bool((known.rows[1:] < known.rows[:-1]).any())


def _along(look: Look, given: Origin, record: OpRecord, rows: set[int]) -> Iterator[Reason]:
    """Yield a recurrent module of whose results, one for each row of the targets, a time is taken
    from dimension 1."""
    shape = shape_of(given)
    if len(shape) != 3 or shape[0] not in rows or shape[0] == shape[1]:
        return
    origin = past_views(given)[0]
    path = look.names.scope(origin.scope)
    module = _modules(look).get(path)
    kind = type(module).__name__
    if kind in _RECURRENT and attribute_of(module, "batch_first") is False:
        made = calls_of(kind, look.line.file) if look.line is not None else []
        yield AlongRows(
            path, kind, shape[0], shape[1], source=record.source, other=made[0] if made else None
        )


def _modules(look: Look) -> dict[str, Any]:
    known: dict[str, Any] | None = look.kept.get("modules")
    if known is None:
        known = look.kept["modules"] = {
            joined(name, path): module
            for name, outermost in look.names.modules.items()
            for path, module in named_modules(outermost)
        }
        if len(look.names.modules) == 1:  # its name is left out of the paths
            known.update((path.partition(".")[2], module) for path, module in [*known.items()])
    return known


def _classes_cut(record: OpRecord, given: Origin) -> Iterator[Reason]:
    """Yield a reshape of scores of classes in dimension 1 to rows of so many numbers."""
    maker = given[0]
    if not isinstance(maker, OpRecord) or maker.name not in _RESHAPES:
        return
    origin = next((each for each in maker.inputs if isinstance(each, tuple)), None)
    shape = shape_of((record, 0))
    if origin is None or len(shape) != 2:
        return
    before = shape_of(origin)
    if len(before) > 2 and before[1] == shape[1] != before[-1]:
        yield ClassesCut(before, shape[1], source=maker.source)


def _reshaped(given: Origin, record: OpRecord, rows: set[int]) -> Iterator[Reason]:
    """Yield a reshape to the same sizes in another order, or one that has the rows of the targets
    first, which came second."""
    before, after = shape_of(given), shape_of((record, 0))
    long, made = [size for size in before if size != 1], [size for size in after if size != 1]
    is_permuted = long != made and sorted(long) == sorted(made)
    is_joined = (
        len(long) > len(made) > 0
        and long[1] == made[0] != long[0]
        and made[0] in rows
        and len(long) > 2
    )
    source = past_views(given)[0]
    is_noise = isinstance(source, OpRecord) and source.name in RANDOM
    if (is_permuted or is_joined) and not is_noise:
        yield Reshaped(before, after, source=record.source)


RULES: Final = (
    Rule(rule_of(Rows), Meaning(
        "rows-mixed", "warning", "the rows of a batch are mixed up",
        "A recurrent module treats the rows of the targets as time steps; or an op runs along the "
        "rows, or gives each its own parameters by its place, although they are items in random "
        "order, with a target for each.",
        "nn.GRU(3, 16)(x)[0][:, -1]", "nn.GRU(3, 16, batch_first=True)(x)[0][:, -1]",
        "When the rows are one sequence, or when you want attention over the items of a batch.",
    ), Meaning(
        "not-transposed", "warning", "a reshape is used where dimensions should move",
        "It has the same sizes in another order, or puts the rows of the "
        "targets first, which were second.",
        "image.reshape(3, 16, 16)  # [16, 16, 3]", "image.permute(2, 0, 1)",
        "When the numbers have no order yet, like noise.",
    ), needs=(Rows,)),
)  # fmt: skip
