"""Programs for PyTorch, written as its users write: with other imports they print the same.

The random numbers are those of this core in both libraries, so that values can be compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_core
from autograd_core.random import generator, manual_seed

PROGRAMS = sorted((Path(__file__).parent / "programs_for_pytorch").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def sized(size: Any) -> tuple[int, ...]:
    return tuple(size) if len(size) != 1 or isinstance(size[0], int) else tuple(size[0])


@pytest.fixture
def pytorch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """PyTorch, drawing its random numbers from this core's generator."""
    torch = pytest.importorskip("torch")

    def filled(draw: str, *bounds: float, like: Any = None, size: Any = None, **kwargs: Any) -> Any:
        kwargs = {"dtype": torch.get_default_dtype() if like is None else like.dtype, **kwargs}
        shape = sized(size) if like is None else tuple(like.shape)
        values = np.asarray(getattr(generator(), draw)(*bounds, size=shape))
        return torch.tensor(values, **kwargs)

    def randint(*bounds: Any, high: int = 0, size: Any = None, **_: Any) -> Any:
        *bounds, size = bounds or (high, size)
        return filled("integers", *bounds, size=size, dtype=torch.int64)

    def uniform(self: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
        with torch.no_grad():
            return self.copy_(filled("uniform", a, b, like=self))

    def normal(self: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
        with torch.no_grad():
            return self.copy_(filled("normal", mean, std, like=self))

    def from_array(draw: Any) -> Any:
        """PyTorch's function as this core's, on the same values."""

        def drawn(x: Any, *arguments: Any, **kwargs: Any) -> Any:
            given = [autograd_core.tensor(t.detach().numpy()) if torch.is_tensor(t) else t
                     for t in (x, *arguments)]  # fmt: skip
            return torch.tensor(draw(*given, **kwargs).numpy())

        return drawn

    for name in ("bernoulli", "multinomial", "normal"):
        monkeypatch.setattr(torch, name, from_array(getattr(autograd_core, name)))
    for name, draw in (("rand", "random"), ("randn", "standard_normal")):
        monkeypatch.setattr(torch, name, lambda *s, d=draw, **k: filled(d, size=s, **k))
        monkeypatch.setattr(torch, f"{name}_like", lambda x, d=draw, **k: filled(d, like=x, **k))
    monkeypatch.setattr(torch, "randint", randint)
    monkeypatch.setattr(torch, "randperm", lambda n, **_: torch.tensor(generator().permutation(n)))
    monkeypatch.setattr(torch, "manual_seed", manual_seed)
    monkeypatch.setattr(torch.Tensor, "uniform_", uniform)
    monkeypatch.setattr(torch.Tensor, "normal_", normal)
    before = generator()
    yield torch
    autograd_core.random.use_generator(before)


def printed(program: Path, library: str) -> list[str]:
    """What ``program`` prints with this library, line by line."""
    source = program.read_text("utf-8")
    source = re.sub(r"^import torch$", f"import {library} as torch", source, flags=re.M)
    source = re.sub(r"^(import|from) torch\b(?! as)", rf"\1 {library}", source, flags=re.M)
    manual_seed(0)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, program.name, "exec"), {"__name__": "__main__"})
    return out.getvalue().replace("autograd_core", "torch").splitlines()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=pytest.mark.extra("scipy"))
        if each.stem == "shown_tables"
        else each
        for each in PROGRAMS
    ],
    ids=lambda program: program.stem,
)
def test_a_program_runs_to_its_end_without_pytorch(program: Path) -> None:
    """What it prints is compared below; here the interpreter may not have PyTorch at all."""
    before = generator()
    try:
        assert printed(program, "autograd_core")
    finally:
        autograd_core.random.use_generator(before)


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_prints_what_it_prints_with_pytorch(program: Path, pytorch: Any) -> None:
    mine, theirs = printed(program, "autograd_core"), printed(program, "torch")
    for line, other in zip(mine, theirs, strict=True):
        assert NUMBER.sub("#", line).split() == NUMBER.sub("#", other).split()
        numbers, others = ([float(n) for n in NUMBER.findall(each)] for each in (line, other))
        assert numbers == pytest.approx(others, rel=2e-4, abs=2e-4)
