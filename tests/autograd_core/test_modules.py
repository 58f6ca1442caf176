"""Modules: numbers, gradients and graphs of PyTorch, from one and the same state."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.module_twins import (
    ACTIVATIONS,
    BIG,
    BLOCKED,
    BY_DIMS,
    CAUSAL,
    GRAPHS,
    LABELS,
    LAYERS,
    LOSSES,
    MORE_LOSSES,
    SEQUENCE,
    SHARES,
    WINDOWS,
    Twin,
    X,
    label,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.torch
@pytest.mark.parametrize("made", ACTIVATIONS, ids=label)
def test_activations_are_those_of_pytorch(made: tuple[Any, ...]) -> None:
    twin = Twin(made[0], made[1:])
    twin.compare(X, names=True)
    assert repr(twin.modules[0]) == repr(twin.modules[1])


@pytest.mark.torch
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("made", LOSSES, ids=label)
def test_losses_are_those_of_pytorch(made: tuple[Any, ...], reduction: str) -> None:
    Twin(made[0], (), {"reduction": reduction}).compare(X, *made[1:], leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options", "targets"), MORE_LOSSES, ids=label)
def test_losses_take_the_options_of_pytorch(
    name: str, options: dict[str, Any], targets: Any
) -> None:
    Twin(name, (), options).compare(X, *targets, leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_send_gradients_to_both_inputs(reduction: str) -> None:
    options = {"reduction": reduction}
    Twin("BCELoss", (), options).compare(SHARES, np.flip(SHARES).copy())
    for name in ("MSELoss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"):
        Twin(name, (), options).compare(X, SHARES, names=True)


@pytest.mark.torch
def test_losses_weigh_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    weight = np.array([1.0, 2.0, 0.5, 1.5, 0.1, 3.0])
    for name, keys, target in (
        ("CrossEntropyLoss", ["weight"], LABELS),
        ("NLLLoss", ["weight"], LABELS),
        ("BCEWithLogitsLoss", ["weight", "pos_weight"], SHARES),
    ):
        twin = Twin(name)
        for t, module in zip((autograd_core, torch), twin.modules, strict=True):
            for key in keys:
                setattr(module, key, t.tensor(weight))
        twin.compare(X, target, leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "args", "options", "inputs"), LAYERS, ids=label)
def test_layers_train_and_evaluate_as_in_pytorch(
    name: str, args: Any, options: dict[str, Any], inputs: tuple[Any, ...]
) -> None:
    twin = Twin(name, args, options)
    twin.compare(*inputs)
    twin.compare(*inputs)  # again, with the statistics of the first time
    for module in twin.modules:
        module.eval()
    twin.compare(*inputs)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "args", "options", "inputs"),
    GRAPHS,
    ids=label,
)
def test_layers_have_the_graphs_of_pytorch(name: str, args: Any, options: Any, inputs: Any) -> None:
    Twin(name, args, options).compare(*inputs, names=True)


@pytest.mark.torch
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    "masks",
    [
        {"attn_mask": CAUSAL},
        {"attn_mask": np.where(CAUSAL, -np.inf, 0.0), "is_causal": True},
        {"key_padding_mask": BLOCKED},
        {"key_padding_mask": BLOCKED, "attn_mask": CAUSAL},
        {"attn_mask": np.stack([CAUSAL] * 4)},
        {"average_attn_weights": False},
    ],
    ids=lambda masks: " ".join(masks),
)
def test_attention_masks_as_pytorch_does(masks: dict[str, Any], need_weights: bool) -> None:
    twin = Twin("MultiheadAttention", (6, 2))
    twin.compare(SEQUENCE, SEQUENCE, SEQUENCE, need_weights=need_weights, **masks)


@pytest.mark.torch
def test_attention_without_weights_is_one_node() -> None:
    twin = Twin("MultiheadAttention", (6, 2))
    twin.compare(SEQUENCE, SEQUENCE, SEQUENCE, need_weights=False, names=True)


@pytest.mark.torch
def test_encoders_are_copies_of_one_layer() -> None:
    mine, theirs = (
        t.nn.TransformerEncoder(
            t.nn.TransformerEncoderLayer(6, 2, 7, 0.0), 2, t.nn.LayerNorm(6),
            enable_nested_tensor=False,
        ).double()
        for t in (autograd_core, pytest.importorskip("torch"))
    )  # fmt: skip
    torch = pytest.importorskip("torch")
    state = {k: autograd_core.tensor(v.numpy()) for k, v in theirs.state_dict().items()}
    assert repr(mine.load_state_dict(state)) == "<All keys matched successfully>"
    found = mine(autograd_core.tensor(SEQUENCE)).detach().numpy()
    expected = theirs(torch.tensor(SEQUENCE)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert mine.layers[0].linear1.weight is not mine.layers[1].linear1.weight


SMOOTH = [m for m in ACTIVATIONS if m[0] not in ("Flatten", "Unflatten")]


@pytest.mark.torch
@pytest.mark.parametrize("made", SMOOTH, ids=label)
def test_second_derivatives_of_activations_are_those_of_pytorch(made: tuple[Any, ...]) -> None:
    Twin(made[0], made[1:]).compare_second(X)


SECOND = ("BatchNorm1d", "BatchNorm2d", "GroupNorm", "LayerNorm", "RMSNorm",
          "LSTM", "GRU", "RNN", "GRUCell", "MultiheadAttention")  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "args", "options", "inputs"),
    [each for each in LAYERS if each[0] in SECOND],
    ids=label,
)
def test_second_derivatives_of_layers_are_those_of_pytorch(
    name: str, args: Any, options: Any, inputs: Any
) -> None:
    Twin(name, args, options).compare_second(*inputs)


@pytest.mark.torch
def test_a_sequence_may_have_one_step() -> None:
    Twin("LSTM", (6, 3)).compare(SEQUENCE[:1])


@pytest.mark.torch
@pytest.mark.parametrize(("name", "args", "options", "inputs"), WINDOWS, ids=label)
def test_modules_of_windows_borders_and_sizes(
    name: str, args: Any, options: dict[str, Any], inputs: Any
) -> None:
    twin = Twin(name, args, options)
    twin.compare(*inputs)
    assert repr(twin.modules[0]) == repr(twin.modules[1])


@pytest.mark.torch
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling_puts_maxima_back(dims: int) -> None:
    found = []
    for torch in (autograd_core, pytest.importorskip("torch")):
        pool = getattr(torch.nn, f"MaxPool{dims}d")(2, return_indices=True)
        back = getattr(torch.nn.functional, f"max_unpool{dims}d")
        x = torch.tensor(BY_DIMS[dims])
        found.append(back(*pool(x), 2, output_size=x.size()).numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.torch
def test_a_transposed_convolution_is_told_its_size() -> None:
    found = []
    for torch in (autograd_core, pytest.importorskip("torch")):
        layer = torch.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1)
        x = torch.tensor(BIG.astype(np.float32))
        found.append([tuple(layer(x, output_size=size).shape) for size in ((11, 9), (12, 10))])
        with pytest.raises(ValueError, match="valid sizes range from") as error:
            layer(x, output_size=(13, 9))
        found[-1].append(str(error.value).replace("torch.Size([6, 5])", "(6, 5)"))
    assert found[0][:2] == [(2, 2, 11, 9), (2, 2, 12, 10)]
    assert found[0] == found[1]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("Conv2d", (3, 4, 2), {"groups": 2}),
        ("Conv2d", (4, 3, 2), {"groups": 2}),
        ("Conv2d", (4, 4, 2), {"groups": 0}),
        ("Conv2d", (4, 4, 2), {"padding": "some"}),
        ("Conv2d", (4, 4, 2), {"padding": "same", "stride": 2}),
        ("ConvTranspose1d", (4, 4, 2), {"padding_mode": "reflect"}),
    ],
)
def test_modules_refuse_what_pytorch_refuses(name: str, args: Any, options: dict[str, Any]) -> None:
    said = []
    for torch in (autograd_core, pytest.importorskip("torch")):
        with pytest.raises(ValueError, match=r".") as error:
            getattr(torch.nn, name)(*args, **options)
        said.append(sorted(re.findall(r"\w+", str(error.value))))  # a set has no order
    assert said[0] == said[1]


def test_a_buffer_is_registered_when_it_is_assigned(torch: Any) -> None:
    nn = torch.nn
    module = nn.Module()
    module.scale = nn.Buffer(torch.ones(2))
    module.cache = nn.Buffer(torch.zeros(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["scale", "cache"]
    assert list(module.state_dict()) == ["scale"]
    assert isinstance(module.scale, nn.Buffer)
    assert not isinstance(torch.ones(2), nn.Buffer)
    assert not isinstance(module.scale, nn.Parameter)
    module.scale = torch.zeros(2)
    assert module.state_dict()["scale"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "reduction"),
    [({"size_average": False}, "sum"), ({"reduce": False}, "none"), ({"reduce": True}, "mean")],
)
def test_losses_take_what_was_there_before_reduction(
    torch: Any, options: dict[str, bool], reduction: str
) -> None:
    nn = torch.nn
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        loss = nn.CrossEntropyLoss(ignore_index=1, **options)
    assert (loss.reduction, loss.ignore_index) == (reduction, 1)


def test_sequences_of_modules_grow_and_shrink(torch: Any) -> None:
    nn = torch.nn
    made = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    made.insert(1, nn.Tanh())
    made.extend([nn.GELU()])
    assert isinstance(made.pop(0), nn.Linear)
    del made[-1]
    names = [type(each).__name__ for each in made + nn.Sequential(nn.Sigmoid())]
    assert names == ["Tanh", "ReLU", "Linear", "Sigmoid"]
    assert list(dict(made.named_children())) == ["0", "1", "2"]
    listed = nn.ModuleList([nn.ReLU()]) + nn.ModuleList([nn.Tanh()])
    listed += [nn.GELU()]
    listed.insert(0, nn.Identity())
    del listed[1:3]
    assert [type(each).__name__ for each in listed] == ["Identity", "GELU"]
