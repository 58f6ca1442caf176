"""Hooks that were registered twice, and so do twice what they do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any, Final

from gradstep.capturing.hook_lines import registered_at
from gradstep.capturing.sources import definition
from gradstep.contract.insides import insides_of
from gradstep.contract.module_paths import named_modules
from gradstep.findings.facts import Objects
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.zeros import called_at
from gradstep.graph.model import Source


def find_duplicates(subject: Subject) -> Iterator[Reason]:
    """Yield one reason per hook that sits more than once in the same place."""
    for index, node in enumerate(subject.order):
        leaf = subject.engine.leaf(node)
        place = subject.graph.address(index) if leaf is None else subject.name(leaf)
        for table in subject.engine.reading.hooks(node):
            for hook, lines in _repeated(table):
                yield _reason(hook, lines, place, index)
    for where, module in _modules(subject):
        for table in insides_of(module).hooks(module):
            for hook, lines in _repeated(table):
                yield _reason(hook, lines, where, None)


@dataclass(frozen=True)
class DuplicateHook(Reason):
    """A hook is registered several ``times`` on a ``place``."""

    code = "duplicate-hook"
    blames_line = True
    helps = "register it once, outside the loop, or remove() the previous handle"
    name: str
    times: int = field(compare=False)
    place: str

    def text(self) -> str:
        return (
            f"the hook {self.name} is registered {self.times} times on {self.place}, and will run "
            f"{self.times} times"
        )

    def calls(self) -> tuple[str, ...]:
        return (called_at(self.place),)


def _reason(hook: Any, lines: Sequence[Source | None], place: str, index: int | None) -> Reason:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    code = getattr(hook, "__code__", None)  # a method has that of its function
    known = [line for line in lines if line is not None]
    if not known and code is not None:
        known = [definition(code)]
    first, last = (known[0], known[-1]) if known else (None, None)
    return DuplicateHook(
        name, len(lines), place, address=place if index is not None else "", index=index,
        source=first, other=None if first == last else last,
    )  # fmt: skip


def _modules(subject: Subject) -> Iterator[tuple[str, Any]]:
    """Yield all modules that the program knows, each once, under its first name."""
    seen: set[int] = set()
    for name, module in subject.names.modules.items():
        for path, child in named_modules(module):
            if id(child) not in seen:
                seen.add(id(child))
                yield f"{name}.{path}" if path else name, child


def _repeated(table: Mapping[int, Any]) -> Iterator[tuple[Any, Sequence[Source | None]]]:
    """Yield the hooks that are in a table more than once, each with the lines that registered
    it."""
    lines: dict[Hashable, list[Source | None]] = {}
    known: dict[Hashable, Any] = {}
    for number, hook in table.items():
        nr, function = _taken_apart(hook)
        key = (nr, _identity(function))
        lines.setdefault(key, []).append(registered_at(table, number))
        known[key] = function
    return ((known[key], line) for key, line in lines.items() if len(line) > 1)


def _taken_apart(hook: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the output that a hook belongs to, where it matters, and its function."""
    if hasattr(hook, "call"):  # of a module's forward
        return None, hook.call
    return hook if isinstance(hook, tuple) else (None, hook)


def _identity(function: Any) -> Hashable:
    """Equal for hooks that do the same: a function made anew in every round of a loop has another
    identity, but the same code and the same variables around it."""
    if isinstance(function, MethodType):
        return function  # equal to another one of the same function and the same object
    if not isinstance(function, FunctionType):
        return id(function)
    cells = function.__closure__ or ()
    around = tuple(_content(cell) for cell in cells)
    defaults = tuple(map(id, function.__defaults__ or ()))
    return function.__code__, around, defaults


def _content(cell: Any) -> int:
    try:
        return id(cell.cell_contents)
    except ValueError:  # empty yet
        return 0


RULES: Final = (
    Rule(find_duplicates, Meaning(
        "duplicate-hook", "warning", "a hook is registered more than once",
        "It runs as often as it is registered.",
        "for x in data:\n    w.register_hook(clip)", "w.register_hook(clip)\nfor x in data: ...",
        "When the hook should run that often.",
    ), needs=(Objects,)),
)  # fmt: skip
