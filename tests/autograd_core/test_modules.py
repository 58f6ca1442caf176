"""Modules: numbers, gradients and graphs of PyTorch, from one and the same state."""

from __future__ import annotations

import copy
import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

import autograd_core

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
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

ACTIVATIONS: list[tuple[Any, ...]] = [
    ("ReLU",), ("ReLU6",), ("SELU",), ("SiLU",), ("Mish",), ("Hardsigmoid",), ("Hardswish",),
    ("Tanh",), ("Sigmoid",), ("LogSigmoid",), ("Softsign",), ("Tanhshrink",), ("ELU", 0.7),
    ("CELU", 0.7), ("GELU",), ("GELU", "tanh"), ("GLU",), ("Softplus", 2.0, 3.0),
    ("LeakyReLU", 0.2), ("Hardtanh", -0.5, 0.7), ("Threshold", 0.1, 20.0), ("Hardshrink", 0.4),
    ("Softshrink", 0.4), ("Softmax", 1), ("Softmin", 1), ("LogSoftmax", 0), ("PReLU",),
    ("PReLU", 6), ("Identity",), ("Flatten",), ("Unflatten", 1, (2, 3)),
]  # fmt: skip

LOSSES: list[tuple[Any, ...]] = [
    ("MSELoss", Y), ("L1Loss", Y), ("SmoothL1Loss", Y), ("HuberLoss", Y),
    ("SoftMarginLoss", np.sign(Y)), ("BCEWithLogitsLoss", SHARES), ("KLDivLoss", SHARES),
    ("PoissonNLLLoss", SHARES * 5), ("MultiLabelSoftMarginLoss", SHARES.round()),
    ("CrossEntropyLoss", LABELS), ("CrossEntropyLoss", SHARES), ("NLLLoss", LABELS),
    ("MultiMarginLoss", LABELS), ("HingeEmbeddingLoss", np.sign(Y)),
    ("MultiLabelMarginLoss", np.array([[3, 0, -1, 1, 2, 2], [5, -1, 0, 0, 0, 0]] * 2)),
    ("GaussianNLLLoss", Y, SHARES), ("CosineEmbeddingLoss", Y, SIGNS),
    ("TripletMarginLoss", Y, SHARES),
]  # fmt: skip
MORE_LOSSES: list[tuple[Any, dict[str, Any], tuple[Any, ...]]] = [
    ("CrossEntropyLoss", {"label_smoothing": 0.1, "ignore_index": 2}, (LABELS,)),
    ("CrossEntropyLoss", {"label_smoothing": 0.1}, (SHARES,)),
    ("KLDivLoss", {"log_target": True, "reduction": "batchmean"}, (Y,)),
    ("PoissonNLLLoss", {"full": True}, (SHARES * 5,)),
    ("GaussianNLLLoss", {"full": True}, (Y, SHARES)),
    ("MultiMarginLoss", {"p": 2, "margin": 0.5}, (LABELS,)),
    ("TripletMarginLoss", {"swap": True, "p": 3.0}, (Y, SHARES)),
    ("CosineEmbeddingLoss", {"margin": -0.5}, (Y, SIGNS)),
    ("SmoothL1Loss", {"beta": 0.3}, (Y,)),
    ("HuberLoss", {"delta": 0.3}, (Y,)),
]
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = [
    ("BatchNorm1d", (6,), {}, (X,)),
    ("BatchNorm1d", (2,), {"momentum": None}, (SEQUENCE,)),
    ("BatchNorm2d", (4,), {"affine": False}, (IMAGES,)),
    ("BatchNorm3d", (4,), {"track_running_stats": False}, (numbers(2, 4, 1, 2, 3),)),
    ("InstanceNorm1d", (2,), {"affine": True}, (SEQUENCE,)),
    ("InstanceNorm2d", (4,), {"track_running_stats": True}, (IMAGES,)),
    ("InstanceNorm3d", (4,), {}, (numbers(4, 1, 2, 3),)),
    ("GroupNorm", (2, 4), {}, (IMAGES,)),
    ("GroupNorm", (3, 6), {"affine": False}, (X,)),
    ("LayerNorm", (6,), {}, (X,)),
    ("RMSNorm", (6,), {}, (X,)),
    ("RMSNorm", ((2, 6),), {"eps": 0.1, "elementwise_affine": False}, (SEQUENCE,)),
    ("Bilinear", (6, 6, 3), {}, (X, Y)),
    ("CosineSimilarity", (), {}, (X, Y)),
    ("PairwiseDistance", (), {}, (X, Y)),
    ("PairwiseDistance", (1.0,), {"keepdim": True}, (X, Y)),
    ("PixelShuffle", (2,), {}, (IMAGES,)),
    ("PixelUnshuffle", (3,), {}, (IMAGES,)),
    ("ChannelShuffle", (2,), {}, (IMAGES,)),
    ("Embedding", (7, 3), {"padding_idx": 2}, (LABELS,)),
    ("EmbeddingBag", (7, 3), {}, (np.array([[0, 1], [6, 6]]),)),
    ("EmbeddingBag", (7, 3), {"mode": "sum"}, (LABELS, np.array([0, 3]))),
    ("EmbeddingBag", (7, 3), {"mode": "max"}, (LABELS, np.array([0, 1]))),
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
    ("TransformerDecoderLayer", (6, 2, 7, 0.0), {}, (SEQUENCE, numbers(4, 2, 6))),
    ("Transformer", (6, 2, 2, 2, 7, 0.0), {}, (SEQUENCE, numbers(4, 2, 6))),
]  # fmt: skip


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


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.torch
@pytest.mark.parametrize("made", ACTIVATIONS, ids=label)
def test_activations(made: tuple[Any, ...]) -> None:
    twin = Twin(made[0], made[1:])
    # PyTorch's derivatives of these two go by way of constants in single precision
    twin.compare(X, names=True, rtol=1e-7 if made[0] in ("CELU", "Hardsigmoid") else 1e-10)
    assert repr(twin.modules[0]) == repr(twin.modules[1])


@pytest.mark.torch
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("made", LOSSES, ids=label)
def test_losses(made: tuple[Any, ...], reduction: str) -> None:
    Twin(made[0], (), {"reduction": reduction}).compare(X, *made[1:], leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options", "targets"), MORE_LOSSES, ids=label)
def test_losses_with_options(name: str, options: dict[str, Any], targets: Any) -> None:
    Twin(name, (), options).compare(X, *targets, leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_of_two_inputs(reduction: str) -> None:
    options = {"reduction": reduction}
    Twin("BCELoss", (), options).compare(SHARES, np.flip(SHARES).copy())
    Twin("MarginRankingLoss", (), {"margin": 0.1, **options}).compare(X[:, 0], Y[:, 0], SIGNS)
    for name in ("MSELoss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"):
        Twin(name, (), options).compare(X, SHARES, names=True)


@pytest.mark.torch
def test_losses_with_weights() -> None:
    torch = pytest.importorskip("torch")
    weight = np.array([1.0, 2.0, 0.5, 1.5, 0.1, 3.0])
    for name, keys, target in (
        ("CrossEntropyLoss", ["weight"], LABELS),
        ("NLLLoss", ["weight"], LABELS),
        ("MultiMarginLoss", ["weight"], LABELS),
        ("BCEWithLogitsLoss", ["weight", "pos_weight"], SHARES),
        ("MultiLabelSoftMarginLoss", ["weight"], SHARES.round()),
    ):
        twin = Twin(name)
        for t, module in zip((autograd_core, torch), twin.modules, strict=True):
            for key in keys:
                setattr(module, key, t.tensor(weight))
        twin.compare(X, target, leaves=1)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "args", "options", "inputs"), LAYERS, ids=label)
def test_layers_in_training_and_evaluation(
    name: str, args: Any, options: dict[str, Any], inputs: tuple[Any, ...]
) -> None:
    twin = Twin(name, args, options)
    twin.compare(*inputs)
    twin.compare(*inputs)  # again, with the statistics of the first time
    for module in twin.modules:
        module.eval()
    twin.compare(*inputs)


NAMED = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "InstanceNorm1d",
         "RNN", "RNNCell", "LSTM", "LSTMCell", "GRU", "GRUCell", "MultiheadAttention",
         "TransformerEncoderLayer", "TransformerDecoderLayer")  # fmt: skip
# where PyTorch's own code changes results in place, its nodes have names of their own
UNLIKE = [("MultiheadAttention", "add_bias_kv"), ("RNN", "batch_first"), ("GRU", "batch_first")]
GRAPHS = [
    each
    for each in LAYERS
    if each[0] in NAMED and not any((each[0], option) in UNLIKE for option in each[2])
]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "args", "options", "inputs"),
    GRAPHS,
    ids=label,
)
def test_graphs_of_layers(name: str, args: Any, options: Any, inputs: Any) -> None:
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
def test_attention_with_masks(masks: dict[str, Any], need_weights: bool) -> None:
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


# --- what needs no counterpart -------------------------------------------------------------------


@pytest.fixture(params=LIBRARIES)
def torch(request: pytest.FixtureRequest) -> Any:
    """Each fact is stated once, and holds in both libraries."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return importlib.import_module(request.param)


@pytest.mark.parametrize("name", ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"])
def test_dropout_drops_elements_or_channels(torch: Any, name: str) -> None:
    torch.manual_seed(0)
    x = torch.ones(64, 8, 2, 2, *(2,) * (name == "Dropout3d"))
    x = x.reshape(64, 8, -1) if name == "Dropout1d" else x
    module = getattr(torch.nn, name)(0.25)
    y = np.asarray(module(x).numpy())
    assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    whole = (y.reshape(64 * 8, -1) == y.reshape(64 * 8, -1)[:, :1]).all()
    assert whole == (name != "Dropout")
    assert abs(y.mean() - 1) < 0.12
    assert module.eval()(x) is x or (module(x) == x).all()


def test_alpha_dropout_keeps_mean_and_variance(torch: Any) -> None:
    torch.manual_seed(0)
    y = np.asarray(torch.nn.AlphaDropout(0.3)(torch.randn(20000)).numpy())
    assert abs(y.mean()) < 0.05
    assert abs(y.std() - 1) < 0.05


def test_dictionaries_of_modules(torch: Any) -> None:
    modules = torch.nn.ModuleDict({"a": torch.nn.Linear(1, 1)})
    modules["b"] = torch.nn.ReLU()
    assert list(modules) == ["a", "b"]
    assert [name for name, _ in modules.named_parameters()] == ["a.weight", "a.bias"]
    assert "a" in modules
    assert isinstance(modules.pop("b"), torch.nn.ReLU)
    assert len(modules) == 1
    assert len(copy.deepcopy(modules)) == 1


def test_what_does_not_fit_is_said(torch: Any) -> None:
    nn = torch.nn
    with pytest.raises(ValueError, match="expected 4D input"):
        nn.BatchNorm2d(3)(torch.ones(2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(3)(torch.ones(1, 3))
    with pytest.raises(ValueError, match="must be divisible by num_groups"):
        nn.GroupNorm(2, 3)
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        nn.Dropout2d(1.5)
    with pytest.raises(AssertionError, match="divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size"):
        nn.LSTM(3, 2)(torch.ones(2, 2, 4))


# --- init and utils ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "mean", "std"),
    [
        ("xavier_uniform_", {}, 0, np.sqrt(2 / 300)),
        ("xavier_normal_", {"gain": 2.0}, 0, 2 * np.sqrt(2 / 300)),
        ("kaiming_uniform_", {"nonlinearity": "relu"}, 0, np.sqrt(2 / 100)),
        ("kaiming_normal_", {"mode": "fan_out", "a": 0.1}, 0, np.sqrt(2 / 1.01 / 200)),
        ("normal_", {"mean": 1.0, "std": 2.0}, 1, 2),
        ("uniform_", {"a": -1.0, "b": 3.0}, 1, 4 / np.sqrt(12)),
        ("trunc_normal_", {"std": 0.5, "a": -0.5, "b": 0.5}, 0, 0.5 * 0.5396),
        ("constant_", {"val": 3.0}, 3, 0),
    ],
)
def test_parameters_start_out_as_their_authors_say(
    torch: Any, name: str, options: dict[str, Any], mean: float, std: float
) -> None:
    torch.manual_seed(0)
    weight = torch.zeros(200, 100)
    assert getattr(torch.nn.init, name)(weight, **options) is weight
    values = np.asarray(weight.numpy(), float)
    assert abs(values.mean() - mean) < 0.05 * max(std, 1)
    assert values.std() == pytest.approx(std, rel=0.05)


def test_special_matrices(torch: Any) -> None:
    init = torch.nn.init
    assert init.eye_(torch.ones(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    for shape in ((4, 6), (6, 2, 2)):
        q = np.asarray(
            init.orthogonal_(torch.zeros(*shape), gain=2.0).reshape(shape[0], -1).numpy()
        )
        small = q @ q.T if q.shape[0] < q.shape[1] else q.T @ q
        np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)
    kernel = init.dirac_(torch.ones(4, 2, 3), groups=2)
    assert kernel.sum().item() == 4
    assert kernel[3, 1, 1].item() == 1
    assert init.calculate_gain("relu") == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_gradients_are_clipped_together(torch: Any, norm_type: float) -> None:
    utils = torch.nn.utils
    parameters = [torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)]
    parameters[0].grad = torch.tensor([3.0, 0.0])
    parameters[1].grad = torch.tensor([-4.0])
    total = {2.0: 5.0, 1.0: 7.0}.get(norm_type, 4.0)
    assert utils.clip_grad_norm_(parameters, 1.0, norm_type).item() == pytest.approx(total)
    assert parameters[0].grad.tolist() == pytest.approx([3 / total, 0], rel=1e-5)
    utils.clip_grad_value_(parameters, 0.1)
    assert parameters[1].grad.tolist() == pytest.approx([-0.1])
    parameters[0].grad = torch.tensor([float("nan"), 0.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)


def test_parameters_as_one_vector(torch: Any) -> None:
    utils = torch.nn.utils
    model = torch.nn.Linear(2, 1)
    vector = utils.parameters_to_vector(model.parameters())
    assert vector.shape == (3,)
    vector.sum().backward()
    assert model.weight.grad.tolist() == [[1.0, 1.0]]
    utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), model.parameters())
    assert (model.weight.tolist(), model.bias.tolist()) == ([[1.0, 2.0]], [3.0])
