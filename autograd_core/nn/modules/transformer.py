"""Transformers (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_core.dtype import dtype, get_default_dtype
from autograd_core.nn import functional as F
from autograd_core.nn import init
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


class _Layer(Module):
    """The base of both layers: self-attention and the feed-forward network."""

    attentions: tuple[str, ...] = ("self_attn",)

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
        for name in self.attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias=bias, batch_first=batch_first, **factory
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for number in parts:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **factory)
            self.add_module(f"norm{number}", norm)
        for number in parts:
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def _added(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Any:
        """Return ``x`` and what ``block`` makes of it, normalized before or after."""
        whole: Any = x
        return whole + block(norm(x)) if self.norm_first else norm(whole + block(x))

    def _attended(self, name: str, x: Tensor, memory: Tensor, *masks: Any) -> Any:
        attention, (padding, mask, causal) = getattr(self, name), masks
        options = {"key_padding_mask": padding, "attn_mask": mask, "is_causal": causal}
        return attention(x, memory, memory, need_weights=False, **options)[0]

    def _network(self, x: Tensor, dropout: Module) -> Any:
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with skip connection and normalization."""

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        masks = src_key_padding_mask, src_mask, is_causal

        def attend(x: Tensor) -> Any:
            return self.dropout1(self._attended("self_attn", x, x, *masks))

        x = self._added(src, self.norm1, attend)
        return self._added(x, self.norm2, lambda x: self._network(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """An encoder layer with attention to the output of the encoder in between."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = tgt_key_padding_mask, tgt_mask, tgt_is_causal
        others = memory_key_padding_mask, memory_mask, memory_is_causal

        def attend(x: Tensor) -> Any:
            return self.dropout1(self._attended("self_attn", x, x, *own))

        def consult(x: Tensor) -> Any:
            return self.dropout2(self._attended("multihead_attn", x, memory, *others))

        x = self._added(tgt, self.norm1, attend)
        x = self._added(x, self.norm2, consult)
        return self._added(x, self.norm3, lambda x: self._network(x, self.dropout3))


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList(copy.deepcopy(layer) for _ in range(count))


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
        self.layers = _copies(encoder_layer, num_layers)
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


class TransformerDecoder(Module):
    """``num_layers`` copies of a decoder layer in sequence, and an optional final normalization."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt: Tensor, memory: Tensor, *masks: Any, **more: Any) -> Tensor:
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, **more)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """A transformer: an encoder of the source, and a decoder that attends to its output."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
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
        options: Any = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                        batch_first, norm_first, bias, dtype)  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, **factory)

        encoder, decoder = TransformerEncoderLayer(*options), TransformerDecoderLayer(*options)
        self.encoder = TransformerEncoder(encoder, num_encoder_layers, norm())
        self.decoder = TransformerDecoder(decoder, num_decoder_layers, norm())
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Any = None, dtype: dtype | None = None
    ) -> Tensor:
        """Return a causal mask: -inf above the diagonal, otherwise 0."""
        kind = (dtype or get_default_dtype()).dtype
        return Tensor.from_array(np.triu(np.full((sz, sz), -np.inf), 1).astype(kind))
