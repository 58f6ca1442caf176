"""Subclasses of Tensor that users write."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_subclass_is_made_of_its_data_before_its_own_init(torch: Any) -> None:
    class Summed(torch.Tensor):  # type: ignore[misc]
        def __init__(self, data: Any) -> None:
            self.total = float(self.sum())

    summed = Summed([1, 2])
    assert type(summed) is Summed
    assert (summed.tolist(), summed.total) == ([1.0, 2.0], 3.0)


def test_a_subclass_without_an_init_is_called_as_tensor_is(torch: Any) -> None:
    class Plain(torch.Tensor):  # type: ignore[misc]
        pass

    assert isinstance(Plain(2, 3), torch.Tensor)
    assert tuple(Plain(2, 3).shape) == (2, 3)


def test_tensor_takes_no_keywords(torch: Any) -> None:
    with pytest.raises(TypeError):
        torch.Tensor([1], colour="red")
