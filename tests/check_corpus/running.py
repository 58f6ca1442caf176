"""The programs: their text for either engine, and a run of one in this process."""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gradstep_tui.commands.demo import on_the_core
from tests.check_corpus.table import Bug

FOLDER = Path(__file__).parent


def text(program: Path, engine: str) -> str:
    """The program as it stands there, importing ``engine`` in PyTorch's place."""
    source = program.read_text("utf-8")
    return source if engine == "torch" else on_the_core(source)


def program_of(bug: Bug) -> Path:
    return FOLDER / "buggy" / f"{bug.name}.py"


def healthy_programs() -> list[Path]:
    return sorted((FOLDER / "healthy").glob("*.py"))


class Remedy(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def old(self) -> str: ...
    @property
    def new(self) -> str: ...


def mended(bug: Remedy, source: str) -> str:
    """The program after its remedy, which fits in one place only."""
    if (places := source.count(bug.old)) != 1:
        raise ValueError(f"{bug.name}: the old text occurs {places} times, not once")
    return source.replace(bug.old, bug.new)


def lines_of(bug: Bug) -> list[int]:
    """The lines, counted from 1, of which a report has to name one."""
    return numbers_of(bug.at, program_of(bug).read_text("utf-8"))


def numbers_of(texts: tuple[str, ...], source: str) -> list[int]:
    """The numbers of the lines that read like one of ``texts``, each of which has to occur."""
    lines = [line.strip() for line in source.splitlines()]
    for text in texts:
        if text not in lines:
            raise ValueError(f"no line is {text!r}")
    return [number for number, line in enumerate(lines, 1) if line in texts]


class Ended(NamedTuple):
    """A program's run: its global variables, what it raised, and what it printed."""

    variables: dict[str, Any]
    error: BaseException | None
    output: str


@contextlib.contextmanager
def as_before(engine: str) -> Iterator[None]:
    """Begin as a new process does, and leave gradients switched on and random numbers as they
    were."""
    library = importlib.import_module(engine)
    random_state = library.get_rng_state()
    if engine == "torch":  # whatever it has compiled before has turned this off for good
        library.distributions.Distribution.set_default_validate_args(True)
    try:
        with library.enable_grad():
            yield
    finally:
        library.set_rng_state(random_state)


def run(source: str, name: str, engine: str) -> Ended:
    """Run a program to its end, or to its error, in silence."""
    output = io.StringIO()
    variables: dict[str, Any] = {"__name__": "__main__"}
    with (
        contextlib.redirect_stdout(output),
        warnings.catch_warnings(),
        as_before(engine),
    ):
        warnings.simplefilter("ignore")
        try:
            exec(compile(source, f"{name}.py", "exec"), variables)
        except Exception as error:
            return Ended(variables, error, output.getvalue())
    return Ended(variables, None, output.getvalue())


def holds(condition: str, variables: dict[str, Any], engine: str) -> bool:
    """Evaluate a condition of the table on the variables that a run left behind."""
    library = importlib.import_module(engine)
    words = {**_WORDS, "wrong_derivative": partial(_wrong_derivative, library=library)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of .grad read where there is none
        return bool(eval(condition, {"torch": library, **variables, **words}))


def _tensors(things: Iterable[Any]) -> Iterator[Any]:
    for thing in things:
        if callable(getattr(thing, "parameters", None)):
            yield from thing.parameters()
        else:
            yield thing


def _no_gradient(*things: Any) -> bool:
    return all(tensor.grad is None for tensor in _tensors(things))


def _zero_gradient(*things: Any, most: float = 0.0) -> bool:
    return all(
        tensor.grad is not None and tensor.grad.abs().max().item() <= most
        for tensor in _tensors(things)
    )


def _nearly_zero_gradient(*things: Any) -> bool:
    return _zero_gradient(*things, most=1e-6)


def _not_finite(*things: Any) -> bool:
    return not all(
        math.isfinite(number)
        for tensor in _tensors(things)
        for number in tensor.detach().reshape(-1).tolist()
    )


def _held_by(optimizer: Any, module: Any) -> bool:
    held = {id(each) for group in optimizer.param_groups for each in group["params"]}
    return held >= {id(parameter) for parameter in module.parameters()}


def _changed_by(module: Callable[[Any], Any], given: Any) -> bool:
    before = given.clone()
    module(given)
    return not (before == given).all().item()


def _wrong_derivative(function: Callable[[Any], Any], library: Any) -> bool:
    """Whether ``function``'s gradient is not what finite differences say."""
    x = library.tensor([-1.7, -0.4, 0.3, 1.9], dtype=library.float64, requires_grad=True)
    (gradient,) = library.autograd.grad(3 * function(x).sum(), x)
    with library.no_grad():
        differences = 3 * (function(x + 1e-5) - function(x - 1e-5)) / 2e-5
    return not library.allclose(gradient, differences, atol=1e-4)


def _reached(loss: Any, module: Any) -> bool:
    """Whether a path leads back from ``loss`` to a parameter of ``module``."""
    sought = {id(parameter) for parameter in module.parameters()}
    nodes = [loss.grad_fn]
    for node in nodes:
        if id(getattr(node, "variable", None)) in sought:
            return True
        nodes += [each for each, _ in node.next_functions if each and each not in nodes]
    return False


_WORDS = {
    "no_gradient": _no_gradient,
    "zero_gradient": _zero_gradient,
    "nearly_zero_gradient": _nearly_zero_gradient,
    "not_finite": _not_finite,
    "held_by": _held_by,
    "changed_by": _changed_by,
    "reached": _reached,
}
