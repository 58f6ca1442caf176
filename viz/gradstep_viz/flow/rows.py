"""Which parts of a graph have a row, for a number of rows, and what these rows say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from math import prod
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from gradstep.graph.addresses import unknown
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.model import Graph, Shape
from gradstep.graph.statistics import Statistics, format_number
from gradstep.text import plural, printable
from gradstep_viz.flow.facts import Facts, Size, largest
from gradstep_viz.flow.parts import (
    BROKEN,
    DEAD,
    HEALTHY,
    Ops,
    Part,
    PartBuilder,
    parts_below,
    typical_place,
)

USUAL_ROWS: Final = 40
FIRST_ROWS: Final = 50
"""So many there may be for the first of each kind to be open."""
MOST_ROWS: Final = 60
MOST_INPUTS: Final = 8
MOST_OPS: Final = 4
MOST_NAMES: Final = 2
MOST_INSIDE: Final = 8
LEAST_DIFFERENT: Final = 3
"""Of fewer sizes anyone sees which is the smallest."""

RowKind = Literal["row", "header", "input"]
ExtremeKind = Literal["smallest", "inside", "largest", "layer"]
"""``inside`` is a gradient that is smaller than all that rows show."""
Tone = Literal["", "warn", "alert"]
_TONES: Final[tuple[Tone, ...]] = ("", "warn", "alert")


class Mark(NamedTuple):
    """What a row is to say, and how bad that is."""

    text: str
    tone: Tone


@dataclass(slots=True)
class Row:
    """One row: a call of a module, a statement, an input, or the header above what is open.

    ``kind_text`` is the class, ``attributes`` tell it from others of that class, and ``result`` is
    the variable that holds what a module returns.  ``gradients`` has one entry for each round that
    the row stands for.  ``path`` is that of a module.  ``closed`` is what stands in place of a
    header, and of all below it, when that is closed.  ``alike`` is the same for all that is of one
    kind, ``same`` counts those of which only this one is open, and of what is closed ``inside``
    lists what is inside.  ``own`` is how many of ``parameters`` are counted here: not what an
    earlier row has, too, and ``each`` what each of several rounds has, 0 where they share it.
    ``extremes`` are those of the picture that are in this row, ``hidden`` those that its own
    numbers do not show.

    ``operands`` are inputs and parameters that have no row of their own.  Its parameters have so
    many ``uses``, or are ``shared_with`` another row, or ``rounds_share`` them: a header then says
    so.  ``is_state`` is a row whose result goes to the next round, ``is_recomputed`` one that a
    checkpoint runs again, and ``is_residual`` adds its input to its result.
    """

    kind: RowKind
    depth: int
    name: str = ""
    kind_text: str = ""
    attributes: str = ""
    result: str = ""
    operands: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    uses: int = 0
    shared_with: str = ""
    rounds_share: bool = False
    is_state: bool = False
    is_recomputed: bool = False
    is_residual: bool = False
    same: int = 0
    badge: str = ""
    shapes_in: list[Shape | None] = field(default_factory=list)
    shapes_out: list[Shape | None] = field(default_factory=list)
    value: str = ""
    other_value: str = ""
    parameters: int = 0
    own: int = 0
    each: int = 0
    parameter_gradient: Size | None = None
    gradients: list[Size | None] = field(default_factory=list)
    others: list[Size | None] = field(default_factory=list)
    saved: int = 0
    seconds: float | None = None
    ops: int = 0
    is_output: bool = False
    is_scalar: bool = False
    leaf: int = -1
    units: tuple[int, ...] = ()
    panel: int = 0
    header: int = -1
    path: str = ""
    closed: Row | None = None
    starts_open: bool = True
    alike: str = ""
    inside: str = ""
    is_container: bool = False
    rounds: tuple[tuple[int, ...], ...] = ()
    extremes: tuple[ExtremeKind, ...] = ()
    hidden: tuple[ExtremeKind, ...] = ()

    @property
    def tone(self) -> Tone:
        """How bad the worst of its marks is."""
        return max((mark.tone for mark in self.marks), key=_TONES.index, default="")

    @property
    def details(self) -> str:
        """What tells a module from others of its class, and the variable that holds its result."""
        return f"{self.attributes} → {self.result}".lstrip() if self.result else self.attributes

    @property
    def with_text(self) -> str:
        """The operands as words."""
        return f"with {' and '.join(self.operands)}" if self.operands else ""

    @property
    def note(self) -> str:
        """What else there is to say, the worst of it alone."""
        if self.marks:
            return "; ".join(dict.fromkeys(mark.text for mark in self.marks))
        shared = "shared" if self.rounds_share else ""
        if self.kind == "header":
            shared = "same weights in each round" if self.rounds_share else ""
        elif self.shared_with:
            shared = f"shared with {self.shared_with}"
        elif self.uses > 1 and not shared:
            shared = f"shared, {self.uses} uses"
        alike = f"one of {self.same} alike" if self.same else ""
        return ", ".join(filter(None, (shared, "state" * self.is_state, alike)))

    @property
    def has_dot(self) -> bool:
        """Whether values and gradients pass through it."""
        return self.kind != "header"

    @property
    def state(self) -> int:
        """How sick the gradient at its output is."""
        known = [one for one in self.gradients if one is not None]
        if any(one.state == BROKEN for one in known):
            return BROKEN
        return DEAD if known and all(one.state == DEAD for one in known) else HEALTHY


class Link(NamedTuple):
    """From the row that makes a value to one that reads it; ``size`` is that of the gradient that
    flows back, None where none does, and ``undefined`` says that there is none at all."""

    source: int
    target: int
    size: Size | None


class Extreme(NamedTuple):
    """The smallest or the largest gradient at the output of an op, or the layer with most
    parameters: which it is, in which row, and ``where`` in the whole program."""

    kind: ExtremeKind
    row: int
    where: str
    size: Size | None = None
    parameters: int = 0
    ties: int = 0


class Shared(NamedTuple):
    """A layer whose parameters are used several times, under other ``names`` than its own, too."""

    layer: str
    uses: int
    names: tuple[str, ...] = ()


class Table(NamedTuple):
    """All rows, the links between them, what is the most in all of them, and what is shared;
    ``marked`` are the rows with a mark."""

    rows: list[Row]
    links: list[Link]
    extremes: tuple[Extreme, ...] = ()
    shared: tuple[Shared, ...] = ()
    marked: tuple[int, ...] = ()


class _Shown(NamedTuple):
    """A part that has rows: with the parts of other rounds that it stands for, and what is
    open."""

    parts: tuple[Part, ...]
    depth: int
    front: tuple[str, ...]
    panel: int
    header: int


class TableBuilder:
    """Makes tables of one graph, some of whose nodes have ``marks``; ``labels`` are names of the
    user's own, by addresses."""

    def __init__(
        self,
        graph: Graph,
        marks: Mapping[int, Mark] = MappingProxyType({}),
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.graph, self._labels = graph, labels
        self.ops = Ops(graph)
        self.is_empty = not self.ops.units
        self._marks: dict[int, Mark] = {}  # by units
        if self.ops.units:
            self.facts = Facts(self.ops)
            self._sick = self.facts.states()
            for node, mark in marks.items():
                unit = self.ops.units.of[node]
                if unit >= 0:
                    self._marks.setdefault(unit, mark)
                    self._sick[unit] = BROKEN  # what it is in is open, and no other stands for it

    def whole_table(self, most: int, usual: int = USUAL_ROWS) -> Table:
        """Return a table of up to ``most`` rows for a page, whose headers can be closed; so many
        are open at first that there are about ``usual`` rows."""
        root = PartBuilder(self.ops, self._sick, by_shape=True, folds=True).build()
        first = _opened(root, usual)
        opened = first | _opened(root, most)
        return _Writer(self.facts, self._labels, root, opened, first).table()

    def table(
        self,
        most: int = USUAL_ROWS,
        *,
        full: bool = False,
        expand: Sequence[str] = (),
        depth: int | None = None,
        shut: Sequence[str] = (),
    ) -> Table:
        """Return a table of about ``most`` rows: what matters is open, but for modules that go by
        a name in ``shut`` or are of such a class."""
        root = PartBuilder(self.ops, self._sick, by_shape=True, folds=not full).build()
        opened = _opened(root, most, full, expand, depth, shut)
        if len(_rows_shown(root, opened)) > most and not full:
            root = PartBuilder(self.ops, self._sick, by_shape=False, folds=True).build()
            opened = _opened(root, most, full, expand, depth, shut)
        return self._marked(_Writer(self.facts, self._labels, root, opened).table())

    def _marked(self, table: Table) -> Table:
        """Have the rows with marks say them."""
        marked = []
        for at, row in enumerate(table.rows):
            units = {*row.units}.union(*row.rounds) if row.kind == "row" else ()
            found = [mark for unit, mark in self._marks.items() if unit in units]
            if found:
                row.marks[:0] = found
                marked.append(at)
        return table._replace(marked=tuple(marked))


def _opened(
    root: Part,
    most: int,
    full: bool = False,
    expand: Sequence[str] = (),
    depth: int | None = None,
    shut: Sequence[str] = (),
) -> set[int]:
    """Choose what is open, by identity."""
    opened = {id(root)}
    closed = _shut(root, shut)
    if full:
        return opened | {id(part) for part in parts_below(root) if part.opens}
    for name in expand:
        _open_named(root, name, opened)
    if depth is not None:
        _open_to(root, depth, opened)
        return opened - closed
    for every in (False, True):  # first one of each kind
        tried: set[object] = set()
        room = FIRST_ROWS if most == USUAL_ROWS and not every else most
        while (chosen := _to_open(root, opened, closed, room, tried, every=every)) is not None:
            opened.update(map(id, chosen))
    return opened


def _to_open(
    root: Part, opened: set[int], closed: set[int], most: int, tried: set[object], *, every: bool
) -> list[Part] | None:
    """Return what to open next, but nothing that is to be ``closed``: ``every`` part of the most
    important kind, or only one, of several that are alike the first; None where there is no room
    for more.  Of a kind of which one is open, another one is opened only where it has a class
    inside of which none is shown, and last."""
    shown = _rows_shown(root, opened)
    rows = sum(not (part.is_container and id(part) in opened) for part in shown)
    seen = {_kind_of(part) for part in shown if id(part) in opened}
    groups = _to_choose_from(shown, opened, closed, seen, every)
    for key, parts in sorted(groups.items(), key=lambda one: _rank(one[1], seen)):
        if key in tried:
            continue
        tried.add(key)
        if not every:
            parts = [max(parts, key=lambda one: (_state(one), _alike(one, parts)))]
        is_sick = any(map(_state, parts))
        least = min(most + most // 2, MOST_ROWS - MOST_INPUTS) if is_sick else 0
        if rows + sum(map(_rows_added, parts)) <= max(most, least):
            if is_sick or key not in map(_kind_of, parts):
                tried.discard(key)  # there may be more of these
            return parts
    return None


def _to_choose_from(
    shown: Sequence[Part], opened: set[int], closed: set[int], seen: set[object], every: bool
) -> dict[object, list[Part]]:
    """Return the parts that may be opened next, by kind; of the kinds in ``seen`` one is open."""
    groups: dict[object, list[Part]] = {}
    classes = {part.module for part in shown}.union(
        *(part.inside for part in shown if not part.opens)
    )
    for part in shown:
        one = part.children[0] if part.kind == "fold" else part
        if id(one) in closed or id(part) in opened or _is_norm(part) or not part.opens:
            continue
        if every and _is_said_by_another(one, seen):
            continue
        key: object = _kind_of(part)
        if not every and key in seen and not _state(part):
            key = None if part.inside <= classes else (key, "others inside")
        if key is not None:
            groups.setdefault(key, []).append(part)
    return groups


def _is_said_by_another(part: Part, seen: set[object]) -> bool:
    """Tell whether a module has nothing inside that has a name, and another of its kind is open."""
    inside = [one.children[0] if one.kind == "fold" else one for one in part.children]
    says = any(one.kind == "module" and not one.is_container for one in inside)
    return not says and part.kind == "module" and _kind_of(part) in seen and not _state(part)


def _alike(part: Part, parts: Sequence[Part]) -> int:
    """Count the parts that are built as one of them is, in folds their rounds."""
    signatures = [one.signature for one in _rounds(parts)]
    return signatures.count(_rounds([part])[0].signature)


def _rank(parts: Sequence[Part], seen: set[object]) -> tuple[int, bool, bool, int]:
    worst = max(map(_state, parts))
    is_known = any(_kind_of(part) in seen for part in parts)
    is_single = any(part.kind != "fold" for part in parts)
    return -worst, is_known, is_single, -sum(len(part.units) for part in parts)


def _state(part: Part) -> int:
    """Return BROKEN or DEAD where that starts or ends inside a part."""
    return part.state if part.is_mixed else HEALTHY


def _kind_of(part: Part) -> object:
    if part.kind == "fold" and part.children[0].module:
        part = part.children[0]
    if part.kind == "module":
        return part.kind, part.module or re.sub(r"\d+", "#", part.label.rpartition(".")[2])
    return part.kind, part.signature


def _is_norm(part: Part) -> bool:
    name = part.label.rpartition(".")[2].lower()
    return part.kind == "module" and bool(re.search(r"norm|^ln_|^bn\d*$", name))


def _rows_added(part: Part) -> int:
    if part.kind == "fold":
        typical = part.children[typical_place(part.children)]
        return len(typical.children) or 1
    return len(_inside(part)) - part.is_container


def _rows_shown(root: Part, opened: set[int]) -> list[Part]:
    """List the parts that have a row."""
    shown: list[Part] = []
    waiting = list(reversed(_inside(root)))
    while waiting:
        part = waiting.pop()
        shown.append(part)
        if id(part) in opened:
            waiting += reversed(_inside(part))
    return shown


def _inside(part: Part) -> Sequence[Part]:
    if part.kind == "fold":
        typical = part.children[typical_place(part.children)]
        return typical.children or (typical,)
    if part.kind == "round":
        return part.children
    return [
        two for one in part.children for two in (one.children if one.kind == "round" else (one,))
    ]


def _shut(root: Part, wanted: Sequence[str]) -> set[int]:
    """Return the identities of the modules that go by these names or are of these classes."""
    found: set[int] = set()
    for name in wanted:
        modules = [part for part in parts_below(root) if part.kind == "module" and part.label]
        names = {id(part): (part.label, part.module.partition(" ")[0]) for part in modules}
        ids = {one for one, known in names.items() if name in known}
        if not ids:
            words = {word for known in names.values() for word in known if word}
            remedy = "write the path or class of a module"
            raise unknown("that can be folded", name, sorted(words), remedy)
        found |= ids
    return found


def _open_named(root: Part, name: str, opened: set[int]) -> None:
    path = _path_to(root, name)
    if path is None:
        raise UnknownAddress(
            f"nothing that is folded is called '{name}'",
            remedy="write the path of a module, or the label of a round",
        )
    opened.update(id(part) for part in path if part.opens)


def _path_to(root: Part, name: str) -> list[Part] | None:
    waiting = [[root]]
    wanted = name.replace(" ", "")
    while waiting:
        path = waiting.pop()
        label = path[-1].label
        if label and label.replace(" ", "") == wanted:
            return path
        waiting += [[*path, one] for one in reversed(path[-1].children)]
    return None


def _open_to(part: Part, depth: int, opened: set[int]) -> None:
    if depth <= 0:
        return
    opened.add(id(part))
    for one in _inside(part):
        _open_to(one, depth - 1, opened)


class _Writer:
    """Writes the rows of what is open."""

    def __init__(
        self,
        facts: Facts,
        labels: Mapping[str, str],
        root: Part,
        opened: set[int],
        first: set[int] | None = None,
    ) -> None:
        self._first, self._labels = first, labels
        self._labelled: dict[str, str] = {}  # paths of modules
        self._facts, self._root, self._opened = facts, root, opened
        self._graph, self._units = facts.graph, facts.units
        self._rows: list[Row] = []
        self._place = [-1] * len(facts.units)
        self._round = [0] * len(facts.units)
        self._round_count = [1] * len(facts.units)
        self._panels = 0
        self._folds = 0
        self._turns: dict[int, tuple[tuple[int, int], ...]] = {}
        self._parallel: set[int] = set()
        self._counted: set[int] = set()
        self._users: dict[int, list[Row]] = {}
        self._uses = Counter[int]()
        self._outs: dict[tuple[int, ...], int] = {}
        self._classes = Counter(
            self._graph.modules.get(part.label, "")
            for part in parts_below(root)
            if part.kind == "module" and part.opens
        )

    def table(self) -> Table:
        for part in _inside(self._root):
            self._write((part,), 0, (), 0, -1)
        self._settle_lost()
        self._add_inputs()
        self._finish()
        links = self._links()
        self._notes()
        extremes = tuple(one for one in (*self._extreme_gradients(), self._largest_layer()) if one)
        self._mark(extremes)
        return Table(self._rows, links, extremes, tuple(self._shared()))

    def _write(
        self, parts: Sequence[Part], depth: int, front: tuple[str, ...], panel: int, header: int
    ) -> None:
        part = parts[0]
        if id(part) not in self._opened and not any(id(one) in self._opened for one in parts):
            self._row(parts, depth, front, panel, header)
            return
        if part.kind == "fold":
            self._write_fold(parts, depth, front, panel, header)
            return
        if part.is_container and self._first is None:
            for beside in self._beside(parts):
                self._write(beside, depth, front, panel, header)
            return
        folds = [one for each in parts for one in each.children]
        if (
            self._first is None
            and len(folds) == len(parts)
            and all(one.kind == "fold" for one in folds)
        ):
            self._opened.update(map(id, folds))
            self._write_fold(folds, depth, front, panel, header, parts)
            return
        self._header(parts, depth, front, panel, header)
        at = len(self._rows) - 1
        inner = _fronts(parts) or front
        for beside in self._beside(parts):
            self._write(beside, depth + 1, inner, panel, at)

    def _beside(self, parts: Sequence[Part]) -> Iterator[list[Part]]:
        """Yield the parts inside of the typical one of several rounds, each with its like in
        others, in the order of these."""
        inside = [self._keyed(part) for part in parts]
        for key in inside[typical_place(parts)]:
            yield [each[key] for each in inside if key in each]

    def _keyed(self, part: Part) -> dict[object, Part]:
        """Return what is inside a part, by what tells it from the others there: the name of a
        module, the last op of a statement."""
        counts = Counter[object]()
        numbered: list[tuple[str, str, int, Part]] = []
        for one in _inside(part) if part.kind != "fold" else [part]:
            name = re.sub(r"\d+", "#", one.label.rpartition(".")[2])
            if one.kind != "module":
                name = self._units.stems[self._facts.ops.heads_among(one.units)[-1]]
            counts[one.kind, name] += 1
            numbered.append((one.kind, name, counts[one.kind, name], one))
        # what a round has less than others is missing at its start
        return {(kind, name, counts[kind, name] - at): one for kind, name, at, one in numbered}

    def _write_fold(
        self, parts: Sequence[Part], depth: int, front: tuple[str, ...], panel: int, header: int,
        around: Sequence[Part] = (),
    ) -> None:  # fmt: skip
        """Write what is repeated once; ``around`` are modules that have nothing else inside."""
        rounds = [one for part in parts for one in part.children]
        if not panel:
            self._panels += 1
            panel = self._panels
        for number, one in enumerate(rounds):
            for unit in one.units:
                self._round[unit], self._round_count[unit] = number, len(rounds)
        self._turn(parts)
        self._header(parts, depth, front, panel, header)
        at = len(self._rows) - 1
        counts = sorted({len(part.children) for part in parts})
        if self._are_parallel(rounds):
            self._parallel.add(panel)
        times = " … ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        is_parallel = panel in self._parallel
        self._rows[at].badge = f"{times} side by side" if is_parallel else f"× {times}"
        if around and rounds[0].kind != "module":
            row, what = self._rows[at], self._rows[at].name
            self._name(row, around, around, front)
            row.attributes = what if " … " in what else ""
        opens = bool(rounds[typical_place(rounds)].children)
        inner = (_fronts(rounds) if opens else ()) or _fronts(around) or front
        for inside in self._beside(rounds) if opens else [rounds]:
            self._write(inside, depth + 1, inner, panel, at)

    def _turn(self, folds: Sequence[Part]) -> None:
        """Note the rounds of folds that are drawn as one, and of those around them."""
        self._folds += 1
        for fold in folds:
            for number, one in enumerate(fold.children):
                for unit in one.units:
                    self._turns[unit] = (*self._turns.get(unit, ()), (self._folds, number))

    def _are_parallel(self, rounds: Sequence[Part]) -> bool:
        """Tell whether rounds stand side by side: what one gives another is only summed up."""
        last = [{*one.children[-1].units} if len(one.children) > 1 else set() for one in rounds]
        number = {unit: at for at, one in enumerate(rounds) for unit in one.units}
        return all(
            number.get(source, at) == at or (unit in last[at] and source in last[number[source]])
            for unit, at in number.items()
            for source in self._units.inputs[unit]
        )

    def _row(
        self, parts: Sequence[Part], depth: int, front: tuple[str, ...], panel: int, header: int
    ) -> None:
        if parts[0].kind == "fold":
            rounds = _rounds(parts)
            for number, one in enumerate(rounds):
                for unit in one.units:
                    self._round[unit], self._round_count[unit] = number, len(rounds)
            self._turn(parts)
        row = self._closed(parts, depth, front, panel, header)
        for unit in row.units:
            self._place[unit] = len(self._rows)
        self._rows.append(row)

    def _closed(
        self, parts: Sequence[Part], depth: int, front: tuple[str, ...], panel: int, header: int
    ) -> Row:
        """Return the row of a part that is closed."""
        rounds = _rounds(parts)
        units = tuple(unit for one in rounds for unit in one.units)
        row = Row("row", depth, panel=panel, header=header, units=units)
        self._name(row, parts, rounds, front)
        typical = rounds[typical_place(rounds)]
        row.result = self._result(typical.units) if typical.kind == "module" else ""
        row.operands = self._bare_parameters(typical, front)
        row.is_residual = self._is_residual(typical)
        row.rounds = tuple(one.units for one in rounds)
        outs = [self._out_unit(one) for one in rounds]
        self._outs.update(zip(row.rounds, outs, strict=True))
        row.gradients = [None if out < 0 else self._facts.gradients[out] for out in outs]
        if self._facts.others:
            row.others = [None if out < 0 else self._facts.others[out] for out in outs]
        ins = [shape for one in rounds for shape in self._shapes_in(one)]
        row.shapes_in = list(dict.fromkeys(ins)) if self._shapes_in(typical) else []
        shapes = [self._facts.ops.shape(out) for out in outs if out >= 0]
        row.shapes_out = list(dict.fromkeys(shapes))
        row.is_scalar = bool(shapes) and prod(shapes[0] or ()) == 1
        row.alike = typical.module
        if typical.opens:
            row.inside, row.is_container = self._inside_text(typical), typical.is_container
        return row

    def _bare_parameters(self, part: Part, front: tuple[str, ...]) -> list[str]:
        """Name the parameters that a statement reads: those of a layer go without saying."""
        if part.kind != "statement":
            return []
        leaves = self._facts.parameters(part.units)
        names = [_without(self._leaf_name(leaf), front) for leaf in leaves]
        return [name for name in names if name][:MOST_NAMES]

    def _is_residual(self, part: Part) -> bool:
        """Tell whether a module that has layers adds what it was given to what they make."""
        if part.kind != "module" or not part.opens or not self._facts.parameters(part.units):
            return False
        front, mains = len(part.label) + 1, self._facts.ops.heads.mains
        behind: dict[int, tuple[set[int], set[str]]] = {}  # of what, and by which parts, it is made
        for unit in part.units:
            ways = [behind.get(one, ({mains[one]}, set())) for one in self._units.inputs[unit]]
            if len(ways) == 2 and self._units.stems[unit].startswith("add"):
                (given, few), (other, many) = sorted(ways, key=lambda way: len(way[1]))
                is_one_part = len(few) == 1 and not few & many
                if given & other and many and (not few or is_one_part):
                    return True
            by = {self._units.scopes[unit][front:].partition(".")[0]} - {""}
            made_of, made_by = set[int](), by
            for of, parts in ways:
                made_of, made_by = made_of | of, made_by | parts
            behind[unit] = made_of, made_by
        return False

    def _header(
        self, parts: Sequence[Part], depth: int, front: tuple[str, ...], panel: int, header: int
    ) -> None:
        rounds = _rounds(parts)
        units = tuple(unit for one in rounds for unit in one.units)
        row = Row("header", depth, panel=panel, header=header, units=units)
        if self._first is not None:
            row.closed = self._closed(parts, depth, front, panel, header)
            row.starts_open = any(id(one) in self._first for one in parts)
        self._name(row, parts, rounds, front)
        if parts[0].kind == "fold":
            outs = [self._out_unit(one) for one in rounds]
            row.gradients = [None if out < 0 else self._facts.gradients[out] for out in outs]
            shapes = [self._facts.ops.shape(out) for out in outs if out >= 0]
            row.shapes_out = shapes[:1] if len(set(shapes)) == 1 else []
        row.alike = rounds[typical_place(rounds)].module
        if parts[0].kind == "module" and len(parts) == 1:
            same = self._classes[self._graph.modules.get(parts[0].label, "")]
            if same > 1 and self._is_only_open(parts[0]):
                row.same = same
        self._rows.append(row)

    def _is_only_open(self, part: Part) -> bool:
        kind = self._graph.modules.get(part.label, "")
        return not any(
            one is not part and one.kind == "module" and id(one) in self._opened
            and self._graph.modules.get(one.label, "") == kind
            for one in parts_below(self._root)
        )  # fmt: skip

    def _name(
        self, row: Row, parts: Sequence[Part], rounds: Sequence[Part], front: tuple[str, ...]
    ) -> None:
        first, modules = rounds[0], self._graph.modules
        one = rounds[typical_place(rounds)] if len(rounds) > 1 else first
        row.path = one.label if one.kind == "module" else ""
        if parts[0].kind == "fold" or len(parts) > 1:
            labels = [each.label for each in rounds]
            if one.kind == "module":
                distinct = list(dict.fromkeys(_without(label, front) for label in labels))
                row.name = distinct[0]
                if len(distinct) > 1:
                    row.name = _span(distinct[0], distinct[-1])
                row.kind_text = modules.get(one.label, "")
                row.attributes = self._graph.module_details.get(one.label, "")
            elif one.kind == "round":
                row.name, row.kind_text = self._name_rounds(rounds, front)
            else:
                row.name, row.kind_text = self._statement_name(one)
            if parts[0].kind == "fold":
                row.badge = f"× {len(rounds)}"
        elif one.kind == "module":
            row.name = _without(one.label, front)
            row.kind_text = modules.get(one.label, "")
            row.attributes = self._graph.module_details.get(one.label, "")
            if not row.kind_text and not one.children:
                row.kind_text = self._ops_text(one.units)
        elif one.kind == "round":
            row.name, row.kind_text = one.label, self._ops_text(one.units)
        else:
            row.name, row.kind_text = self._statement_name(one)
        self._label(row, rounds)

    def _label(self, row: Row, rounds: Sequence[Part]) -> None:
        """Give a row the name that the user has for its modules or, of a statement, for its last
        op."""
        first, last = rounds[0], rounds[-1]
        keys = row.name, _span(first.label, last.label)
        own = next((self._labels[key] for key in keys if key in self._labels), "")
        heads = self._facts.ops.heads_among(first.units)
        if len(rounds) == 1 and heads and (first.kind != "module" or len(heads) == 1):
            own = own or self._label_of(heads[-1])
        if own:
            row.name = self._labelled[row.path] = printable(own)

    def _label_of(self, unit: int) -> str:
        addresses = map(self._graph.address, self._units.nodes(unit) if self._labels else ())
        return next((self._labels[one] for one in addresses if one in self._labels), "")

    def _leaf_name(self, leaf: int) -> str:
        return self._labels.get(self._graph.address(leaf), self._facts.leaves[leaf].name)

    def _name_rounds(self, rounds: Sequence[Part], front: tuple[str, ...]) -> tuple[str, str]:
        """Name rounds by the modules that they have, else by the loop."""
        first, last = rounds[0], rounds[-1]
        modules = [
            [_without(one.label, front) for one in each.children if one.kind == "module"]
            for each in rounds
        ]
        if first.label and last.label:
            return f"{first.label} … {last.label.rpartition(' ')[2]}", ""
        if modules[0] and modules[-1] and modules[0] != modules[-1]:
            return _span(modules[0][0], modules[-1][-1]), ""
        return self._ops_text(first.units), ""

    def _statement_name(self, part: Part) -> tuple[str, str]:
        """Return the variable that a statement assigns, "" for none, and its ops."""
        return self._result(part.units), self._ops_text(part.units)

    def _result(self, units: Sequence[int]) -> str:
        """Return the variable that the line of the last of some ops assigns, "" for none."""
        results, sources = self._graph.results, self._graph.sources
        nodes = [id for unit in reversed(units) for id in self._units.nodes(unit)]
        heads = self._facts.ops.heads_among(units)
        line = sources.get(self._units.node(heads[-1])) if heads else None
        name = next((results[id] for id in nodes if id in results and sources.get(id) == line), "")
        return printable(name)

    def _ops_text(self, units: Sequence[int]) -> str:
        """List the ops of a statement, without those that serve others."""
        if self._facts.ops.is_softmax(units):
            return "softmax"
        stems, heads = self._units.stems, self._facts.ops.heads_among(units)
        called = {unit: self._label_of(unit) for unit in heads[:-1]}  # the last names the row
        names = _as_called([called.get(unit) or stems[unit] for unit in heads])
        if Counter(names) == _ROTATION:
            return "rotary embedding"
        if any(name.endswith("_backward") for name in names):
            return f"derivative, {plural(len(names), 'op')}"
        runs = (
            list(Counter(names).items()) if len(names) > MOST_OPS else [(name, 1) for name in names]
        )
        texts = [f"{name} × {count}" if count > 1 else name for name, count in runs]
        if len(texts) > MOST_OPS:
            return f"{', '.join(texts[:2])}, … {len(names)} ops"
        return ", ".join(texts)

    def _inside_text(self, part: Part) -> str:
        """List what is inside a part, by its names; inside a container by its classes."""
        names = []
        inside = list(_inside(part))
        while inside:
            one = inside.pop(0)
            if one.is_container and part.is_container:
                inside[:0] = _inside(one)
            elif one.kind == "module":
                kind = self._graph.modules.get(one.label, "")
                name = _without(one.label, (f"{part.label}.",))
                names.append(kind or name if part.is_container else name)
            elif one.kind == "fold":
                first = one.children[0]
                name = _without(first.label, (f"{part.label}.",)) or self._ops_text(first.units)
                names.append(f"{name} × {len(one.children)}")
            else:
                names.append(
                    " ".join(filter(None, self._statement_name(one)[:1]))
                    or self._ops_text(one.units)
                )
        more = f" → … {len(names) - MOST_INSIDE} more" if len(names) > MOST_INSIDE else ""
        return " → ".join(names[:MOST_INSIDE]) + more

    def _sum_up(self, row: Row) -> None:
        units = row.units
        row.ops = len(units)
        leaves = self._facts.parameters(units)
        sizes = {leaf: prod(self._facts.leaves[leaf].shape or ()) for leaf in leaves}
        row.parameters = sum(sizes.values())
        if len(row.rounds) > 1:
            each = sum(sizes[leaf] for leaf in self._facts.parameters(row.rounds[0]))
            row.each = each if each * len(row.rounds) == row.parameters else 0
        row.own = sum(size for leaf, size in sizes.items() if leaf not in self._counted)
        self._counted.update(leaves)
        for leaf in leaves:
            self._users.setdefault(leaf, []).append(row)
        for one in row.rounds or (units,):
            self._uses.update(self._facts.parameters(one))
        row.parameter_gradient = self._facts.parameter_gradient(units)
        row.seconds = self._facts.seconds(units)

    def _out_unit(self, part: Part) -> int:
        """Return the unit that makes the result of a part: of a module the last one inside it, else
        the last one that is not there to serve another; -1 for none."""
        units, scopes = part.units, self._units.scopes
        if not units:
            return -1
        if part.kind == "module" and part.label:
            inside = [
                unit
                for unit in units
                if scopes[unit] == part.label or scopes[unit].startswith(f"{part.label}.")
            ]
            units = tuple(inside) or units
        else:
            units = tuple(self._facts.ops.heads_among(units)) or units
        used = [unit for unit in units if self._facts.gradients[unit] is not None]
        return (used or units)[-1]

    def _shapes_in(self, part: Part) -> list[Shape | None]:
        """Return the shape of what comes into a part, if that is one value."""
        inside = set(part.units)
        shapes: dict[int, Shape | None] = {}
        for unit in part.units:
            for source in self._units.inputs[unit]:
                if source not in inside:
                    shapes.setdefault(source, self._facts.shapes.get((source, unit)))
            for leaf in self._facts.read.get(unit, ()):
                known = self._facts.leaves[leaf]
                if not known.is_parameter and known.shape:
                    shapes.setdefault(-1 - leaf, known.shape)
        values = list(shapes.values())
        if part.kind == "module":
            return values[:1]
        return values if len(values) == 1 else []

    def _settle_lost(self) -> None:
        """Give units that no row shows, of rounds that are unlike others, to the row before."""
        place = next((at for at, row in enumerate(self._rows) if row.has_dot), -1)
        lost: dict[int, list[int]] = {}
        for unit, known in enumerate(self._place):
            if known < 0:
                lost.setdefault(place, []).append(unit)
                self._place[unit] = place
            place = self._place[unit]
        for at, units in lost.items():
            self._rows[at].units += tuple(units)
        for row in self._rows:
            if row.kind == "row":
                self._sum_up(row)

    def _add_inputs(self) -> None:
        """Give a row to each input that starts a path; others are named where they are used."""
        facts, first_reader = self._facts, dict[int, int]()
        readers: dict[int, set[int]] = {}
        for unit, leaves in facts.read.items():
            for leaf in leaves:
                if not facts.leaves[leaf].is_parameter:
                    readers.setdefault(leaf, set()).add(self._place[unit])
        fed = {
            (self._place[unit], self._round[unit])
            for unit, sources in enumerate(self._units.inputs)
            for source in sources
            if (self._place[source], self._round[source]) != (self._place[unit], self._round[unit])
        }
        rounds: dict[tuple[int, int], set[int]] = {}  # in which a row reads a leaf
        for unit, leaves in facts.read.items():
            for leaf in leaves:
                rounds.setdefault((leaf, self._place[unit]), set()).add(self._round[unit])
        before: dict[int, list[Row]] = {}
        started: set[int] = set()

        def order(entry: tuple[int, set[int]]) -> tuple[int, bool, int, int]:
            known = facts.leaves[entry[0]]
            return min(entry[1]), not known.name, -prod(known.shape or ()), entry[0]

        for leaf, places in sorted(readers.items(), key=order):
            known, place = facts.leaves[leaf], min(places)
            starts = place not in started and bool(known.shape)
            # of an index that a module made there is nothing to say
            starts &= bool(known.name) or self._rows[place].header < 0
            starts &= any((place, one) not in fed for one in rounds[leaf, place])
            own = known.has_gradient or (starts and len(first_reader) < MOST_INPUTS)
            if own and place >= 0:
                started.add(place)
                first_reader[leaf] = place
                at, panel = place, self._rows[place].panel
                around = self._rows[at].header if rounds[leaf, place] == {0} else -1
                while panel and around >= 0 and self._rows[around].panel == panel:
                    at, around = around, self._rows[around].header  # for the first round alone
                before.setdefault(at, []).append(self._input(leaf))
            elif known.name:
                for at in places:
                    self._with(self._rows[at], self._leaf_name(leaf))
        if not before:
            return
        moved: list[int] = []
        rows: list[Row] = []
        for at, row in enumerate(self._rows):
            rows += before.get(at, ())
            moved.append(len(rows))
            rows.append(row)
        rows = self._above_headers(rows)
        new = {id(row): at for at, row in enumerate(rows)}
        self._place = [-1 if at < 0 else new[id(self._rows[at])] for at in self._place]
        for row in rows:
            if row.header >= 0:
                row.header = new[id(self._rows[row.header])]
        self._rows = rows

    @staticmethod
    def _above_headers(rows: list[Row]) -> list[Row]:
        """Move inputs above the headers of the modules that they are given to."""
        placed: list[Row] = []
        for row in rows:
            if row.kind == "input":
                at = len(placed)
                while at and placed[at - 1].kind == "header":
                    at -= 1
                row.depth = placed[at].depth if at < len(placed) else 0
                placed.insert(at, row)
            else:
                placed.append(row)
        for one, row, other in zip(placed, placed[1:], placed[2:], strict=False):
            if row.kind == "input" and one.panel == other.panel:
                row.panel, row.depth, row.header = one.panel, other.depth, other.header
        return placed

    def _input(self, leaf: int) -> Row:
        known = self._facts.leaves[leaf]
        row = Row("input", 0, name=printable(self._leaf_name(leaf)) or "input", leaf=leaf)
        row.kind_text = "input" if row.name != "input" else ""
        if leaf in self._graph.cuts:
            row.kind_text = known.detail
        row.shapes_out = [known.shape]
        if known.has_gradient:
            sizes = [size for (_, to), size in self._facts.given.items() if to == leaf]
            pair = self._graph.pairs.get(leaf)
            stats = None if pair is None else self._graph.statistics.get(pair)
            total = Size.of(stats) if stats is not None else largest(sizes)
            row.gradients = [total]
        return row

    @staticmethod
    def _with(row: Row, name: str) -> None:
        if row.kind == "row" and name not in row.operands and len(row.operands) < MOST_NAMES:
            row.operands.append(printable(name))

    def _finish(self) -> None:
        """Say what is shared, and where the outputs are."""
        self._name_results()
        saved, packed = self._facts.saved_by(self._place, len(self._rows))
        for row, nbytes, has_packed in zip(self._rows, saved, packed, strict=True):
            row.saved, row.is_recomputed = nbytes, has_packed and not nbytes
        for row in self._rows:
            if row.kind == "row":
                self._share(row)
                if mark := self._facts.mark_of(row.units):
                    row.marks.append(Mark(mark, "warn"))
        for unit, nodes in self._facts.outputs.items():
            row = self._rows[self._place[unit]]
            row.is_output = True
            for node in nodes:
                stats = self._graph.statistics.get(node)
                name = self._graph.names[node]
                row.name = printable(self._labels.get(name, name))
                if stats is not None and stats.size == 1:
                    row.value, other = _number(stats), self._graph.others.get(node)
                    if other is not None and _number(other) != row.value:
                        row.other_value = _number(other)
        self._sum_headers()

    def _share(self, row: Row) -> None:
        """Find with what the parameters of a row are shared."""
        leaves = self._facts.parameters(row.units)
        users = [one for leaf in leaves for one in self._users[leaf]]
        other = next((one for one in users if one.name != row.name), row)
        row.shared_with = (other.name or other.kind_text) if other is not row else ""
        row.uses = max((self._uses[leaf] for leaf in leaves), default=0)
        row.rounds_share = 1 < row.uses == len(row.rounds) and not row.shared_with

    def _shared(self) -> Iterator[Shared]:
        """Yield the layers whose parameters several rows, or rounds of one, use."""
        layers: dict[str, list[int]] = {}
        for leaf in self._users:
            layers.setdefault(self._layer(leaf), []).append(leaf)
        for layer, leaves in layers.items():
            uses = max(self._uses[leaf] for leaf in leaves)
            names = dict.fromkeys(row.name for leaf in leaves for row in self._users[leaf])
            if uses > 1:
                yield Shared(printable(layer), uses, tuple(names) if len(names) > 1 else ())

    def _layer(self, leaf: int) -> str:
        """Return the module that has a parameter, or its own name."""
        name = self._facts.leaves[leaf].name
        return name.rpartition(".")[0] or name

    def _name_results(self) -> None:
        """Say which variables hold the results of modules: of several that one statement calls,
        each has its own."""
        for line, run in groupby(self._rows, lambda one: one.path and self._line_of(one)):
            rows = list(run)
            names = next((row.result for row in rows if ", " in row.result), "").split(", ")
            made = {unit for row in rows for unit in row.units}
            is_chain = any(made & {*self._inputs_of(row)} for row in rows)
            if line and not is_chain and len(rows) > 1 and len(names) > 1:
                whole = names if len(names) == len(rows) else [""] * len(rows)
                for row, name in zip(rows, whole, strict=True):
                    row.result = name
        for row in self._rows:
            one = row.closed or row
            if one.result == one.name.rpartition(".")[2]:
                one.result = ""

    def _inputs_of(self, row: Row) -> Iterator[int]:
        """Yield the units outside of a row that it reads."""
        inside = {*row.units}
        for unit in row.units:
            yield from (one for one in self._units.inputs[unit] if one not in inside)

    def _line_of(self, row: Row) -> object:
        """Return the line at which the last op of a row ran."""
        return self._graph.sources.get(self._units.node(row.units[-1])) if row.units else None

    def _extreme_gradients(self) -> Iterator[Extreme]:
        """Yield the smallest gradient that a row shows, but for 0, and the largest; and the
        smallest of all ops, where no row shows it."""
        facts, place, mains = self._facts, self._place, self._facts.ops.heads.mains
        outs = (self._outs[one] for row in self._rows if row.kind == "row" for one in row.rounds)
        shown = {mains[unit] for unit in outs if unit >= 0}
        known = [
            (float(f"{size.rms:.3g}"), unit not in shown, unit)
            for unit, size in enumerate(facts.gradients)
            if size is not None and self._is_compared(unit, size)
        ]
        if len({rms for rms, _, _ in known}) < LEAST_DIFFERENT:
            return
        seen = [one for one in known if not one[1]] or known
        ends: list[tuple[ExtremeKind, tuple[float, bool, int]]]
        ends = [("smallest", min(seen)), ("largest", max(seen, key=lambda one: (one[0], -one[2])))]
        if min(known) < ends[0][1] and min(known)[0] < ends[0][1][0]:
            ends.insert(1, ("inside", min(known)))
        for kind, (_, hidden, unit) in ends:
            row = self._rows[place[unit]]
            is_row = not hidden and row.path and len(row.rounds) == 1
            where = self._called(row.path) if is_row else self._where(row, unit)
            yield Extreme(kind, place[unit], where, facts.gradients[unit])

    def _is_compared(self, unit: int, size: Size) -> bool:
        """Tell whether an op has a place of its own, and a gradient of several numbers."""
        ops = self._facts.ops
        is_known = size.state == HEALTHY and size.rms > 0 and self._place[unit] >= 0
        return is_known and ops.heads.mains[unit] == unit and prod(ops.shape(unit) or ()) > 1

    def _where(self, row: Row, unit: int) -> str:
        """Say which op of the program a unit is: the module, the variable or the op, the round."""
        scope = self._units.scopes[unit]
        heads = self._facts.ops.heads_among(row.units)
        inside = [one for one in heads if self._units.scopes[one] == scope]
        what = "" if scope and scope == row.path else self._result([unit])
        if not what and len(inside) != len(row.rounds):
            what = self._units.stems[unit]
        text = " in ".join(filter(None, (what, self._called(scope)))) or row.name or row.kind_text
        scopes = {self._units.scopes[units[-1]] for units in row.rounds if units}
        if len(row.rounds) > 1 and len(scopes) == 1:
            text += f", round {self._round[unit] + 1} of {self._round_count[unit]}"
        return text

    def _called(self, path: str) -> str:
        """Name a module by its path, and by its class where the name is only a number."""
        if path in self._labelled:
            return self._labelled[path]
        kind = self._graph.modules.get(path, "") if path.rpartition(".")[2].isdecimal() else ""
        return printable(f"{path} ({kind})" if kind else path)

    def _largest_layer(self) -> Extreme | None:
        """Return the module that has most parameters of its own."""
        layers = Counter[str]()
        rows: dict[str, int] = {}
        for at, row in enumerate(self._rows):
            for leaf in self._facts.parameters(row.units) if row.kind == "row" else ():
                layer = self._layer(leaf)
                if self._users[leaf][0] is row:
                    layers[layer] += prod(self._facts.leaves[leaf].shape or ())
                    rows.setdefault(layer, at)
        if len(layers) < 2:
            return None
        layer, most = max(layers.items(), key=lambda one: one[1])
        ties = sum(one == most for one in layers.values()) - 1
        return Extreme("layer", rows[layer], self._called(layer), None, most, ties)

    def _mark(self, extremes: Sequence[Extreme]) -> None:
        """Let rows know what is the most in them, and headers when they are closed."""
        for one in extremes:
            row = self._rows[one.row]
            if one.kind == "inside":
                continue
            row.extremes += (one.kind,)
            if one.kind == "layer" and one.parameters not in (row.each, row.parameters):
                row.hidden += (one.kind,)
            while row.header >= 0:
                row = self._rows[row.header]
                if row.closed is not None:
                    row.closed.extremes += (one.kind,)
                    row.closed.hidden += (one.kind,)

    def _sum_headers(self) -> None:
        inside: dict[int, list[Row]] = {}
        for at, row in reversed([*enumerate(self._rows)]):
            below = inside.get(at, [])
            if row.kind == "header":
                known = [one.rounds_share for one in below if one.parameters]
                row.rounds_share = bool(known) and all(known)
            if any(one.is_recomputed for one in below):
                row.is_recomputed = not row.saved
                for one in below if row.is_recomputed else ():  # once is enough
                    one.is_recomputed = False
            if row.header >= 0:
                inside.setdefault(row.header, []).append(row)
                around = self._rows[row.header]
                around.ops += row.ops
                around.parameters += row.own if row.kind == "row" else row.parameters
                around.saved += row.saved
                if row.seconds is not None:
                    around.seconds = (around.seconds or 0.0) + row.seconds
            if row.closed is not None:
                one = row.closed
                one.ops, one.parameters, one.saved = row.ops, row.parameters, row.saved
                one.is_recomputed = row.is_recomputed
                one.seconds, one.own = row.seconds, row.parameters
                one.parameter_gradient = self._facts.parameter_gradient(row.units)
        folds: set[int] = set()  # and what is in those that say that rounds share all
        for at, row in enumerate(self._rows):
            says = row.rounds_share and bool(row.badge) and row.header not in folds
            if says or row.header in folds:
                folds.add(at)
            row.rounds_share = says or (row.kind == "row" and at in folds and row.rounds_share)

    def _is_next_round(self, source: int, unit: int) -> bool:
        """Tell whether a value goes from one round of what is drawn once to another."""
        turns = zip(self._turns.get(source, ()), self._turns.get(unit, ()), strict=False)
        different = next((pair for pair in turns if pair[0] != pair[1]), None)
        return different is not None and different[0][0] == different[1][0]

    def _links(self) -> list[Link]:
        """Link the rows, by what ops read; what one round gives to the next is not shown."""
        place, flows = self._place, self._facts.flows
        found: dict[tuple[int, int], dict[int, Size | None]] = {}  # by the round
        carried: set[int] = set()  # rows that read what the round before made
        layers = {row.panel for row in self._rows if row.each} | self._parallel
        for unit, sources in enumerate(self._units.inputs):
            for source in sources:
                one, other = place[source], place[unit]
                if one >= 0 and self._is_next_round(source, unit):
                    row = self._rows[one]
                    row.is_state |= row.panel not in layers
                    if row.is_state:
                        carried.add(other)
                    continue
                if one < 0 or one >= other:
                    continue
                inside = self._round[unit] if unit in self._turns else self._round[source]
                known = found.setdefault((one, other), {})
                sizes = [size for size in (known.get(inside), flows.get((unit, source))) if size]
                known[inside] = largest(sizes)
        for at, row in enumerate(self._rows):
            if row.kind == "input":
                for unit, leaves in self._facts.read.items():
                    if row.leaf in leaves and place[unit] > at:
                        size = self._facts.given.get((unit, row.leaf))
                        found.setdefault((at, place[unit]), {self._round[unit]: size})
        fed = {target for _, target in found}
        for at in carried - fed:
            self._with(self._rows[at], "state")
        return [Link(*ends, self._size_of(*ends, found[ends])) for ends in sorted(found)]

    def _size_of(self, source: int, target: int, sizes: Mapping[int, Size | None]) -> Size | None:
        """Return the size that a link has, of those in the rounds where a gradient flows: into a
        panel that of the first, out of it that of the last, and inside as far as it is between."""
        known = sorted(number for number, size in sizes.items() if size is not None)
        if not known:
            return None
        panel = self._rows[source].panel
        if panel and panel == self._rows[target].panel:
            rows = [at for at, row in enumerate(self._rows) if row.panel == panel and row.has_dot]
            at = rows.index(source) * len(known) // len(rows)
        else:
            at = -1 if len(self._rows[source].rounds) > 1 else 0
        return sizes[known[at]]

    def _notes(self) -> None:
        """Mark the rows in which NaN starts, and where gradients end."""
        leaving: dict[int, list[Size]] = {}
        for (unit, source), size in self._facts.flows.items():
            if self._place[unit] != self._place[source]:
                leaving.setdefault(self._place[unit], []).append(size)
        for (unit, _), size in self._facts.given.items():
            leaving.setdefault(self._place[unit], []).append(size)
        for at, row in enumerate(self._rows):
            if row.kind != "row" or not row.gradients:
                continue
            out = leaving.get(at, ())
            states = [one.state for one in row.gradients if one is not None]
            if not states or not out:
                continue
            if BROKEN not in states and any(one.state == BROKEN for one in out):
                word = next(one.word for one in out if one.state == BROKEN)
                op = self._first_broken(row.units)
                where = f", in {op}" if op else ""
                row.marks = [Mark(f"{word} starts here{where}", "alert")]
            elif HEALTHY in states and all(one.state == DEAD for one in out):
                row.marks = [Mark("gradient ends here", "warn")]

    def _first_broken(self, units: Sequence[int]) -> str:
        """Return the op whose gradient comes in whole and goes out broken."""
        gradients, flows = self._facts.gradients, self._facts.flows
        for unit in reversed(units):
            size = gradients[unit]
            if size is None or size.state == BROKEN:
                continue
            for source in self._units.inputs[unit]:
                given = flows.get((unit, source))
                if given is not None and given.state == BROKEN:
                    return self._units.stems[unit]
        return ""


def _as_called(names: Sequence[str]) -> list[str]:
    """Name ops as programs call them.

    >>> _as_called(["log_softmax", "nll_loss", "add"])
    ['cross_entropy', 'add']
    >>> _as_called(["mul", "mul", "bmm", "add", "safe_softmax", "bmm", "transpose"])
    ['scaled_dot_product_attention', 'transpose']
    """
    called: list[str] = []
    for name in names:
        if called and called[-1] == "log_softmax" and name.startswith("nll_loss"):
            called[-1] = "cross_entropy"
        elif name == "safe_softmax":  # nothing else has it
            while called and called[-1] in _BEFORE_SOFTMAX:
                called.pop()
            called.append(_ATTENTION)
        elif not (called and called[-1] == _ATTENTION and name in _AFTER_SOFTMAX):
            called.append(name)
    return called


_ATTENTION: Final = "scaled_dot_product_attention"
_BEFORE_SOFTMAX: Final = (
    "mul",
    "bmm",
    "matmul",
    "add",
    "baddbmm",
    "masked_fill",
    "where",
    "expand",
)
_ROTATION: Final = Counter(mul=2, slice=2, add=1, neg=1, cat=1)
_AFTER_SOFTMAX: Final = ("dropout", "native_dropout", "mul", "bmm", "matmul")


def _number(stats: Statistics) -> str:
    """Write the value of a scalar in four digits."""
    if stats.trouble:
        return "NaN" if stats.nans else format_number(stats.maximum)
    return f"{stats.minimum:.4g}".replace("-", "−")


def _rounds(parts: Sequence[Part]) -> list[Part]:
    """Return what parts stand for: of folds their rounds, else themselves."""
    return [one for part in parts for one in (part.children if part.kind == "fold" else (part,))]


def _fronts(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return what stands before the names of all that is inside some modules."""
    return tuple(f"{one.label}." for one in parts if one.kind == "module")


def _without(label: str, fronts: tuple[str, ...]) -> str:
    return printable(label[max((len(one) for one in fronts if label.startswith(one)), default=0) :])


def _span(first: str, last: str) -> str:
    """Name things from the first to the last.

    >>> _span("layers.0", "layers.11"), _span("block1", "block3"), _span("up.0.a", "up.3.a")
    ('layers.0 … 11', 'block1 … 3', 'up.0.a … 3.a')
    """
    pairs = zip(first, last, strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    while start and first[start - 1].isdigit():
        start -= 1
    return f"{first} … {last[start:]}" if first != last else first
