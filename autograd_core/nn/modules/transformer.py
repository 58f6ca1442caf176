"""Transformers (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from autograd_core.dtype import dtype
from autograd_core.nn import functional as F
from autograd_core.nn.modules.attention import MultiheadAttention
from autograd_core.nn.modules.container import ModuleList
from autograd_core.nn.modules.dropout import Dropout
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.module import Module
from autograd_core.nn.modules.normalization import LayerNorm
from autograd_core.tensor import Tensor

Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network, each with skip connection and normalization."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias=bias, batch_first=batch_first, **factory
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **factory)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **factory)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Any:
            options = {"key_padding_mask": src_key_padding_mask, "attn_mask": src_mask}
            attended = self.self_attn(x, x, x, need_weights=False, is_causal=is_causal, **options)
            return self.dropout1(attended[0])

        def network(x: Tensor) -> Any:
            return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        return self._added(self._added(src, self.norm1, attend), self.norm2, network)

    def _added(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Any:
        """Return ``x`` and what ``block`` makes of it, normalized before or after."""
        whole: Any = x
        return whole + block(norm(x)) if self.norm_first else norm(whole + block(x))


class TransformerEncoder(Module):
    """``num_layers`` copies of a layer in sequence, and an optional final normalization."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)
