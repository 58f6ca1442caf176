"""Averaged models: what PyTorch's ``swa_utils`` computes."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import autograd_core

AVERAGES: dict[str, Any] = {
    "mean": lambda swa: {},
    "moving": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7)},
    "mean of many": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "moving of many": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
    "with buffers": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7), "use_buffers": True},
}


def parts(torch: Any) -> tuple[Any, Any]:
    return tuple(
        importlib.import_module(f"{torch.__name__}.{p}") for p in ("nn", "optim.swa_utils")
    )


@pytest.mark.torch
@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_those_of_pytorch(name: str) -> None:
    pytorch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((4, 2, 3))
    batches = rng.standard_normal((4, 5, 3))

    def averaged(torch: Any) -> list[Any]:
        nn, swa = parts(torch)
        model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2)).double()
        with torch.no_grad():
            model[1].bias.fill_(0.5)
        average = swa.AveragedModel(model, **AVERAGES[name](swa))
        for weight, batch in zip(weights, batches, strict=True):
            with torch.no_grad():
                model[1].weight.copy_(torch.tensor(weight))
            model(torch.tensor(batch))
            average.update_parameters(model)
        assert average.n_averaged.item() == 4
        found = average(torch.tensor(batches[0]))
        swa.update_bn([torch.tensor(b) for b in batches], average)
        state = {k: v.tolist() for k, v in average.state_dict().items()}
        return [found.tolist(), state]

    (mine, state), (theirs, other) = averaged(autograd_core), averaged(pytorch)
    rtol = 1e-6 if name == "mean of many" else 1e-12  # there PyTorch rounds 1 / n to single
    np.testing.assert_allclose(mine, theirs, rtol=rtol)
    assert list(state) == list(other)
    for key, value in other.items():
        np.testing.assert_allclose(state[key], value, rtol=rtol)


def test_the_statistics_of_batches_are_computed_anew(torch: Any) -> None:
    nn, swa = parts(torch)
    layer = nn.BatchNorm1d(1, momentum=0.3)
    layer(torch.tensor([[100.0], [300.0]]))
    layer.eval()
    swa.update_bn([torch.tensor([[0.0], [2.0]]), [torch.tensor([[2.0], [4.0]]), None]], layer)
    assert layer.running_mean.tolist() == [2.0]
    assert (layer.momentum, layer.training) == (0.3, False)


def test_a_decay_is_a_share(torch: Any) -> None:
    _, swa = parts(torch)
    with pytest.raises(ValueError, match=r"Invalid decay value 1\.5 provided"):
        swa.get_ema_avg_fn(1.5)
