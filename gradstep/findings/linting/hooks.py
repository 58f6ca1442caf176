"""Hooks that were registered twice, and so do twice what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from types import FunctionType, MethodType
from typing import Any

from gradstep.capturing.module_paths import named_modules
from gradstep.capturing.sources import definition
from gradstep.findings.linting.finding import Finding
from gradstep.findings.linting.subject import Subject

_ON_MODULES = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
)  # fmt: skip


def find_duplicates(subject: Subject) -> Iterator[Finding]:
    """Yield one finding per hook that sits more than once in the same place."""
    for index, node in enumerate(subject.order):
        leaf = subject.leaf(node)
        place = subject.graph.address(index) if leaf is None else subject.name(leaf)
        for hooks in subject.engine.hooks(node):
            for hook, count in _repeated(hooks):
                yield _finding(hook, count, place, index)
    for where, module in _modules(subject):
        for attribute in _ON_MODULES:
            for hook, count in _repeated(getattr(module, attribute, {}).values()):
                yield _finding(hook, count, where, None)


def _finding(hook: Any, count: int, place: str, index: int | None) -> Finding:
    times = "twice" if count == 2 else f"{count} times"
    name = getattr(hook, "__qualname__", type(hook).__name__)
    code = getattr(hook, "__code__", None)  # a method has that of its function
    return Finding(
        "warning", "duplicate-hook",
        f"the hook {name} is registered {times} on {place}, and will run {times}",
        "register it once, outside the loop, or remove() the previous handle",
        place if index is not None else "", index,
        None if code is None else definition(code),
    )  # fmt: skip


def _modules(subject: Subject) -> Iterator[tuple[str, Any]]:
    """Yield all modules that the program knows, each once, under its first name."""
    seen: set[int] = set()
    for name, module in subject.names.modules.items():
        for path, child in named_modules(module):
            if id(child) not in seen:
                seen.add(id(child))
                yield f"{name}.{path}" if path else name, child


def _repeated(hooks: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """The hooks that are there more than once, and how often."""
    counts: Counter[Hashable] = Counter()
    known: dict[Hashable, Any] = {}
    for hook in hooks:
        nr, function = _taken_apart(hook)
        key = (nr, _identity(function))
        counts[key] += 1
        known[key] = function
    return ((known[key], count) for key, count in counts.items() if count > 1)


def _taken_apart(hook: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the output that a hook belongs to, where it matters, and its function."""
    if hasattr(hook, "call"):  # of a module's forward
        return None, hook.call
    return hook if isinstance(hook, tuple) else (None, hook)


def _identity(function: Any) -> Hashable:
    """Equal for hooks that do the same: a function made anew in every round of a loop has another
    identity, but the same code and the same variables around it."""
    if isinstance(function, MethodType):
        return id(function.__self__), _identity(function.__func__)
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
