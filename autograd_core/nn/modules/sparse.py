"""Embeddings."""

from __future__ import annotations

from autograd_core.dtype import dtype
from autograd_core.functions import zeros
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class Embedding(Module):
    """A learned vector for each of ``num_embeddings`` integers; weight (n, embedding_dim)."""

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: dtype | None = None) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(zeros(num_embeddings, embedding_dim, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start anew, with normal random numbers."""
        init.normal_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"
