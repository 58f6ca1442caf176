"""Embeddings."""

from __future__ import annotations

from typing import Any

from autograd_core.dtype import dtype
from autograd_core.functions import zeros
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class Embedding(Module):
    """A learned vector for each of ``num_embeddings`` integers; weight (n, embedding_dim).

    The one at ``padding_idx`` starts as zeros and is not trained; none is longer than
    ``max_norm``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.weight = Parameter(zeros(num_embeddings, embedding_dim, **factory))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start anew, with normal random numbers."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.array[self.padding_idx] = 0

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """An embedding with the weight given, which is not trained if ``freeze``."""
        count, size = embeddings._shape
        made = cls(count, size, padding_idx=padding_idx)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text if self.max_norm is None else f"{text}, max_norm={self.max_norm}"


class EmbeddingBag(Module):
    """The sum, mean or maximum of the learned vectors of a bag of integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        mode: str = "mean",
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.mode = mode
        self.weight = Parameter(zeros(num_embeddings, embedding_dim, **factory))
        init.normal_(self.weight)

    def forward(self, input: Tensor, offsets: Any = None, per_sample_weights: Any = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.mode, per_sample_weights)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"
