"""Recurrent networks over sequences: RNN, LSTM and GRU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, InitVar
from typing import Any, ClassVar

from autograd_core import functions
from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules import cells
from autograd_core.nn.modules.cells import each
from autograd_core.nn.modules.layer import Layer
from autograd_core.ops.shaping import joining, shape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor


class RNNBase(Layer):
    """Stacked layers of cells, in one direction or both.

    The parameters of layer k are ``weight_ih_lk`` (gates * hidden, in), ``weight_hh_lk``
    (gates * hidden, hidden), ``bias_ih_lk`` and ``bias_hh_lk``; the second direction appends
    ``_reverse``.
    """

    gates: ClassVar[int] = 1
    has_cell_state: ClassVar[bool] = False

    def __post_init__(self, *factory: Any) -> None:
        self._check_options()
        if self.dropout > 0 and self.num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={self.dropout} and "
                f"num_layers={self.num_layers}"
            )
        self.dropout: float = float(self.dropout)
        out, rows = self.proj_size or self.hidden_size, self.gates * self.hidden_size
        given = self.input_size
        for layer in range(self.num_layers):
            suffixes = self._suffixes(layer)
            for suffix in suffixes:
                sizes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, given),
                    "weight_hh": (rows, out),
                }
                sizes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if self.bias else {}
                sizes |= {"weight_hr": (out, self.hidden_size)} if self.proj_size else {}
                for name, size in sizes.items():
                    self.learn(f"{name}_{suffix}", size, *factory)
            given = out * len(suffixes)
        self.reset_parameters()

    def _check_options(self) -> None:
        """Refuse what makes no network, in PyTorch's order and words."""
        dropout = self.dropout
        number = isinstance(dropout, int | float) and not isinstance(dropout, bool)
        if not number or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        for name in ("input_size", "hidden_size"):
            size = getattr(self, name)
            if not isinstance(size, int):
                raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _suffixes(self, layer: int) -> list[str]:
        return [f"l{layer}", f"l{layer}_reverse"] if self.bidirectional else [f"l{layer}"]

    def reset_parameters(self) -> None:
        """Initialize the parameters with uniform random numbers up to ``1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing; it is for GPUs."""

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        named = dict(self.named_parameters())
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        return [[p for n, p in named.items() if n.endswith(f"_{s}")] for s in suffixes]

    def cell(self, given: Tensor, hidden: Any, weights: cells.Weights) -> Any:
        """Return the next state, from what the input contributes and the last one."""
        raise NotImplementedError

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        batched = input.ndim == 3
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        if input._shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input._shape[-1]}"
            )
        if not batched:
            input = shape.unsqueeze(input, 1)
            hx = each(hx, lambda t: shape.unsqueeze(t, 1))
        elif self.batch_first:
            input = shape.transpose(input, 0, 1)
        output, state = self._all_layers(input, self._states(input, input._shape[1], hx))
        if not batched:
            return shape.squeeze_dim(output, 1), each(state, lambda t: shape.squeeze_dim(t, 1))
        return shape.transpose(output, 0, 1) if self.batch_first else output, state

    def _states(self, input: Tensor, batch: int, hx: Any) -> Iterator[Any]:
        """Return the first state of each layer and direction."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        out = self.proj_size or self.hidden_size
        if hx is None:
            sizes = [out, self.hidden_size] if self.has_cell_state else [out]
            zeros = [functions.zeros(count, batch, size, dtype=input.dtype) for size in sizes]
            hx = tuple(zeros) if self.has_cell_state else zeros[0]
        first = hx[0] if self.has_cell_state else hx
        if first._shape != (count, batch, out):
            raise RuntimeError(
                f"Expected hidden{'[0]' if self.has_cell_state else ''} size "
                f"{(count, batch, out)}, got {list(first.shape)}"
            )
        if self.has_cell_state:
            return zip(*(joining.unbind(t, 0) for t in hx), strict=True)
        return iter(joining.unbind(hx, 0))

    def _all_layers(self, input: Tensor, states: Iterator[Any]) -> tuple[Tensor, Any]:
        last: list[Any] = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes(layer):
                output, state = self._direction(input, next(states), suffix)
                outputs.append(output)
                last.append(state)
            input = outputs[0] if len(outputs) == 1 else joining.cat(outputs, dim=input.ndim - 1)
            if layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        if self.has_cell_state:
            return input, tuple(joining.stack(list(states)) for states in zip(*last, strict=True))
        return input, joining.stack(last)

    def _direction(self, input: Tensor, state: Any, suffix: str) -> tuple[Tensor, Any]:
        """Return the outputs of one layer in one direction, and its last state."""
        weights = cells.Weights(
            *(
                self._parameters.get(f"{name}_{suffix}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
            )
        )
        steps = joining.unbind(F.linear(input, weights.input, weights.input_bias), 0)
        order = -1 if suffix.endswith("reverse") else 1
        outputs = []
        for given in steps[::order]:
            state = self.cell(given, state, weights)
            outputs.append(state[0] if self.has_cell_state else state)
        return joining.stack(outputs[::order]), state

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                    "dropout": 0.0, "bidirectional": False}  # fmt: skip
        for name, default in defaults.items():
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """A plain recurrent network, ``h = tanh(W_ih x + b_ih + W_hh h + b_hh)``, over sequences
    (length, batch, input_size).

    It returns the h of every step, (length, batch, hidden_size), and the last h of each layer.
    """

    input_size: int
    hidden_size: int
    num_layers: int = 1
    nonlinearity: str = "tanh"
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    _: KW_ONLY
    proj_size: int = 0

    def __post_init__(self, *factory: Any) -> None:
        _check_no_projection(self.proj_size)
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__post_init__(*factory)

    def cell(self, given: Tensor, hidden: Any, weights: cells.Weights) -> Any:
        return cells.simple(given, hidden, weights, self.nonlinearity)


class _Gated(RNNBase):
    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None


class LSTM(_Gated):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), whose state is the pair (h, c)."""

    gates = 4
    has_cell_state = True

    def cell(self, given: Tensor, hidden: Any, weights: cells.Weights) -> Any:
        return cells.lstm(given, hidden, weights)


class GRU(_Gated):
    """Gated recurrent units (Cho et al. 2014)."""

    _: KW_ONLY
    proj_size: int = 0
    gates = 3

    def __post_init__(self, *factory: Any) -> None:
        _check_no_projection(self.proj_size)
        super().__post_init__(*factory)

    def cell(self, given: Tensor, hidden: Any, weights: cells.Weights) -> Any:
        return cells.gru(given, hidden, weights)


def _check_no_projection(proj_size: int) -> None:
    if proj_size:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
