"""Writes to a tensor from the same memory: refused where PyTorch refuses them, and only there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# What is written to, and what is read: two parts of twelve numbers.
PAIRS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "itself": lambda x: (x, x),
    "its view": lambda x: (x, x.view(12)),
    "its data": lambda x: (x, x.detach()),
    "shifted": lambda x: (x[1:], x[:-1]),
    "shifted back": lambda x: (x[:-1], x[1:]),
    "every second, shifted": lambda x: (x[::2][1:], x[::2][:-1]),
    "every other": lambda x: (x[::2], x[1::2]),
    "the other half": lambda x: (x[:6], x[6:]),
    "transposed": lambda x: (x[:9].view(3, 3), x[:9].view(3, 3).t()),
    "first row": lambda x: (x.view(3, 4), x.view(3, 4)[0]),
    "first row as a matrix": lambda x: (x.view(3, 4), x.view(3, 4)[:1]),
    "last row": lambda x: (x.view(3, 4), x.view(3, 4)[2]),
    "column": lambda x: (x.view(3, 4), x.view(3, 4)[:, :1]),
    "expanded row": lambda x: (x.view(3, 4), x.view(3, 4)[0].expand(3, 4)),
    "element": lambda x: (x, x[0]),
    "element as a vector": lambda x: (x, x[:1]),
    "expanded element": lambda x: (x, x[:1].expand(12)),
    "the only element": lambda x: (x[:1], x[:1]),
    "one of two": lambda x: (x[:2], x[1:2]),
    "a row from its column": lambda x: (x.view(1, 12), x.view(12, 1)[:1]),
    "columns, shifted": lambda x: (x.view(3, 4)[:, :3], x.view(3, 4)[:, 1:]),
    "overlapping rows": lambda x: (x.as_strided((3, 3), (3, 1)), x.as_strided((3, 3), (2, 2))),
    "without a dimension": lambda x: (x.view(1, 12), x),
}

# What does not follow PyTorch: a 0-d tensor beside a number, which PyTorch takes for one, too.
AS_NUMBERS = {"add_", "clamp_", "clip_", "sub_", "subtract_"}

ASSIGNMENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x[...] = y": lambda t, x, y: x.__setitem__(..., y),
    "x[:] = y": lambda t, x, y: x.__setitem__(slice(None), y),
    "x[0] = y": lambda t, x, y: x.__setitem__(0, y),
    "x[mask] = y": lambda t, x, y: x.__setitem__(x > 2, y),
    "x[numbers] = y": lambda t, x, y: x.__setitem__(list(range(len(x))), y),
    "x.index_put_((mask,), y)": lambda t, x, y: x.index_put_((x > 2,), y.reshape(-1)),
    "x.copy_(y.expand_as(x))": lambda t, x, y: x.copy_(y.expand_as(x)),
    "x.add_(other=y)": lambda t, x, y: x.add_(other=y),
    "x.clamp_(min=y)": lambda t, x, y: x.clamp_(min=y),
}

FORMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "(y)": lambda t, f, x, y: f(y),
    "(y, y)": lambda t, f, x, y: f(y, y),
    "(y, 0.5)": lambda t, f, x, y: f(y, 0.5),
    "(mask, y)": lambda t, f, x, y: f(t.ones_like(x) > 0, y),
    "(0, numbers, y)": lambda t, f, x, y: f(0, t.arange(len(x)), y),
}

METHODS = sorted(
    name
    for name in dir(autograd_core.Tensor)
    if name.endswith("_") and not name.startswith("_") and hasattr(torch.Tensor, name)
)


def outcome(t: Any, pair: str, write: Callable[[Any, Any, Any], Any], requires_grad: bool) -> Any:
    """The numbers after the write, "refused" for what PyTorch says of memory, or "error"."""
    x = t.arange(1.0, 13.0).requires_grad_(requires_grad) * 1.0
    read, written = PAIRS[pair](x)[::-1]
    try:
        write(t, written, read)
    except Exception as error:
        return "refused" if "single memory location" in str(error) else "error"
    return x.detach().numpy()


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_an_assignment_is_refused_where_pytorch_refuses_it(name: str, requires_grad: bool) -> None:
    for pair in PAIRS:
        mine, theirs = (
            outcome(t, pair, ASSIGNMENTS[name], requires_grad) for t in (autograd_core, torch)
        )
        if isinstance(theirs, str) or isinstance(mine, str):
            assert str(mine) == str(theirs), pair
        elif "shifted" not in pair and "add_" not in name and "overlapping" not in pair:
            # there PyTorch reads what it has written already
            np.testing.assert_array_equal(mine, theirs, err_msg=pair)


def test_an_in_place_form_is_refused_where_pytorch_refuses_it(
    sample: Callable[[Sequence[str], int], list[str]],
) -> None:
    found = []
    for name in sample(METHODS, 40):
        for form, call in FORMS.items():

            def write(t: Any, x: Any, y: Any, name: str = name, call: Any = call) -> None:
                call(t, getattr(x, name), x, y)

            for pair in PAIRS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcomes = [outcome(t, pair, write, False) for t in (autograd_core, torch)]
                said = [each if isinstance(each, str) else "done" for each in outcomes]
                known = pair == "element" and name in AS_NUMBERS
                if {*said} == {"refused", "done"} and not known:
                    found.append(f"x.{name}{form} of {pair}: {said}")
    assert not found, "\n".join(found)


def test_a_slice_of_everything_changes_the_tensor_itself() -> None:
    for t in (autograd_core, torch):
        x = t.ones(2, 3, requires_grad=True) * 1
        x[:] = t.ones(3, requires_grad=True)
        assert x.grad_fn.name() == "torch::autograd::CopyBackwards"
        stretched = x.grad_fn.next_functions[1][0]
        assert stretched.name() == "ExpandBackward0"
        assert stretched.next_functions[0][0].name() == "ViewBackward0"


def test_fill_takes_its_value_by_name() -> None:
    for t in (autograd_core, torch):
        assert t.ones(2).fill_(value=3.0).tolist() == [3, 3]
        assert t.ones(2).fill_(value=t.tensor(3.0)).tolist() == [3, 3]
        with pytest.raises(RuntimeError, match="single memory location"):
            t.ones(1).expand(2).fill_(value=t.tensor(3.0))
