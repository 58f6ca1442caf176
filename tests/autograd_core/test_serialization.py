"""``save`` and ``load``: what goes into a file comes out of it, in both libraries."""

from __future__ import annotations

import copy
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
    value = OrderedDict(a=(1, [2.5, None]), b={3: True, "x": "text"})
    assert around(torch, value) == value
    assert type(around(torch, value)) is OrderedDict
    leaf = around(torch, torch.ones(2, dtype=torch.float64, requires_grad=True))
    assert (leaf.dtype, leaf.requires_grad, leaf.tolist()) == (torch.float64, True, [1, 1])
    parameter = around(torch, torch.nn.Parameter(torch.zeros(1)))
    assert isinstance(parameter, torch.nn.Parameter)


def test_one_tensor_stays_one(torch: Any) -> None:
    t = torch.ones(2)
    first, second = around(torch, [t, t])
    first.add_(1)
    assert second.tolist() == [2, 2]


def tensors_on_one_memory(torch: Any) -> dict[str, Any]:
    x, p = torch.arange(6.0), torch.nn.Parameter(torch.ones(2, 3))
    return {
        "whole": x, "part": x[2:], "transposed": x.view(2, 3).t(), "detached": x.detach(),
        "parameter": p, "its row": p.data[1:], "steps": torch.arange(10)[::3],
        "one place": torch.zeros(1).expand(3), "none": torch.zeros(0), "scalar": x[4],
    }  # fmt: skip


def test_what_shares_memory_shares_it_in_a_copy(torch: Any) -> None:
    before = tensors_on_one_memory(torch)
    after = copy.deepcopy(before)
    for name, tensor in before.items():
        assert after[name].tolist() == tensor.tolist()
        assert after[name].stride() == tensor.stride()
    after["whole"][2] = 9
    with torch.no_grad():
        after["parameter"][1] = 7
        after["scalar"].fill_(8)
    assert after["part"].tolist() == [9, 3, 8, 5]
    assert after["transposed"].tolist() == [[0, 3], [1, 8], [9, 5]]
    assert after["detached"].tolist() == [0, 1, 9, 3, 8, 5]
    # what parameters look at is copied for each of them alone
    assert after["its row"].tolist() == [[1, 1, 1]]
    assert before["whole"].tolist() == [0, 1, 2, 3, 4, 5]


def test_buffers_that_share_memory_share_it_in_a_copy(torch: Any) -> None:
    module = torch.nn.Module()
    module.register_buffer("table", torch.zeros(3, 2))
    module.register_buffer("first", module.table[0])
    other = copy.deepcopy(module).state_dict()
    other["table"].fill_(5)
    assert other["first"].tolist() == [5, 5]


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
