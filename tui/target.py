"""TARGET, as the command takes it: a script, or a name in a file or a module."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from autograd_core.autograd.engine import make_plan
from autograd_core.autograd.node import resolve
from autograd_core.tensor import Tensor
from tui.failure import ExitCode, Failure
from tui.script import guarded, load_source, script_process

_FORMS = "a TARGET is file.py, file.py:name or package.module:name"


class Target(NamedTuple):
    """Where the graph comes from: ``name`` is "" for a script that is to be run whole."""

    place: str
    name: str

    @property
    def is_file(self) -> bool:
        return self.place.endswith(".py")

    @property
    def is_script(self) -> bool:
        return self.is_file and not self.name


def parse_target(text: str) -> Target:
    """Take TARGET apart.

    >>> parse_target("train.py"), parse_target("models/net.py:loss")
    (Target(place='train.py', name=''), Target(place='models/net.py', name='loss'))

    Raises:
        Failure: it has no such form, or there is no such file.
    """
    # the last colon, and not that of a Windows drive
    found = re.fullmatch(r"(?P<place>.+?)(?::(?P<name>[^:/\\]+))?", text)
    if found is None:
        raise Failure(f"'{text}' is no target: {_FORMS}", ExitCode.USAGE)
    target = Target(found["place"], found["name"] or "")
    if target.is_file:
        path = Path(target.place)
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "does not exist"
            near = get_close_matches(path.name, _scripts_beside(path), n=1)
            hint = f"; did you mean {path.parent / near[0]}?" if near else ""
            raise Failure(f"{target.place} {what}{hint}", ExitCode.TARGET)
    elif not target.name:
        raise Failure(f"'{text}' is neither a Python file nor module:name; {_FORMS}", ExitCode.USAGE)
    return target


def _scripts_beside(path: Path) -> list[str]:
    try:
        return sorted(each.name for each in path.parent.glob("*.py"))
    except OSError:
        return []


class Found(NamedTuple):
    """The tensors a graph is drawn from, and the variables that name them."""

    roots: tuple[Tensor, ...]
    names: Mapping[str, Any]
    title: str


def find_named(target: Target, arguments: list[str]) -> Found:
    """The tensor that ``target`` names; imports its module, without running a main part.

    Raises:
        Failure: there is no such name, or it is no tensor, no function that returns one and no
            module with ``sample_inputs``.
    """
    with script_process(Path(target.place) if target.is_file else None, arguments):
        module = guarded(lambda: _import(target))
        value = _attribute(module, target)
        tensor = guarded(lambda: _tensor_of(value, target))
    return Found((tensor,), {**vars(module), target.name: tensor}, target.name)


def _import(target: Target) -> ModuleType:
    if target.is_file:
        path = Path(target.place)
        module = ModuleType(path.stem)
        module.__file__ = str(path)
        sys.modules[path.stem] = module
        exec(load_source(path), vars(module))
        return module
    try:
        return importlib.import_module(target.place)
    except ModuleNotFoundError as error:
        # only if this very module is missing, not one that it imports
        if error.name is not None and f"{target.place}.".startswith(f"{error.name}."):
            raise Failure(
                f"there is no module {error.name} (looked for {target.place} on sys.path and "
                "in this directory)",
                ExitCode.TARGET,
            ) from None
        raise


def _attribute(module: ModuleType, target: Target) -> Any:
    value: Any = module
    for part in target.name.split("."):
        if not hasattr(value, part):
            likely = get_close_matches(part, [n for n in dir(value) if not n.startswith("_")], n=3)
            hint = f"; did you mean {', '.join(likely)}?" if likely else ""
            raise Failure(f"{target.place} has no {target.name}{hint}", ExitCode.TARGET)
        value = getattr(value, part)
    return value


def _tensor_of(value: Any, target: Target) -> Tensor:
    if hasattr(value, "sample_inputs") and callable(value) and not isinstance(value, type):
        inputs = value.sample_inputs() if callable(value.sample_inputs) else value.sample_inputs
        value = value(*inputs) if isinstance(inputs, (tuple, list)) else value(inputs)
    elif callable(value) and not isinstance(value, (type, Tensor)):
        value = value()
    if not isinstance(value, Tensor):
        raise Failure(
            f"{target.place}:{target.name} is a {type(value).__name__}; name a tensor, a function "
            "without arguments that returns one, or a module with sample_inputs",
            ExitCode.TARGET,
        )
    return value


def single_scalar(namespace: Mapping[str, Any]) -> tuple[str, Tensor]:
    """The one scalar with a graph that a script without ``backward()`` leaves behind.

    Scalars that others were computed from do not count.

    Raises:
        Failure: there is none, or several.
    """
    found: dict[str, Tensor] = {}
    for name, value in namespace.items():
        if (
            isinstance(value, Tensor)
            and not name.startswith("_")
            and value.grad_fn is not None
            and value.array.size == 1
            and all(value.edge is not known.edge for known in found.values())
        ):
            found[name] = value
    inner = {
        resolve(edge)[0]
        for value in found.values()
        for node in make_plan([value.edge]).order  # type: ignore[list-item]
        for edge in node.edges
    }
    last = {name: value for name, value in found.items() if value.grad_fn not in inner}
    if len(last) == 1:
        return next(iter(last.items()))
    if not last:
        raise Failure(
            "the script ended without calling backward(), and left no scalar with a graph in a "
            "global variable; name what to draw, as in file.py:loss",
            ExitCode.TARGET,
        )
    raise Failure(
        "the script ended without calling backward(), and left several scalars with a graph: "
        f"{', '.join(last)}; name one, as in file.py:{next(iter(last))}",
        ExitCode.TARGET,
    )
