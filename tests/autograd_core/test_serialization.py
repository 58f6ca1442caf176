"""``save`` and ``load``: what goes into a file comes out of it, in both libraries."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core


def around(torch: Any, value: Any) -> Any:
    """``value`` written and read again."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_training_goes_on_where_it_was_saved(torch: Any, tmp_path: Path) -> None:
    def make() -> tuple[Any, Any]:
        torch.manual_seed(0)
        layers = (torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
        model = torch.nn.Sequential(*layers)
        return model, torch.optim.Adam(model.parameters(), lr=0.01)

    def step(model: Any, optimizer: Any) -> float:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return float(loss)

    x = torch.arange(15.0).reshape(5, 3)
    model, optimizer = make()
    step(model, optimizer)
    path = tmp_path / "checkpoint.pt"
    state = {"epoch": 1, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path)
    expected = [step(model, optimizer) for _ in range(3)]

    other, its_optimizer = make()
    found = torch.load(path, map_location="cpu")
    other.load_state_dict(found["model"])
    its_optimizer.load_state_dict(found["optimizer"])
    assert found["epoch"] == 1
    assert [step(other, its_optimizer) for _ in range(3)] == expected


def test_kinds_are_kept(torch: Any) -> None:
    value = OrderedDict(a=(1, [2.5, None]), b={3: True, "x": torch.float16})
    assert around(torch, value) == value
    assert type(around(torch, value)) is OrderedDict
    assert around(torch, torch.Size([2, 3])) == torch.Size([2, 3])
    leaf = around(torch, torch.ones(2, dtype=torch.float64, requires_grad=True))
    assert (leaf.dtype, leaf.requires_grad, leaf.tolist()) == (torch.float64, True, [1, 1])
    parameter = around(torch, torch.nn.Parameter(torch.zeros(1)))
    assert isinstance(parameter, torch.nn.Parameter)


def test_one_tensor_stays_one(torch: Any) -> None:
    t = torch.ones(2)
    first, second = around(torch, [t, t])
    first.add_(1)
    assert second.tolist() == [2, 2]


def test_nothing_is_pickled_or_unpickled(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"no Linear: .* save its state_dict"):
        autograd_core.save(autograd_core.nn.Linear(2, 2), io.BytesIO())
    evil = tmp_path / "evil.pt"
    evil.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(RuntimeError, match="was not written by"):
        autograd_core.load(evil)
    np.savez(tmp_path / "arrays.npz", a=np.ones(2))
    with pytest.raises(RuntimeError, match="was not written by"):
        autograd_core.load(tmp_path / "arrays.npz")
    with pytest.raises(FileNotFoundError):
        autograd_core.load(tmp_path / "absent.pt")


@pytest.mark.torch
def test_files_of_pytorchs_are_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"a": torch.ones(2)}, tmp_path / "theirs.pt")
    with pytest.raises(RuntimeError, match="pickles, which are not read here"):
        autograd_core.load(tmp_path / "theirs.pt")


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
nested = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=12,
)


@given(nested)
def test_whatever_is_made_of_these_comes_back(value: Any) -> None:
    assert around(autograd_core, value) == value
