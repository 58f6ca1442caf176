"""Sequences of several lengths, packed and padded, held to PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import autograd_core

pytestmark = pytest.mark.torch
LENGTHS = (4, 2, 1)
ROWS = np.random.default_rng(2).standard_normal((4, 3, 5))


def both(function: Any) -> list[Any]:
    libraries = (autograd_core, pytest.importorskip("torch"))
    for each in libraries:
        importlib.import_module(f"{each.__name__}.nn.utils.rnn")
    return [function(each) for each in libraries]


def assert_close(mine: list[Any], theirs: list[Any]) -> None:
    for ours, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-9, atol=1e-12)


def run(torch: Any, kind: str, sort: bool, options: dict[str, Any]) -> list[Any]:
    """Outputs, states and gradients of a network over packed sequences."""
    rng = np.random.default_rng(3)
    network = getattr(torch.nn, kind)(5, 3, 2, **options).double()
    for p in network.parameters():
        p.data = torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5)
    x = torch.tensor(ROWS, requires_grad=True)
    given = x.transpose(0, 1) if options.get("batch_first") else x
    utils = torch.nn.utils.rnn
    lengths = (1, 4, 2) if sort else LENGTHS
    packed = utils.pack_padded_sequence(
        given, torch.tensor(lengths), options.get("batch_first", False), enforce_sorted=not sort
    )
    output, state = network(packed)
    assert isinstance(output, utils.PackedSequence)
    padded, found = utils.pad_packed_sequence(output, options.get("batch_first", False), -1.0)
    assert tuple(found.tolist()) == lengths
    states = list(state) if isinstance(state, tuple) else [state]
    weights = np.cos(np.arange(padded.numel())).reshape(tuple(padded.shape))
    total = (padded * torch.tensor(weights)).sum() + sum((s * s).sum() for s in states)
    gradients = torch.autograd.grad(total, [x, *network.parameters()])
    return [t.detach().numpy() for t in (padded, *states, *gradients)]


@pytest.mark.parametrize("sort", [False, True], ids=["sorted", "unsorted"])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "batch_first": True}], ids=str)
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_networks_take_packed_sequences(kind: str, options: dict[str, Any], sort: bool) -> None:
    assert_close(*both(lambda torch: run(torch, kind, sort, options)))


def test_packing_and_padding_give_what_pytorch_gives() -> None:
    def packed(torch: Any) -> list[Any]:
        utils = torch.nn.utils.rnn
        rows = [torch.tensor(ROWS[:n, 0]) for n in (2, 4, 1)]
        one = utils.pack_sequence(rows, enforce_sorted=False)
        back, lengths = utils.pad_packed_sequence(one, total_length=6, padding_value=2.0)
        return [
            *one, back, lengths, *utils.unpack_sequence(one), utils.pad_sequence(rows),
            utils.pad_sequence(rows, batch_first=True, padding_value=-1.0),
            utils.pad_sequence(rows, padding_side="left"),
            *utils.unpad_sequence(utils.pad_sequence(rows), torch.tensor([2, 4, 1])),
        ]  # fmt: skip

    assert_close(*([t.numpy() for t in found] for found in both(packed)))


@pytest.mark.parametrize("lengths", [(1, 4, 2), (4, 2, 0)])
def test_wrong_lengths_are_refused_in_pytorchs_words(lengths: tuple[int, ...]) -> None:
    def said(torch: Any) -> str:
        with pytest.raises(RuntimeError, match="ength") as error:
            torch.nn.utils.rnn.pack_padded_sequence(torch.tensor(ROWS), lengths)
        return str(error.value)

    mine, theirs = both(said)
    assert mine == theirs


def test_sequences_are_not_padded_to_less_than_they_are() -> None:
    def said(torch: Any) -> str:
        utils = torch.nn.utils.rnn
        packed = utils.pack_padded_sequence(torch.tensor(ROWS), LENGTHS)
        with pytest.raises(ValueError, match="total_length") as error:
            utils.pad_packed_sequence(packed, total_length=2)
        return str(error.value)

    mine, theirs = both(said)
    assert mine == theirs
