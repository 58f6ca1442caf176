"""Multi-head attention."""

from __future__ import annotations

from dataclasses import InitVar
from typing import Any

from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.layer import Layer
from autograd_core.nn.modules.linear import NonDynamicallyQuantizableLinear
from autograd_core.ops.shaping import shape
from autograd_core.tensor import Tensor


class MultiheadAttention(Layer):
    """Multi-head attention (Vaswani et al. 2017) of queries to keys and values of shape (length,
    batch, embed_dim).

    ``in_proj_weight`` is (3 * embed_dim, embed_dim), or three weights if keys or values have a
    different size.
    """

    embed_dim: int
    num_heads: int
    dropout: float = 0.0
    bias: InitVar[bool] = True
    add_bias_kv: InitVar[bool] = False
    add_zero_attn: bool = False
    kdim: InitVar[int | None] = None
    vdim: InitVar[int | None] = None
    batch_first: bool = False
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def __post_init__(
        self, bias: bool, add_bias_kv: bool, kdim: int | None, vdim: int | None, *factory: Any
    ) -> None:
        embed_dim, num_heads = self.embed_dim, self.num_heads
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.head_dim = embed_dim // num_heads
        sizes = {"q": embed_dim, "k": kdim or embed_dim, "v": vdim or embed_dim}
        self._separate = set(sizes.values()) != {embed_dim}
        for name, size in sizes.items():
            self.learn(f"{name}_proj_weight", (embed_dim, size), *factory, used=self._separate)
        together = (3 * embed_dim, embed_dim)
        self.learn("in_proj_weight", together, *factory, used=not self._separate)
        self.learn("in_proj_bias", together[:1], *factory, used=bias)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, *factory)
        for name in ("bias_k", "bias_v"):
            self.learn(name, (1, 1, embed_dim), *factory, used=add_bias_kv)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Initialize the weights with Xavier initialization, and the biases with zeros."""
        for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_weight"):
            weight = self._parameters[name]
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the result and, on request, the attention weights.

        Masks are True or -inf for keys that must not be attended to.
        """
        alone = query.ndim == 2
        if alone or self.batch_first:
            # what was one tensor stays one: the projection is shared then
            options = {
                id(t): shape.unsqueeze(t, 1) if alone else shape.transpose(t, 0, 1)
                for t in (query, key, value)
            }
            query, key, value = (options[id(t)] for t in (query, key, value))
        if alone and key_padding_mask is not None:
            key_padding_mask = shape.unsqueeze(key_padding_mask, 0)
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            self._separate,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights,
            is_causal,
        )
        if alone:
            squeezed = None if weights is None else shape.squeeze_dim(weights, 0)
            return shape.squeeze_dim(result, 1), squeezed
        return shape.transpose(result, 0, 1) if self.batch_first else result, weights
