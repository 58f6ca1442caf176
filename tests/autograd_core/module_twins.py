"""Modules of both libraries with one state and one input, and what to try on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core

RNG = np.random.default_rng(1)


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


X, Y = numbers(4, 6), numbers(4, 6)
SHARES = RNG.uniform(0.1, 0.9, (4, 6))
SIGNS = np.array([1.0, -1.0, 1.0, -1.0])
LABELS = np.array([0, 5, 2, 2])
SEQUENCE, IMAGES = numbers(3, 2, 6), numbers(2, 4, 3, 3)
BLOCKED = np.array([[False, True, False], [False, False, False]])
CAUSAL = np.triu(np.ones((3, 3), bool), 1)

# fmt: off
ACTIVATIONS: list[tuple[Any, ...]] = [
    ("ReLU",), ("SELU",), ("SiLU",), ("Tanh",), ("Sigmoid",), ("ELU", 0.7), ("GELU",),
    ("GELU", "tanh"), ("Softplus", 2.0, 3.0), ("LeakyReLU", 0.2), ("Hardtanh", -0.5, 0.7),
    ("Softmax", 1), ("LogSoftmax", 0), ("PReLU",), ("PReLU", 6), ("Identity",),
    ("Flatten",), ("Unflatten", 1, (2, 3)),
]

LOSSES: list[tuple[Any, ...]] = [
    ("MSELoss", Y), ("L1Loss", Y), ("SmoothL1Loss", Y), ("HuberLoss", Y),
    ("BCEWithLogitsLoss", SHARES), ("KLDivLoss", SHARES), ("CrossEntropyLoss", LABELS),
    ("CrossEntropyLoss", SHARES), ("NLLLoss", LABELS),
]
MORE_LOSSES: list[tuple[Any, dict[str, Any], tuple[Any, ...]]] = [
    ("CrossEntropyLoss", {"label_smoothing": 0.1, "ignore_index": 2}, (LABELS,)),
    ("CrossEntropyLoss", {"label_smoothing": 0.1}, (SHARES,)),
    ("KLDivLoss", {"log_target": True, "reduction": "batchmean"}, (Y,)),
    ("SmoothL1Loss", {"beta": 0.3}, (Y,)),
    ("HuberLoss", {"delta": 0.3}, (Y,)),
]
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = [
    ("BatchNorm1d", (6,), {}, (X,)),
    ("BatchNorm1d", (2,), {"momentum": None}, (SEQUENCE,)),
    ("BatchNorm2d", (4,), {"affine": False}, (IMAGES,)),
    ("BatchNorm3d", (4,), {"track_running_stats": False}, (numbers(2, 4, 1, 2, 3),)),
    ("GroupNorm", (2, 4), {}, (IMAGES,)),
    ("GroupNorm", (3, 6), {"affine": False}, (X,)),
    ("LayerNorm", (6,), {}, (X,)),
    ("RMSNorm", (6,), {}, (X,)),
    ("RMSNorm", ((2, 6),), {"eps": 0.1, "elementwise_affine": False}, (SEQUENCE,)),
    ("Embedding", (7, 3), {"padding_idx": 2}, (LABELS,)),
    ("RNN", (6, 3), {}, (SEQUENCE,)),
    ("RNN", (6, 3), {"nonlinearity": "relu", "bias": False}, (X,)),
    ("RNN", (6, 3, 2), {"bidirectional": True, "batch_first": True}, (SEQUENCE,)),
    ("LSTM", (6, 3), {}, (SEQUENCE,)),
    ("LSTM", (6, 3, 2), {"bidirectional": True, "proj_size": 2}, (SEQUENCE,)),
    ("GRU", (6, 3, 2), {"batch_first": True}, (SEQUENCE, numbers(2, 3, 3))),
    ("GRU", (6, 3), {"bidirectional": True}, (X,)),
    ("RNNCell", (6, 3), {}, (X,)),
    ("LSTMCell", (6, 3), {}, (X,)),
    ("GRUCell", (6, 3), {}, (X, numbers(4, 3))),
    ("GRUCell", (6, 3), {"bias": False}, (X[0],)),
    ("MultiheadAttention", (6, 2), {}, (SEQUENCE,) * 3),
    ("MultiheadAttention", (6, 2), {"batch_first": True}, (SEQUENCE, *(numbers(3, 4, 6),) * 2)),
    ("MultiheadAttention", (6, 2), {"bias": False}, (SEQUENCE, numbers(4, 2, 6), numbers(4, 2, 6))),
    ("MultiheadAttention", (6, 3), {"kdim": 4, "vdim": 5},
     (X, numbers(3, 4), numbers(3, 5))),
    ("MultiheadAttention", (6, 2), {"add_bias_kv": True, "add_zero_attn": True}, (SEQUENCE,) * 3),
    ("TransformerEncoderLayer", (6, 2, 7, 0.0), {}, (SEQUENCE,)),
    ("TransformerEncoderLayer", (6, 2, 7, 0.0),
     {"norm_first": True, "activation": "gelu", "batch_first": True}, (SEQUENCE,)),
]
# fmt: on
SIGNALS, BIG, VOLUMES = numbers(2, 4, 7), numbers(2, 4, 6, 5), numbers(1, 2, 4, 5, 4)
BY_DIMS = {1: SIGNALS, 2: BIG, 3: VOLUMES}
WINDOWS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = [
    *(
        (name.format(dims), arguments, options, (BY_DIMS[dims],))
        for dims in (1, 2, 3)
        for name, arguments, options in [
            ("MaxPool{}d", (2,), {"ceil_mode": True}),
            ("MaxPool{}d", (3, 2, 1), {"return_indices": True}),
            ("AvgPool{}d", (2,), {"padding": 1, "count_include_pad": False}),
            ("AdaptiveAvgPool{}d", (2,), {}),
        ]
    ),
    ("Conv1d", (4, 6, 3), {"padding": 1, "stride": 2, "groups": 2}, (SIGNALS,)),
    ("Conv2d", (4, 3, (2, 3)), {"padding": "same", "bias": False}, (BIG,)),
    ("Conv2d", (4, 3, 3), {"padding": 1, "padding_mode": "reflect"}, (BIG,)),
    ("Conv2d", (4, 3, 2), {"padding": "same", "padding_mode": "circular"}, (BIG,)),
    ("Conv3d", (2, 2, 2), {"dilation": 2, "padding": 1}, (VOLUMES,)),
    ("ConvTranspose1d", (4, 2, 3), {"stride": 2, "output_padding": 1}, (SIGNALS,)),
    ("ConvTranspose2d", (4, 4, 3), {"groups": 2, "bias": False, "padding": 1}, (BIG,)),
    ("ConvTranspose3d", (2, 3, 2), {"dilation": 2}, (VOLUMES,)),
]


NAMED = (
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "RNN", "RNNCell",
    "LSTM", "LSTMCell", "GRU", "GRUCell", "MultiheadAttention", "TransformerEncoderLayer",
)  # fmt: skip
# where PyTorch's own code changes results in place, its nodes have names of their own
UNLIKE = [("MultiheadAttention", "add_bias_kv"), ("RNN", "batch_first"), ("GRU", "batch_first")]
GRAPHS = [
    each
    for each in LAYERS
    if each[0] in NAMED and not any((each[0], option) in UNLIKE for option in each[2])
]


def label(value: Any) -> str | None:
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return str(value[0])
    return value if isinstance(value, str) else str(value) if isinstance(value, dict) else ""


def outputs(value: Any) -> list[Any]:
    """The tensors in what a module returned."""
    if isinstance(value, tuple):
        return [t for each in value for t in outputs(each)]
    return [] if value is None else [value]


class Twin:
    """A module in both libraries, with the same state and the same inputs."""

    def __init__(self, name: str, args: Any = (), options: dict[str, Any] | None = None) -> None:
        self.libraries = autograd_core, pytest.importorskip("torch")
        mine, theirs = (getattr(t.nn, name)(*args, **options or {}) for t in self.libraries)
        self.modules = mine.double(), theirs.double()
        rng = np.random.default_rng(3)
        for ours, other in zip(mine.parameters(), theirs.parameters(), strict=True):
            values = rng.standard_normal(tuple(other.shape)) * 0.5
            ours.data = autograd_core.tensor(values)
            other.data = self.libraries[1].tensor(values)
        assert [n for n, _ in mine.named_parameters()] == [n for n, _ in theirs.named_parameters()]
        assert list(mine.state_dict()) == list(theirs.state_dict())

    def run(self, inputs: tuple[Any, ...], leaves: int = 9, **keywords: Any) -> tuple[Any, Any]:
        """Results and gradients on both sides."""
        return tuple(
            self._one(torch, module, inputs, leaves, keywords)
            for torch, module in zip(self.libraries, self.modules, strict=True)
        )

    def _one(self, torch: Any, module: Any, inputs: Any, leaves: int, keywords: Any) -> Any:
        made: dict[int, Any] = {}
        for number, array in enumerate(inputs):
            if id(array) not in made:  # equal inputs are one tensor
                floating = array.dtype.kind == "f" and number < leaves
                made[id(array)] = torch.tensor(array, requires_grad=floating)
        tensors = {name: torch.tensor(value) if isinstance(value, np.ndarray) else value
                   for name, value in keywords.items()}  # fmt: skip
        found = outputs(module(*(made[id(array)] for array in inputs), **tensors))
        wanted = [t for t in (*made.values(), *module.parameters()) if t.requires_grad]
        ends = [t for t in found if t.requires_grad]
        weights = np.random.default_rng(5)
        seeds = [torch.tensor(weights.standard_normal(tuple(t.shape))) for t in ends]
        gradients = torch.autograd.grad(ends, wanted, seeds, allow_unused=True) if wanted else ()
        return found, gradients, [t.grad_fn for t in ends]

    def compare_second(self, *inputs: np.ndarray, rtol: float = 1e-9) -> None:
        mine, theirs = (
            second(torch, module, inputs)
            for torch, module in zip(self.libraries, self.modules, strict=True)
        )
        for ours, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(ours, other, rtol=rtol, atol=1e-10)

    def compare(
        self, *inputs: Any, names: bool = False, rtol: float = 1e-10, **options: Any
    ) -> None:
        mine, theirs = self.run(inputs, **options)
        for part in (0, 1):
            assert len(mine[part]) == len(theirs[part])
            for ours, other in zip(mine[part], theirs[part], strict=True):
                assert (ours is None) == (other is None)
                if ours is not None:
                    expected = other.detach().numpy()
                    np.testing.assert_allclose(
                        ours.detach().numpy(), expected, rtol=rtol, atol=1e-12
                    )
        for buffer, other in zip(*(m.buffers() for m in self.modules), strict=True):
            np.testing.assert_allclose(buffer.numpy(), other.numpy(), rtol=1e-10)
        if names:
            assert [graph(n) for n in mine[2]] == [graph(n) for n in theirs[2]]


def second(torch: Any, module: Any, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """The derivatives of the squared gradients of a weighted sum of all that ``module`` returns."""
    made: dict[int, Any] = {id(a): torch.tensor(a, requires_grad=True) for a in inputs}
    found = outputs(module(*(made[id(a)] for a in inputs)))
    rng = np.random.default_rng(5)
    total = sum((t.sin() * torch.tensor(rng.standard_normal(tuple(t.shape)))).sum() for t in found)
    leaves = [*made.values(), *module.parameters()]
    first = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    squares = sum((g * g).sum() for g in first if g is not None)
    gradients = torch.autograd.grad(squares, leaves, allow_unused=True)
    return [
        np.zeros(tuple(t.shape)) if g is None else g.numpy()
        for g, t in zip(gradients, leaves, strict=True)
    ]


def graph(root: Any) -> list[str]:
    """A small graph as nested names."""
    found, stack, seen = [], [(root, 0)], set()
    while stack:
        node, depth = stack.pop()
        found.append(f"{depth} {'' if node is None else node.name()}")
        if node is not None and node not in seen:
            seen.add(node)
            stack += [(below, depth + 1) for below, _ in reversed(node.next_functions)]
    return found
