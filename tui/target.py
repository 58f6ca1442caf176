"""TARGET, as the command takes it: a script, or a name in a file or a module."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from autograd_core.dag.roots import PYTORCH, NeedsArguments, computed, is_tensor, last_scalars
from autograd_core.tensor import Tensor
from autograd_core.text import did_you_mean
from tui.failure import ExitCode, Failure
from tui.script import guarded, load_source, registered, script_process

_FORMS = "a TARGET is file.py, file.py:name or package.module:name"


class Target(NamedTuple):
    """Where the graph comes from: ``name`` is "" for a script that is to be run whole."""

    place: str
    name: str

    @property
    def is_file(self) -> bool:
        return self.place.endswith(".py")

    @property
    def path(self) -> Path | None:
        return Path(self.place) if self.is_file else None

    @property
    def stem(self) -> str:
        """What to call a picture of it: ``train``, or ``train-loss``."""
        stem = Path(self.place).stem if self.is_file else self.place.rpartition(".")[2]
        return f"{stem}-{self.name}" if self.name else stem

    def __str__(self) -> str:
        return f"{self.place}:{self.name}" if self.name else self.place


def parse_target(text: str) -> Target:
    """Take TARGET apart.

    >>> parse_target("train.py"), parse_target("models/net.py:loss")
    (Target(place='train.py', name=''), Target(place='models/net.py', name='loss'))

    Raises:
        Failure: it has none of the forms.
    """
    file = re.fullmatch(r"(?P<place>.+?\.py)(?::(?P<name>.*))?", text, re.DOTALL)
    if file and not file["name"]:
        return Target(file["place"], "")
    place, _, name = text.rpartition(":") if file is None else (file["place"], "", file["name"])
    if not _is_dotted(name) or not (file or _is_dotted(place)):
        raise Failure(f"'{text}' is no target: {_instead(text)}", ExitCode.USAGE)
    return Target(place, name)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _instead(text: str) -> str:
    """What the user may have meant by a text that is no target."""
    path = Path(text)
    if text and path.is_dir():
        return f"it is a directory; {_FORMS}"
    if path.is_file():
        return f"the name of a Python file ends in .py; {_FORMS}"
    if Path(f"{text}.py").is_file():
        return f"did you mean {text}.py?"
    if _is_dotted(text):
        return f"name what to take from that module, as in {text}:loss"
    return _FORMS


def require_file(target: Target) -> None:
    """See that the file of ``target`` is there.

    Raises:
        Failure: it is not; with the name of one that is, and looks like it.
    """
    path = target.path
    if path is None or path.is_file():
        return
    if path.is_dir():
        raise Failure(f"{path} is a directory, not a script", ExitCode.TARGET)
    hint = did_you_mean(str(path), _scripts_beside(path))
    raise Failure(f"{path} does not exist{hint and f'; {hint}'}", ExitCode.TARGET)


def _scripts_beside(path: Path) -> list[str]:
    try:
        return sorted(str(each) for each in path.parent.glob("*.py"))
    except OSError:
        return []


class Found(NamedTuple):
    """The tensor a graph is drawn from, and the variables around it."""

    root: Tensor
    names: Mapping[str, Any]


def find_named(target: Target, arguments: list[str]) -> Found:
    """The tensor that ``target`` names; imports its module, without running a main part.

    Raises:
        Failure: there is no such name, or it is no tensor, no function that returns one and no
            module with ``sample_inputs``.
    """
    require_file(target)
    with script_process(target.path, arguments):
        module = _load(target.path) if target.path else _import(target.place)
        value = _attribute(module, target)
        tensor = guarded(lambda: _computed(value, target))
    if not isinstance(tensor, Tensor):
        if is_tensor(tensor):
            raise Failure(f"{target} is a tensor of PyTorch's: {PYTORCH}", ExitCode.TARGET)
        raise Failure(
            f"{target} is {_described(tensor)}; name a tensor, a function that returns one, or a "
            "module with sample_inputs",
            ExitCode.TARGET,
        )
    return Found(tensor, {**vars(module), target.name: tensor})


def _load(path: Path) -> ModuleType:
    """Run the file as a module, up to where it ends itself."""
    module = ModuleType(path.stem)
    module.__file__ = str(path.absolute())
    with registered(path.stem, module):
        guarded(lambda: exec(load_source(path), vars(module)))
    return module


def _import(name: str) -> ModuleType:
    def work() -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # only if this very module is missing, not one that it imports
            if error.name is not None and f"{name}.".startswith(f"{error.name}."):
                raise Failure(
                    f"there is no module {error.name} in this directory or among the installed "
                    "ones",
                    ExitCode.TARGET,
                ) from None
            raise

    module = guarded(work)
    if module is None:
        raise Failure(f"{name} ended itself while it was imported", ExitCode.TARGET)
    return module


def _attribute(module: ModuleType, target: Target) -> Any:
    value: Any = module
    for part in target.name.split("."):
        if not hasattr(value, part):
            public = (name for name in dir(value) if not name.startswith("_"))
            hint = did_you_mean(part, public, most=3, cutoff=0.5)
            raise Failure(
                f"{target.place} has no {target.name}{hint and f'; {hint}'}", ExitCode.TARGET
            )
        value = getattr(value, part)
    return value


def _computed(value: Any, target: Target) -> Any:
    try:
        return computed(value)
    except NeedsArguments as error:
        raise Failure(f"{target} {error}", ExitCode.TARGET) from None


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def require_graph(tensor: Tensor, target: Target) -> None:
    """See that there is something to draw or to debug.

    Raises:
        Failure: there is not.
    """
    if tensor.edge is None:
        raise Failure(
            f"{target} has no graph: nothing that it was computed from requires a gradient; give "
            "a leaf requires_grad=True, and mind no_grad() and detach()",
            ExitCode.TARGET,
        )


def _imports_torch(namespace: Mapping[str, Any]) -> bool:
    modules = (value for value in namespace.values() if isinstance(value, ModuleType))
    return any(module.__name__.partition(".")[0] == "torch" for module in modules)


def single_scalar(namespace: Mapping[str, Any], grads: int = 0) -> tuple[str, Tensor]:
    """The one scalar with a graph that a script without ``backward()`` leaves behind.

    Scalars that others were computed from do not count.  ``grads`` is how often the script called
    ``autograd.grad()``, which is then offered instead.

    Raises:
        Failure: there is none, or several, or PyTorch made it.
    """
    last = last_scalars(namespace)
    if not any(isinstance(each, Tensor) for each in last.values()) and _imports_torch(namespace):
        raise Failure(f"the script works with torch: {PYTORCH}", ExitCode.TARGET)
    if len(last) == 1:
        return next(iter(last.items()))
    ended = "the script ended without calling backward() in its main thread, and left"
    times = "once" if grads == 1 else f"{grads} times"
    offer = f"; it called autograd.grad() {times}: --call grad:1 takes the first" if grads else ""
    if not last:
        raise Failure(
            f"{ended} no scalar with a graph in a global variable; name what to take, as in "
            f"file.py:loss{offer}",
            ExitCode.TARGET,
        )
    raise Failure(
        f"{ended} several scalars with a graph: {', '.join(last)}; name one, as in "
        f"file.py:{next(iter(last))}{offer}",
        ExitCode.TARGET,
    )
