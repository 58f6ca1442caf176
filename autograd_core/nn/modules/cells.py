"""Single steps of recurrent networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, ClassVar, NamedTuple

from autograd_core import functions
from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.layer import Layer
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.shaping import shape
from autograd_core.ops.shaping.joining import unsafe_chunk
from autograd_core.tensor import Tensor


def each(state: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Return ``function`` of a state: one tensor, several, or none."""
    if isinstance(state, tuple):
        return tuple(function(t) for t in state)
    return None if state is None else function(state)


class Weights(NamedTuple):
    """The parameters of one cell, gates one below the other; ``projection`` makes h smaller."""

    input: Any
    hidden: Any
    input_bias: Any = None
    hidden_bias: Any = None
    projection: Any = None


def simple(given: Tensor, hidden: Tensor, weights: Weights, nonlinearity: str) -> Tensor:
    """Return the next h of a plain network; ``given`` is what the input contributes."""
    total = elementwise.add(F.linear(hidden, weights.hidden, weights.hidden_bias), given)
    return elementwise.tanh(total) if nonlinearity == "tanh" else elementwise.relu(total)


def lstm(given: Tensor, state: tuple[Tensor, Tensor], weights: Weights) -> tuple[Tensor, Tensor]:
    """Return the next (h, c)."""
    hidden, memory = state
    total = elementwise.add(F.linear(hidden, weights.hidden, weights.hidden_bias), given)
    into, forget, new, out = unsafe_chunk(total, 4, 1)
    memory = elementwise.add(
        elementwise.mul(elementwise.sigmoid(forget), memory),
        elementwise.mul(elementwise.sigmoid(into), elementwise.tanh(new)),
    )
    hidden = elementwise.mul(elementwise.sigmoid(out), elementwise.tanh(memory))
    if weights.projection is not None:
        hidden = F.linear(hidden, weights.projection)
    return hidden, memory


def gru(given: Tensor, hidden: Tensor, weights: Weights) -> Tensor:
    """Return the next h."""
    ours = unsafe_chunk(F.linear(hidden, weights.hidden, weights.hidden_bias), 3, 1)
    theirs = unsafe_chunk(given, 3, 1)
    reset = elementwise.sigmoid(elementwise.add(ours[0], theirs[0]))
    keep = elementwise.sigmoid(elementwise.add(ours[1], theirs[1]))
    new = elementwise.tanh(elementwise.add(theirs[2], elementwise.mul(ours[2], reset)))
    return elementwise.add(elementwise.mul(elementwise.sub(hidden, new), keep), new)


class RNNCellBase(Layer):
    """Parameters ``weight_ih`` (gates * hidden, in), ``weight_hh``, ``bias_ih``, ``bias_hh``."""

    gates: ClassVar[int] = 1

    input_size: int
    hidden_size: int
    bias: bool = True

    def __post_init__(self, *factory: Any) -> None:
        rows = self.gates * self.hidden_size
        self.learn("weight_ih", (rows, self.input_size), *factory)
        self.learn("weight_hh", (rows, self.hidden_size), *factory)
        for name in ("bias_ih", "bias_hh"):
            self.learn(name, (rows,), *factory, used=self.bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters with uniform random numbers up to ``1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        if input._shape[-1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input._shape[-1]} expected "
                f"{self.input_size}"
            )
        alone = input.ndim == 1
        if alone:
            input = shape.unsqueeze(input, 0)
        if hx is None:
            hx = self._zeros(input)
        elif alone:
            hx = each(hx, lambda t: shape.unsqueeze(t, 0))
        for number, hidden in enumerate(hx if isinstance(hx, tuple) else (hx,)):
            if hidden._shape[-1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number} has inconsistent hidden_size: got {hidden._shape[-1]}, "
                    f"expected {self.hidden_size}"
                )
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        given = F.linear(input, self.weight_ih, self.bias_ih)
        state = self.step(given, hx, weights)
        return each(state, lambda t: shape.squeeze_dim(t, 0)) if alone else state

    def _zeros(self, input: Tensor) -> Any:
        return functions.zeros(input._shape[0], self.hidden_size, dtype=input.dtype)

    def step(self, given: Tensor, state: Any, weights: Weights) -> Any:
        """Return the next state, from what the input contributes and the last one."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """One step of a plain RNN: ``tanh(W_ih x + b_ih + W_hh h + b_hh)``."""

    nonlinearity: str = "tanh"
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def step(self, given: Tensor, state: Any, weights: Weights) -> Any:
        return simple(given, state, weights, self.nonlinearity)


class LSTMCell(RNNCellBase):
    """One step of an LSTM, whose state is the pair (h, c)."""

    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    gates = 4

    def _zeros(self, input: Tensor) -> Any:
        zeros = super()._zeros(input)
        return zeros, zeros

    def step(self, given: Tensor, state: Any, weights: Weights) -> Any:
        return lstm(given, state, weights)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    gates = 3

    def step(self, given: Tensor, state: Any, weights: Weights) -> Any:
        return gru(given, state, weights)
