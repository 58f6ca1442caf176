"""What an editor shows of a session at one stop: frames, scopes and variables.

A frame is a node: the one that runs next on top, and below it those that the gradient came through
from the loss.  Its number is that of the node, as people count; 0 stands for the end of the pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gradstep.console.session import Session
from gradstep.dap.protocol import Body, Refused
from gradstep.debugger.errors import CommandError, EditError
from gradstep.debugger.snapshot import Incoming, LeafGradient, NodeDetail, Value
from gradstep.debugger.snapshot.value import NOT_RECORDED
from gradstep.debugger.snapshot.wording import of_statistics, summary
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics, format_number, format_shape
from gradstep.text import plural, printable

MOST_FRAMES: Final = 1000  # in one answer
_ROWS: Final = 100  # numbers, or slices, in a row of variables

Children = Callable[[], "list[Variable]"]
Change = Callable[[str], None]
"""Sets a variable to what a text says.

Raises:
    Refused: it cannot be set, or not to that.
"""


@dataclass(frozen=True)
class Variable:
    """A name with a value in words. ``expression`` is what it is called in our language, ""
    where it has no name there; ``place`` what a watch calls it."""

    name: str
    value: str
    type: str = ""
    children: Children | None = None
    expression: str = ""
    change: Change | None = None
    place: str = ""


class Views:
    """The frames, scopes and variables of ``session`` where it stands; moving makes others."""

    def __init__(self, session: Session, *, reads_texts: bool) -> None:
        """``reads_texts``: the lines of the program are those of a recording, not of files."""
        self._session = session
        self._reads_texts = reads_texts
        self._lists: list[Children] = []
        self._callers: list[int] = []

    # frames

    def frames(self, start: int, count: int) -> tuple[list[Body], int | None]:
        """Return ``count`` frames from number ``start`` on, 0 for as many as one answer may have;
        and how many there are in all, None where that is not known."""
        session = self._session
        if session.position == session.length:
            end = {"id": 0, "name": "end of the backward pass", "line": 0, "column": 0}
            return ([end] if start == 0 else []), 1
        count = min(count or MOST_FRAMES, MOST_FRAMES)
        callers = self._callers or [session.position]
        while len(callers) <= start + count:
            sender = session.first_sender(callers[-1])
            if sender is None:
                break
            callers.append(sender)
        self._callers = callers
        total = len(callers) if len(callers) <= start + count else None
        return [self._frame(index) for index in callers[start : start + count]], total

    def _frame(self, index: int) -> Body:
        graph = self._session.graph
        source = graph.sources.get(index)
        name = printable(node_text(graph, index))
        frame: Body = {"id": index + 1, "name": name, "line": 0, "column": 0}
        if source is not None:
            frame |= {"source": self.source(source.file), "line": source.line, "column": 1}
        return frame

    def source(self, file: str) -> Body:
        """Return a file of the program as the protocol has it; what a recording kept of it is
        asked for by its number."""
        if self._reads_texts:
            number = self.files.index(file) + 1 if file in self.files else 0
            return {"name": Path(file).name, "path": file, "sourceReference": number}
        return {"name": Path(file).name, "path": file}

    @property
    def files(self) -> list[str]:
        """The files of the program that made a node."""
        return files_of(self._session.graph)

    # variables

    def scopes(self, frame: int) -> list[Body]:
        """Return the scopes of a frame.

        Raises:
            Refused: there is no such frame.
        """
        session = self._session
        if not 0 <= frame <= session.length:
            raise Refused(f"there is no frame {frame}")
        leaves = self._scope("Leaves", self._leaves)
        if not frame:
            return [leaves]
        kinds = {
            "Inputs": self._inputs, "Outputs": self._outputs, "Saved values": self._saved,
            "Node": self._facts,
        }  # fmt: skip
        about = [
            self._scope(name, lambda of=of: of(session.detail(frame - 1)))  # type: ignore[misc]
            for name, of in kinds.items()
        ]
        return [*about[:-1], leaves, about[-1]]

    def _scope(self, name: str, children: Children) -> Body:
        expensive = name in ("Leaves", "Node")  # an editor opens the others at each stop
        return {"name": name, "variablesReference": self._refer(children), "expensive": expensive}

    def _refer(self, children: Children) -> int:
        """Return the number by which an editor asks for ``children`` until the next stop."""
        self._lists.append(children)
        return len(self._lists)

    def variables(self, reference: int) -> list[Variable]:
        """Return what that number stands for.

        Raises:
            Refused: nothing, or something before the last move.
        """
        if not 1 <= reference <= len(self._lists):
            raise Refused("these variables are no longer known: the session has moved")
        return self._lists[reference - 1]()

    def find(self, reference: int, name: str) -> Variable:
        """Return a variable by its name.

        Raises:
            Refused: there is none.
        """
        for variable in self.variables(reference):
            if variable.name == name:
                return variable
        raise Refused(f"there is no variable {name} here")

    def body(self, variable: Variable) -> Body:
        """Return a variable as the protocol has it."""
        fields: Body = {
            "name": variable.name,
            "value": printable(variable.value),
            "variablesReference": self._refer(variable.children) if variable.children else 0,
        }
        if variable.type:
            fields["type"] = variable.type
        if variable.expression:
            fields["evaluateName"] = variable.expression
        if variable.change is None:
            fields["presentationHint"] = {"attributes": ["readOnly"]}
        return fields

    def _inputs(self, detail: NodeDetail) -> list[Variable]:
        several = len(detail.incoming) > 1
        return [
            self._input(detail.index, incoming, f"in.{incoming.input_nr}" if several else "in")
            for incoming in detail.incoming
        ]

    def _input(self, index: int, incoming: Incoming, name: str) -> Variable:
        session, graph = self._session, self._session.graph
        parts = [
            _tensor(
                "seed"
                if contribution.producer is None
                else node_text(graph, contribution.producer),
                contribution.value,
            )
            for contribution in incoming.contributions
        ]
        count = plural(incoming.expected, "contribution")
        arrived = Variable("arrived", f"{incoming.arrived} of {count}", children=lambda: parts)

        def put(value: object) -> None:
            with _edits():
                session.edit.set(index, value, incoming.input_nr)

        def change(text: str) -> None:
            _carry_out(session, f"set {step_number(index)} in.{incoming.input_nr} = {text}")

        return _tensor(
            name, incoming.total, nothing=incoming.without_total, beside=(arrived,),
            expression=name, change=change, put=put, place=step_number(index),
        )  # fmt: skip

    def _outputs(self, detail: NodeDetail) -> list[Variable]:
        graph = self._session.graph
        return [
            _tensor(
                f"out.{outgoing.output_nr}" if len(detail.outgoing) > 1 else "out",
                outgoing.value,
                nothing="undefined" if outgoing.sent else "nothing yet",
                beside=(
                    Variable(
                        "to",
                        "nowhere" if outgoing.target is None else node_text(graph, outgoing.target),
                    ),
                ),
                expression=f"out.{outgoing.output_nr}",
            )
            for outgoing in detail.outgoing
        ]

    @staticmethod
    def _saved(detail: NodeDetail) -> list[Variable]:
        return [
            _tensor(
                kept.name,
                kept.value,
                nothing=kept.state,
                beside=(Variable("state", kept.state),),
                expression=f"saved.{kept.name}",
            )
            for kept in detail.saved
        ]

    def _leaves(self) -> list[Variable]:
        table = self._session.inspector.leaves()
        return _pages(lambda place: self._leaf(table[place]), 0, len(table))

    def _leaf(self, leaf: LeafGradient) -> Variable:
        session, name = self._session, f"{leaf.name}.grad"

        def change(text: str) -> None:
            _carry_out(session, f"set {name} = {text}")

        def put(value: object) -> None:
            with _edits():
                session.edit.set(leaf.index, value, grad=True)

        beside = (
            Variable("arrived", f"{leaf.arrived} of {plural(leaf.expected, 'contribution')}"),
            _tensor("before this pass", leaf.before, nothing="None"),
            _tensor("waiting", leaf.pending, nothing="nothing"),
        )
        return _tensor(
            name, leaf.now, nothing="None", beside=beside, expression=name, change=change, put=put,
            place=leaf.name,
        )  # fmt: skip

    def _facts(self, detail: NodeDetail) -> list[Variable]:
        graph, index = self._session.graph, detail.index
        source = graph.sources.get(index)
        facts = [
            ("op", graph.stem(index)),
            ("name", graph.names[index]),
            ("module", graph.scopes[index]),
            ("line", f"{source.place if source else ''}  {detail.source_line}".strip()),
            *((f"gradient of {name}", rule) for name, rule in detail.formulas),
            *(("hook", hook) for hook in detail.hooks),
            *((f"phase {number}", phase.text) for number, phase in enumerate(detail.phases, 1)),
            *(("pass inside", title) for title in detail.nested),
            ("time", "" if detail.seconds is None else f"{detail.seconds:.2g} s"),
        ]
        rows = [Variable(name, text) for name, text in facts if text]
        if detail.forward is not None:
            rows.append(_described("forward", detail.forward))
        return rows

    def evaluated(self, name: str, value: Value | None) -> Variable:
        """Return the answer to an expression that means a tensor."""
        return _tensor(name, value)


def files_of(graph: Graph) -> list[str]:
    """Return the files of the program that made a node of ``graph``, sorted."""
    return sorted({source.file for source in graph.sources.values()})


def same_file(path: str, files: Sequence[str]) -> str:
    """Return which of ``files`` an editor means by ``path``; ``path`` itself where it is none.

    Those of a recording are named as seen from its program's folder.

    >>> same_file("/srv/ada/train.py", ["model.py", "train.py"])
    'train.py'
    """
    wanted = {path, os.path.realpath(path)}
    for file in files:
        if file in wanted or os.path.realpath(file) in wanted:
            return file
    parts = Path(path).parts
    ends = [file for file in files if parts[-len(Path(file).parts) :] == Path(file).parts]
    return max(ends, key=len, default=path)


# --- tensors -------------------------------------------------------------------------------------


def _tensor(
    name: str,
    value: Value | None,
    *,
    nothing: str = "undefined",
    beside: tuple[Variable, ...] = (),
    expression: str = "",
    change: Change | None = None,
    put: Callable[[object], None] | None = None,
    place: str = "",
) -> Variable:
    """Return a tensor as a variable: what stands ``beside`` it, its statistics and its numbers, in
    pages; ``put`` replaces it by an array."""
    if value is None:
        children = (lambda: list(beside)) if beside else None
        return Variable(name, nothing, "", children, expression, change, place)

    def inside() -> list[Variable]:
        rows = [*beside, _described("statistics", value.statistics)]
        if not value.has_numbers:
            rows.append(Variable("numbers", NOT_RECORDED))
        elif value.shape:
            rows += _numbers(np.asarray(value.array), (), put)
        return rows

    kind = f"{value.dtype} {format_shape(value.shape)}" if value.shape else value.dtype
    return Variable(name, summary(value), kind, inside, expression, change, place)


def _described(name: str, stats: Statistics) -> Variable:
    counts = (("elements", stats.size), ("zeros", stats.zeros), ("nan", stats.nans),
              ("inf", stats.infs))  # fmt: skip
    sizes = (("rms", stats.rms), ("minimum", stats.minimum), ("maximum", stats.maximum))
    rows = [Variable(word, format_number(number)) for word, number in sizes]
    rows += [Variable(word, f"{count:,}") for word, count in counts]
    return Variable(name, of_statistics(stats), children=lambda: rows)


def _numbers(
    whole: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    at: tuple[int, ...],
    put: Callable[[object], None] | None,
) -> list[Variable]:
    """Return the elements of ``whole`` at the place ``at``, or its slices there."""

    def one(number: int) -> Variable:
        place = (*at, number)
        name, part = f"[{number}]", whole[place]
        if len(place) < whole.ndim:
            text = Value(part).text() if part.ndim == 1 else format_shape(part.shape)
            return Variable(name, text, children=lambda: _numbers(whole, place, put))
        change = None if put is None else lambda text: put(_with_element(whole, place, text))
        return Variable(name, str(part.item()), change=change)

    return _pages(one, 0, whole.shape[len(at)])


def _pages(one: Callable[[int], Variable], first: int, end: int) -> list[Variable]:
    """Return the variables from ``first`` up to ``end``; many of them in pages, and these in pages
    of pages."""
    size = 1
    while (end - first) > size * _ROWS:
        size *= _ROWS
    if size == 1:
        return [one(number) for number in range(first, end)]
    return [_page(one, start, min(start + size, end)) for start in range(first, end, size)]


def _page(one: Callable[[int], Variable], first: int, end: int) -> Variable:
    return Variable(f"[{first}..{end - 1}]", "", children=lambda: _pages(one, first, end))


def _with_element(
    whole: np.ndarray[tuple[int, ...], np.dtype[np.generic]], at: tuple[int, ...], text: str
) -> object:
    copy = whole.copy()
    try:
        copy[at] = float(text)
    except ValueError:
        raise Refused(f"'{text}' is not a number") from None
    return copy


# --- changes -------------------------------------------------------------------------------------


class _edits:
    """Refuses, inside, what cannot be changed."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, EditError | CommandError):
            raise Refused(str(error)) from None


def _carry_out(session: Session, line: str) -> None:
    reply = session.reply(line)
    if reply.error:
        raise Refused(_last_line(reply.text))


def _last_line(text: str) -> str:
    """Return what is wrong with a line, without the line and the caret under it."""
    return text.splitlines()[-1].strip().removeprefix("^").strip()
